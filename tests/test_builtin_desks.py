"""What the patterns board and claims keep to, beyond what every world is held to."""

import numpy as np
import pytest
from builtin import skeleton_of

from envscaler.model.builtin.build import world_of
from envscaler.world.environment import Environment


@pytest.mark.parametrize("name", ["event_planning", "project_tracking"])
def test_everybody_has_tasks_of_the_own_area_and_every_area_has_somebody(name: str) -> None:
    world = world_of(name)
    v = world.parts[1].v
    for seed in range(60):
        state = world.state(np.random.default_rng(seed))
        area = {key: row[v.k.name] for key, row in state[v.p.ids].items()}
        assert set(area.values()) == set(v.areas)
        for row in state[v.t.ids].values():
            assert row["assignee_id"] is None or area[row["assignee_id"]] == row[v.k.name]


def test_a_due_day_is_written_in_one_way_only() -> None:
    state = world_of("event_planning").state(np.random.default_rng(0))
    key, job = next((k, j) for k, j in state["jobs"].items() if j["status"] == "open")
    last = state["stages"][job["stage_id"]]["due_on"]
    with Environment(skeleton_of("event_planning"), state) as environment:
        environment.reset(seed=0)
        reply = environment.call("set_job_due_date", {"job_id": key, "due_on": last.replace("-", "")})
        assert not reply["success"] and environment.state["jobs"][key] == job


def test_what_rounds_to_nothing_is_neither_claimed_nor_approved() -> None:
    state = world_of("insurance_claims").state(np.random.default_rng(0))
    for claim in state["claims"].values():
        claim["status"] = "in_review" if claim["status"] == "approved" else claim["status"]
    filed = next(k for k, c in state["claims"].items() if c["status"] == "filed")
    with Environment(skeleton_of("insurance_claims"), state, max_steps=100) as environment:
        environment.reset(seed=0)
        ready = next(
            key
            for key, claim in state["claims"].items()
            if claim["status"] == "in_review"
            and not environment.call("assess_claim", {"claim_id": key})["data"]["missing_documents"]
        )
        for tool, arguments in (
            ("approve_claim", {"claim_id": ready, "amount": 0.004}),
            ("correct_claim_amount", {"claim_id": filed, "amount_claimed": 0.004}),
        ):
            assert environment.call(tool, arguments) == {
                "success": False,
                "error": "The amount must be above 0.",
            }


@pytest.mark.parametrize(
    ("name", "tool", "table", "number"),
    [
        ("music_school", "pay_workshop_fee", "registrations", "amount"),
        ("public_library", "pay_loan_fee", "loans", "amount"),
        ("online_shop", "set_product_price", "products", "price"),
        ("bank", "deposit", "accounts", "amount"),
    ],
)
def test_no_payment_or_price_rounds_to_nothing(name: str, tool: str, table: str, number: str) -> None:
    state = world_of(name).state(np.random.default_rng(0))
    with Environment(skeleton_of(name), state, max_steps=100) as environment:
        environment.reset(seed=0)
        for key in state[table]:
            reply = environment.call(tool, {f"{table[:-1]}_id": key, number: 0.004})
            assert not reply["success"] and ("above 0" in reply["error"] or " is " in reply["error"]), reply
        assert environment.state[table] == state[table]
