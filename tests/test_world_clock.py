"""Virtual time, ids and chance are functions of (seed, call) and never of the machine."""

import datetime as real
import time as real_time

import pytest

from envscaler.world.clock import START, Position, stand_in


def modules_of(position):
    return {name: stand_in(name, position) for name in ("datetime", "time", "uuid", "random", "secrets")}


def drawn(seed, call):
    position = Position()
    modules = modules_of(position)
    position.move(seed, call, 0.0)
    return [
        modules["random"].random(), modules["random"].sample(range(100), 5), modules["random"].Random().random(),
        str(modules["uuid"].uuid4()), str(modules["uuid"].uuid1()), modules["secrets"].token_hex(4),
        modules["secrets"].token_urlsafe(4), modules["secrets"].choice("abc"),
        modules["datetime"].datetime.now().isoformat(), modules["time"].time(),
        modules["random"].SystemRandom().random(), modules["secrets"].randbelow(1000),
    ]  # fmt: skip


def test_a_function_of_seed_and_call():
    assert drawn(1, 2) == drawn(1, 2)
    assert all(a != b for a, b in zip(drawn(1, 2)[:7], drawn(2, 2)[:7], strict=True))
    assert drawn(1, 2) != drawn(1, 3)


@pytest.fixture
def modules():
    return modules_of(Position())


def test_datetime_is_a_datetime(modules):
    module = modules["datetime"]
    now = module.datetime.now()
    assert isinstance(now, module.datetime) and isinstance(now, real.datetime) and now.tzinfo is None
    assert isinstance(now + real.timedelta(days=1), module.datetime) and isinstance(now.date(), module.date)
    assert isinstance(real.datetime(2020, 1, 1), module.datetime) and not isinstance(
        real.date.today(), module.datetime
    )
    assert (
        module.datetime.strptime("2020-01-02", "%Y-%m-%d").day == 2
        and module.datetime.fromisoformat("2020-01-02").day == 2
    )
    assert module.datetime.now(real.UTC).tzinfo is real.UTC and now.year == 2025
    assert module.datetime.now(module.timezone(real.timedelta(hours=2))).hour == (now.hour + 2) % 24
    assert module.date.today() == module.datetime.today().date() and module.datetime.utcnow().hour == now.hour
    assert issubclass(module.datetime, real.date)


def test_time_moves_by_calls_readings_and_sleep():
    position = Position()
    time = modules_of(position)["time"]
    position.move(0, 0, 0.0)
    first, second = time.time(), time.time()
    assert START < first < second < first + 0.01
    begun = real_time.perf_counter()
    time.sleep(1000)
    assert real_time.perf_counter() - begun < 1 and time.time() > second + 999
    with pytest.raises(ValueError, match="non-negative"):
        time.sleep(-1)
    assert (
        time.strftime("%Y") == "2025" and time.localtime().tm_year == 2025 and time.gmtime(0).tm_year == 1970
    )
    assert isinstance(time.time_ns(), int) and "2025" in time.ctime() and "2025" in time.asctime()


def test_the_machine_is_not_handed_out(modules):
    for module in modules.values():
        assert not {"os", "sys", "_os", "_sys"} & set(vars(module))


def test_seeding_in_generated_code_stays_there(modules):
    import random

    state = random.getstate()
    modules["random"].seed(5)
    first = modules["random"].random()
    modules["random"].seed(5)
    assert modules["random"].random() == first and random.getstate() == state
