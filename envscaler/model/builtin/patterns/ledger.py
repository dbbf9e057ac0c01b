"""Ledger: accounts that people hold, and money or points that move between them with an entry for every movement."""

from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin.pattern import (
    Added,
    Changed,
    Goal,
    Noun,
    Outcome,
    Part,
    Pattern,
    Rng,
    RuleText,
    Settings,
    State,
    Table,
    attribute,
    call,
    found,
    key_of,
    named,
    only,
    own,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots


class AccountKind(Part):
    """The attribute that sorts the accounts."""

    name: str
    """`account_type`"""
    about: str
    """What it means."""
    choices: dict[str, float]
    """Kind → how far below 0 the balance may go."""


class LedgerSettings(Settings):
    """A ledger's words and numbers."""

    account: str
    """`account`"""
    prefix: str
    """Prefix of the accounts' ids."""
    person: str = "person"
    """Who holds them: a registry's noun."""
    currency: str = "EUR"
    """What is counted: a currency, or `points`."""
    kind: AccountKind
    """What sorts the accounts."""
    floor: str = "overdraft_limit"
    """Name of how far below 0 the balance may go."""
    top_up: str = "deposit"
    """Verb for putting in; also the name of such an entry."""
    take_out: str = "withdraw"
    """Verb for taking out."""
    withdrawal: str = "withdrawal"
    """Name of such an entry."""
    opening: tuple[int, int] = (100, 3000)
    """Least and greatest first balance."""
    max_transfer: float = 5000
    """Most that one transfer may move."""
    transfer_fee: float = 0.0
    """What a transfer to somebody else's account costs."""
    entry: str = "transaction"
    """`transaction`"""
    entry_prefix: str
    """Prefix of the entries' ids."""


def account_of(
    v: SimpleNamespace, state: State, name: str, kind: str, status: str = "open"
) -> dict[str, Any]:
    """The one account of that kind and status a person holds."""
    person = named(state, v.p, name)[f"{v.p.id}_id"]
    rows = state[v.a.ids].values()
    return only(
        [a for a in rows if a[f"{v.p.id}_id"] == person and a[v.k.name] == kind and a["status"] == status]
    )


class AccountGoal(Goal):
    """A goal about accounts that are found by their holder and kind."""

    status = "open"

    def any_account(self, state: State, rng: Rng) -> tuple[dict[str, Any], str]:
        """An account of the goal's status with its holder's name; raises `LookupError` when there is none."""
        rows = [a for a in state[self.v.a.ids].values() if a["status"] == self.status]
        if not rows:
            raise LookupError(f"no {self.v.a} is {self.status}")
        account = pick(rng, rows)
        return account, state[self.v.p.ids][account[f"{self.v.p.id}_id"]]["name"]

    def look_up(self, first: int, name: str, kind: str) -> list[dict[str, Any]]:
        """The two calls that find it, the first of them being call `first` of the plan."""
        key = f"{self.v.p.id}_id"
        return [
            call(f"find_{self.v.p.ids}", name=name),
            call(
                f"list_{self.v.a.ids}",
                **{key: found(first, 0, key), self.v.k.name: kind, "status": self.status},
            ),
        ]

    def id(self, index: int) -> dict[str, Any]:
        """The account's id out of the reply to call `index`."""
        return found(index, 0, f"{self.v.a.id}_id")

    def moved(
        self, account: dict[str, Any], state: State, amount: float, kind: str, item: str, **fields: Any
    ) -> list[Outcome]:
        """The account's balance moved by the amount, and an entry says so."""
        v, key = self.v, f"{self.v.a.id}_id"
        balance = round(account["balance"] + amount, 2)
        entry = {key: account[key], "kind": kind, "amount": round(amount, 2), "balance_after": balance}
        entry["booked_on"] = state["today"]
        written = f"Has {v.e.a} of {amount:.2f} been written for {account[key]}?"
        return [
            Changed(v.a.ids, account[key], {"balance": balance, **fields}, item, (account[f"{v.p.id}_id"],)),
            Added(v.e.ids, entry, written),
        ]


class Deposit(AccountGoal):
    """Put something in."""

    phrases = (
        "Please <<s.top_up>> {amount:money} <<s.currency>> to the {kind:name} <<a>> of <<p>> {name:name}.",
        "The <<p>> {name:name} has handed in {amount:money} <<s.currency>>, which goes to the {kind:name} <<a>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "<<s.top_up>>")
    sign = 1

    def draw(self, state: State, rng: Rng) -> Slots | None:
        account, name = self.any_account(state, rng)
        amount = round(float(rng.integers(10, 300)) + float(rng.choice([0, 0.25, 0.5, 0.8])), 2)
        return {"name": name, "kind": account[self.v.k.name], "amount": amount}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        verb = self.v.s.top_up if self.sign > 0 else self.v.s.take_out
        key = f"{self.v.a.id}_id"
        return [
            *self.look_up(0, slots["name"], slots["kind"]),
            call(verb, **{key: self.id(1)}, amount=slots["amount"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        account = account_of(self.v, state, slots["name"], slots["kind"])
        amount = self.sign * slots["amount"]
        if account["balance"] + amount < -account[self.v.s.floor]:
            raise LookupError("there is not enough")
        kind = self.v.s.top_up if self.sign > 0 else self.v.s.withdrawal
        side = "gone up" if self.sign > 0 else "gone down"
        item = f"Has the balance of the {slots['kind']} {self.v.a} of {slots['name']} {side} by {slots['amount']:.2f}?"
        return self.moved(account, state, amount, kind, item)


class Withdraw(Deposit):
    """Take something out."""

    phrases = (
        "Please <<s.take_out>> {amount:money} <<s.currency>> from the {kind:name} <<a>> of <<p>> {name:name}.",
        "The {kind:name} <<a>> of <<p>> {name:name} goes down by {amount:money} <<s.currency>>, please record that "
        "<<s.withdrawal>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "<<s.take_out>>")
    sign = -1


class Transfer(AccountGoal):
    """Move something to somebody else."""

    phrases = (
        "Please transfer {amount:money} <<s.currency>> from the {kind:name} <<a>> of <<p>> {name:name} to the "
        "{other_kind:name} <<a>> of {other:name}.",
        "{name:name} owes {other:name} money, so move {amount:money} <<s.currency>> from the {kind:name} <<a>> of the "
        "former to the {other_kind:name} <<a>> of the latter.",
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "transfer")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        (one, name), (two, other) = self.any_account(state, rng), self.any_account(state, rng)
        if name == other:
            return None
        kinds = {"kind": one[self.v.k.name], "other_kind": two[self.v.k.name]}
        return {"name": name, "other": other, **kinds, "amount": round(float(rng.integers(5, 250)), 2)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        ends = {f"from_{self.v.a.id}_id": self.id(1), f"to_{self.v.a.id}_id": self.id(3)}
        return [
            *self.look_up(0, slots["name"], slots["kind"]),
            *self.look_up(2, slots["other"], slots["other_kind"]),
            call("transfer", **ends, amount=slots["amount"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        one = account_of(v, state, slots["name"], slots["kind"])
        two = account_of(v, state, slots["other"], slots["other_kind"])
        fee = v.s.transfer_fee if slots["name"] != slots["other"] else 0.0
        amount = slots["amount"]
        if one is two or amount > v.s.max_transfer or one["balance"] - amount - fee < -one[v.s.floor]:
            raise LookupError("the transfer is not possible")
        sent = f"Has the {slots['kind']} {v.a} of {slots['name']} been charged with the transfer of {amount:.2f}?"
        got = (
            f"Has the {slots['other_kind']} {v.a} of {slots['other']} received the transfer of {amount:.2f}?"
        )
        return [
            *self.moved(one, state, -round(amount + fee, 2), "transfer_out", sent),
            *self.moved(two, state, amount, "transfer_in", got),
        ]


class Freeze(AccountGoal):
    """Freeze an account."""

    phrases = (
        "Please freeze the {kind:name} <<a>> of <<p>> {name:name} until further notice.",
        "The {kind:name} <<a>> of <<p>> {name:name} has to be frozen.",
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "freeze_<<a.id>>")
    verb, result, now = "freeze", "frozen", "frozen"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        account, name = self.any_account(state, rng)
        return {"name": name, "kind": account[self.v.k.name]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = {f"{self.v.a.id}_id": self.id(1)}
        return [*self.look_up(0, slots["name"], slots["kind"]), call(f"{self.verb}_{self.v.a.id}", **key)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        account = account_of(v, state, slots["name"], slots["kind"], self.status)
        item = f"Is the {slots['kind']} {v.a} of {slots['name']} {self.now}?"
        also = (account[f"{v.p.id}_id"],)
        return [Changed(v.a.ids, account[f"{v.a.id}_id"], {"status": self.result}, item, also)]


class Unfreeze(Freeze):
    """Lift the freeze."""

    phrases = (
        "Please unfreeze the {kind:name} <<a>> of <<p>> {name:name}, which is frozen at present.",
        "The frozen {kind:name} <<a>> of <<p>> {name:name} may be used again, so lift the freeze.",
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "unfreeze_<<a.id>>")
    status, verb, result, now = "frozen", "unfreeze", "open", "open again"


class EmptyAndClose(AccountGoal):
    """Move all that is left to another account of the same person and close the first."""

    phrases = (
        "The <<p>> {name:name} gives up the {kind:name} <<a>>: move all that is left to the {other_kind:name} <<a>>"
        " of the same <<p>> and close it.",
        "Please transfer the whole balance of the {kind:name} <<a>> of <<p>> {name:name} to the same <<p>>'s "
        "{other_kind:name} <<a>>, and then close the emptied one.",
    )
    needs = ("find_<<p.ids>>", "list_<<a.ids>>", "transfer", "close_<<a.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        account, name = self.any_account(state, rng)
        key = f"{self.v.p.id}_id"
        rows = [a for a in state[self.v.a.ids].values() if a[key] == account[key] and a["status"] == "open"]
        others = [a for a in rows if a is not account]
        if not others or not 0 < account["balance"] <= self.v.s.max_transfer:
            return None
        return {"name": name, "kind": account[self.v.k.name], "other_kind": pick(rng, others)[self.v.k.name]}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.p.id}_id"
        other = {key: found(0, 0, key), v.k.name: slots["other_kind"], "status": "open"}
        ends = {f"from_{v.a.id}_id": self.id(1), f"to_{v.a.id}_id": self.id(2)}
        return [
            *self.look_up(0, slots["name"], slots["kind"]),
            call(f"list_{v.a.ids}", **other),
            call("transfer", **ends, amount=found(1, 0, "balance")),
            call(f"close_{v.a.id}", **{f"{v.a.id}_id": self.id(1)}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        one = account_of(v, state, slots["name"], slots["kind"])
        two = account_of(v, state, slots["name"], slots["other_kind"])
        if one is two or not 0 < one["balance"] <= v.s.max_transfer:
            raise LookupError("there is nothing to move")
        gone = f"Has the {slots['kind']} {v.a} of {slots['name']} been emptied and closed?"
        got = f"Has the {slots['other_kind']} {v.a} of {slots['name']} received what was left?"
        return [
            *self.moved(one, state, -one["balance"], "transfer_out", gone, status="closed"),
            *self.moved(two, state, one["balance"], "transfer_in", got),
        ]


class Open(AccountGoal):
    """Open an account of a kind somebody lacks."""

    phrases = (
        "Please open a {kind:name} <<a>> for <<p>> {name:name}.",
        "The <<p>> {name:name} needs a {kind:name} <<a>> as well, so open one.",
    )
    needs = ("find_<<p.ids>>", "open_<<a.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {
            "name": pick(rng, list(state[self.v.p.ids].values()))["name"],
            "kind": pick(rng, list(self.v.k.choices)),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        key = f"{self.v.p.id}_id"
        arguments = {key: found(0, 0, key), self.v.k.name: slots["kind"]}
        return [call(f"find_{self.v.p.ids}", name=slots["name"]), call(f"open_{self.v.a.id}", **arguments)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v, key = self.v, f"{self.v.p.id}_id"
        person = named(state, v.p, slots["name"])
        rows = [a for a in state[v.a.ids].values() if a[key] == person[key] and a["status"] != "closed"]
        if person["status"] != "active" or any(a[v.k.name] == slots["kind"] for a in rows):
            raise LookupError("no such account can be opened")
        item = f"Has a {slots['kind']} {v.a} been opened for {slots['name']}?"
        fields = {
            key: person[key],
            v.k.name: slots["kind"],
            "balance": 0.0,
            v.s.floor: float(v.k.choices[slots["kind"]]),
            "opened_on": state["today"],
            "status": "open",
        }
        return [Added(v.a.ids, fields, item)]


class Ledger(Pattern):
    """Accounts with balances and entries."""

    Settings = LedgerSettings
    GOALS: ClassVar = (Deposit, Withdraw, Transfer, Freeze, Unfreeze, EmptyAndClose, Open)

    def vocabulary(self, s: LedgerSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        a, e = Noun(s.account), Noun(s.entry)
        shared[s.account] = a
        return {
            "a": a,
            "e": e,
            "p": shared[s.person],
            "k": s.kind,
            "kinds": list(s.kind.choices),
            "kindword": s.kind.name.replace("_", " "),
            "floors": ", ".join(f'"{kind}": {float(floor)}' for kind, floor in s.kind.choices.items()),
            "floorwords": s.floor.replace("_", " "),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, a, e, p = v.s, v.a, v.e, v.p
        kinds = f"{s.top_up}, {s.withdrawal}, transfer_in or transfer_out"
        return [
            Table(
                a,
                f"{a.a[:1].upper()}{a.a[1:]} that {p.a} holds.",
                [
                    attribute(f"{a.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                    attribute(f"{p.id}_id", "str", f"the {p} who holds it"),
                    attribute(v.k.name, "str", f"{v.k.about}: {', '.join(v.kinds)}"),
                    attribute("balance", "float", f"what is on it, in {s.currency}"),
                    attribute(s.floor, "float", f"how far below 0 the balance may go, in {s.currency}"),
                    attribute("opened_on", "str", "date, as YYYY-MM-DD"),
                    *own(s.extras),
                    attribute("status", "str", "open, frozen or closed"),
                ],
            ),
            Table(
                e,
                f"{e.a[:1].upper()}{e.a[1:]}: one movement on one {a}.",
                [
                    attribute(f"{e.id}_id", "str", f"unique id, e.g. {s.entry_prefix}-001"),
                    attribute(f"{a.id}_id", "str", f"the {a} it moved"),
                    attribute("kind", "str", kinds),
                    attribute(
                        "amount",
                        "float",
                        f"change of the balance in {s.currency}; negative when it went down",
                    ),
                    attribute("balance_after", "float", f"balance that resulted, in {s.currency}"),
                    attribute("booked_on", "str", "date, as YYYY-MM-DD"),
                ],
            ),
        ]

    RULES = (
        RuleText(
            "The balance of <<a.a>> never goes below zero by more than its <<floorwords>>.",
            """
            pairs = [(row.get("balance"), row.get("<<s.floor>>")) for row in rows(after, "<<a.ids>>").values()]
            return all(
                balance >= -floor - 0.005
                for balance, floor in pairs
                if isinstance(balance, (int, float)) and isinstance(floor, (int, float))
            )
            """,
        ),
        RuleText(
            "The balance of <<a.a>> is the sum of the amounts of its <<e.many>>.",
            """
            sums = {}
            for row in rows(after, "<<e.ids>>").values():
                amount = row.get("amount")
                if isinstance(amount, (int, float)):
                    key = str(row.get("<<a.id>>_id"))
                    sums[key] = sums.get(key, 0.0) + amount
            balances = {key: row.get("balance") for key, row in rows(after, "<<a.ids>>").items()}
            return all(
                abs(balance - sums.get(key, 0.0)) < 0.02
                for key, balance in balances.items()
                if isinstance(balance, (int, float))
            )
            """,
        ),
        RuleText(
            "A single transfer moves at most <<'%.0f'|format(s.max_transfer)>> <<s.currency>>.",
            """
            amounts = [row.get("amount") for row in added("<<e.ids>>") if row.get("kind") == "transfer_in"]
            return all(amount <= <<s.max_transfer>> for amount in amounts if isinstance(amount, (int, float)))
            """,
        ),
        RuleText(
            "Nothing moves on <<a.a>> that is frozen or closed.",
            """
            return all(old.get("status") == "open" for old, _ in changed("<<a.ids>>", "balance"))
            """,
        ),
        RuleText(
            "<<a.a[:1]|upper>><<a.a[1:]>> is closed only when its balance is zero, and stays closed.",
            """
            for old, new in changed("<<a.ids>>", "status"):
                if old.get("status") == "closed":
                    return False
            closed = [row.get("balance") for row in rows(after, "<<a.ids>>").values() if row.get("status") == "closed"]
            return all(balance == 0 for balance in closed)
            """,
        ),
        RuleText(
            "A <<p>> has at most one <<a>> of each <<kindword>> that is not closed.",
            """
            live = [row for row in rows(after, "<<a.ids>>").values() if row.get("status") != "closed"]
            pairs = [(str(row.get("<<p.id>>_id")), str(row.get("<<k.name>>"))) for row in live]
            return len(pairs) == len(set(pairs))
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    def _move(self, <<a.id>>: <<a.type>>, kind: str, amount: float) -> <<e.type>>:
        """Change a balance by an amount and write the <<e>> that says so."""
        <<a.id>>["balance"] = round(<<a.id>>["balance"] + amount, 2)
        <<e.id>>: <<e.type>> = {
            "<<e.id>>_id": self._next_id(self.<<e.ids>>, "<<s.entry_prefix>>"),
            "<<a.id>>_id": <<a.id>>["<<a.id>>_id"],
            "kind": kind,
            "amount": round(amount, 2),
            "balance_after": <<a.id>>["balance"],
            "booked_on": self.today,
        }
        self.<<e.ids>>[<<e.id>>["<<e.id>>_id"]] = <<e.id>>
        return <<e.id>>
'''

    READS = '''
def list_<<a.ids>>(
    self,
    <<p.id>>_id: str | None = None,
    <<k.name>>: str | None = None,
    status: str | None = None,
) -> dict:
    """List <<a.many>> in the order of their ids.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        <<k.name>>: Only this <<kindword>>: <<kinds|join(", ")>>. Leave out for all.
        status: Only those that are open, frozen or closed. Leave out for all.

    Returns:
        The matching <<a.many>> with their balances; an empty list when there are none.
    """
    if <<k.name>> is not None and <<k.name>> not in (<<quoted(kinds)>>):
        refuse :: There is no <<kindword>> {<<k.name>>!r}.
    refuse if status not in (None, "open", "frozen", "closed") :: There is no status {status!r}.
    selected = [
        dict(<<a.id>>)
        for <<a.id>> in self.<<a.ids>>.values()
        if <<p.id>>_id in (None, <<a.id>>["<<p.id>>_id"])
        and <<k.name>> in (None, <<a.id>>["<<k.name>>"])
        and status in (None, <<a.id>>["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda <<a.id>>: <<a.id>>["<<a.id>>_id"])}

def get_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Show one <<a>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<a>> with its balance, or an error for an unknown id.
    """
    need a
    return {"success": True, "data": dict(<<a.id>>)}

def list_<<e.ids>>(self, <<a.id>>_id: str, since: str | None = None) -> dict:
    """List the <<e.many>> of one <<a>>, the oldest first.

    Args:
        <<a.id>>_id: Id of the <<a>>.
        since: Only those on or after this date, as YYYY-MM-DD. Leave out for all.

    Returns:
        The <<e.many>>, or an error for an unknown id.
    """
    refuse if <<a.id>>_id not in self.<<a.ids>> :: There is no <<a>> with the id {<<a.id>>_id!r}.
    refuse if since is not None and not self._is_date(since) :: {since!r} is not a date as YYYY-MM-DD.
    selected = [
        dict(<<e.id>>)
        for <<e.id>> in self.<<e.ids>>.values()
        if <<e.id>>["<<a.id>>_id"] == <<a.id>>_id and (since is None or <<e.id>>["booked_on"] >= since)
    ]
    selected.sort(key=lambda <<e.id>>: (<<e.id>>["booked_on"], <<e.id>>["<<e.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<p.id>>_worth(self, <<p.id>>_id: str) -> dict:
    """Add up what <<p.a>> has on all <<a.many>> that are not closed.

    Args:
        <<p.id>>_id: Id of the <<p>>.

    Returns:
        The number of <<a.many>> and the sum of their balances in <<s.currency>>, or an error.
    """
    refuse if <<p.id>>_id not in self.<<p.ids>> :: There is no <<p>> with the id {<<p.id>>_id!r}.
    balances = [
        <<a.id>>["balance"]
        for <<a.id>> in self.<<a.ids>>.values()
        if <<a.id>>["<<p.id>>_id"] == <<p.id>>_id and <<a.id>>["status"] != "closed"
    ]
    return {"success": True, "data": {"<<a.ids>>": len(balances), "sum": round(sum(balances), 2)}}
'''

    WRITES = '''
def open_<<a.id>>(self, <<p.id>>_id: str, <<k.name>>: str) -> dict:
    """Open a new <<a>> with nothing on it.

    Args:
        <<p.id>>_id: Id of the <<p>>, who must be active and hold no such <<a>> yet.
        <<k.name>>: The <<kindword>>: <<kinds|join(", ")>>; it decides the <<floorwords>>.

    Returns:
        The new <<a>>, or an error.
    """
    need p
    refuse if <<p.id>>["status"] != "active" :: {<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}.
    limits = {<<floors>>}
    refuse if <<k.name>> not in limits :: There is no <<kindword>> {<<k.name>>!r}.
    if any(
        <<a.id>>["<<p.id>>_id"] == <<p.id>>_id
        and <<a.id>>["<<k.name>>"] == <<k.name>>
        and <<a.id>>["status"] != "closed"
        for <<a.id>> in self.<<a.ids>>.values()
    ):
        return {"success": False, "error": f"{<<p.id>>['name']} has a {<<k.name>>} <<a>> already."}
    <<a.id>>: <<a.type>> = {
        "<<a.id>>_id": self._next_id(self.<<a.ids>>, "<<s.prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "<<k.name>>": <<k.name>>,
        "balance": 0.0,
        "<<s.floor>>": limits[<<k.name>>],
        "opened_on": self.today,
%% for x in extras
        "<<x.name>>": <<blank(x)>>,
%% endfor
        "status": "open",
    }
    self.<<a.ids>>[<<a.id>>["<<a.id>>_id"]] = <<a.id>>
    done dict(<<a.id>>) :: <<a.cap>> {<<a.id>>['<<a.id>>_id']} opened for {<<p.id>>['name']}.

def <<s.top_up>>(self, <<a.id>>_id: str, amount: float) -> dict:
    """<<s.top_up|capitalize>> an amount to <<a.a>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be open.
        amount: How much, in <<s.currency>>, above 0.

    Returns:
        The <<a>> with its new balance, or an error.
    """
    need a
    refuse if <<a.id>>["status"] != "open" :: <<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}.
    amount = round(amount, 2)
    refuse if amount <= 0 :: The amount has to be above 0, not {amount}.
    self._move(<<a.id>>, "<<s.top_up>>", amount)
    done dict(<<a.id>>) :: The balance of {<<a.id>>_id} is now {<<a.id>>['balance']} <<s.currency>>.

def <<s.take_out>>(self, <<a.id>>_id: str, amount: float) -> dict:
    """<<s.take_out|capitalize>> an amount from <<a.a>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be open.
        amount: How much, in <<s.currency>>, above 0 and within the balance and the <<floorwords>>.

    Returns:
        The <<a>> with its new balance, or an error.
    """
    need a
    refuse if <<a.id>>["status"] != "open" :: <<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}.
    amount = round(amount, 2)
    refuse if amount <= 0 :: The amount has to be above 0, not {amount}.
    if amount > round(<<a.id>>["balance"] + <<a.id>>["<<s.floor>>"], 2):
        refuse :: {amount} <<s.currency>> are more than {<<a.id>>_id} allows.
    self._move(<<a.id>>, "<<s.withdrawal>>", -amount)
    done dict(<<a.id>>) :: The balance of {<<a.id>>_id} is now {<<a.id>>['balance']} <<s.currency>>.

def transfer(self, from_<<a.id>>_id: str, to_<<a.id>>_id: str, amount: float) -> dict:
    """Transfer an amount from one <<a>> to another.
%% if s.transfer_fee > 0

    Between two different <<p.many>> the sender pays <<'%.2f'|format(s.transfer_fee)>> <<s.currency>> on top.
%% endif

    Args:
        from_<<a.id>>_id: Id of the <<a>> that pays, which must be open.
        to_<<a.id>>_id: Id of the <<a>> that receives, which must be open and another one.
        amount: How much, in <<s.currency>>, above 0 and at most <<'%.0f'|format(s.max_transfer)>>, within the balance
            and the <<floorwords>> of the <<a>> that pays.

    Returns:
        The <<a>> that paid, with its new balance, or an error.
    """
    source = self.<<a.ids>>.get(from_<<a.id>>_id)
    target = self.<<a.ids>>.get(to_<<a.id>>_id)
    if source is None or target is None:
        missing = from_<<a.id>>_id if source is None else to_<<a.id>>_id
        return {"success": False, "error": f"There is no <<a>> with the id {missing!r}."}
    refuse if from_<<a.id>>_id == to_<<a.id>>_id :: The two <<a.many>> are the same.
    for <<a.id>> in (source, target):
        refuse if <<a.id>>["status"] != "open" :: {<<a.id>>['<<a.id>>_id']} is {<<a.id>>['status']}.
    amount = round(amount, 2)
    if not 0 < amount <= <<s.max_transfer>>:
        refuse :: The amount has to be above 0, up to <<'%.0f'|format(s.max_transfer)>>, not {amount}.
%% if s.transfer_fee > 0
    fee = <<s.transfer_fee>> if source["<<p.id>>_id"] != target["<<p.id>>_id"] else 0.0
    if round(amount + fee, 2) > round(source["balance"] + source["<<s.floor>>"], 2):
        refuse :: {amount} plus the fee of {fee} are more than is available.
    self._move(source, "transfer_out", -(amount + fee))
%% else
    if amount > round(source["balance"] + source["<<s.floor>>"], 2):
        refuse :: {amount} <<s.currency>> are more than is available.
    self._move(source, "transfer_out", -amount)
%% endif
    self._move(target, "transfer_in", amount)
    done dict(source) :: {amount} <<s.currency>> moved to {to_<<a.id>>_id}.

def freeze_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Freeze <<a.a>> so that nothing moves on it.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be open.

    Returns:
        The frozen <<a>>, or an error.
    """
    need a
    refuse if <<a.id>>["status"] != "open" :: <<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not open.
    <<a.id>>["status"] = "frozen"
    done dict(<<a.id>>) :: <<a.cap>> {<<a.id>>_id} is frozen.

def unfreeze_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Lift the freeze of <<a.a>>.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be frozen.

    Returns:
        The <<a>>, open again, or an error.
    """
    need a
    refuse if <<a.id>>["status"] != "frozen" :: <<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not frozen.
    <<a.id>>["status"] = "open"
    done dict(<<a.id>>) :: <<a.cap>> {<<a.id>>_id} is open again.

def close_<<a.id>>(self, <<a.id>>_id: str) -> dict:
    """Close <<a.a>> for good.

    Args:
        <<a.id>>_id: Id of the <<a>>, which must be open and have a balance of exactly 0.

    Returns:
        The closed <<a>>, or an error.
    """
    need a
    refuse if <<a.id>>["status"] != "open" :: <<a.cap>> {<<a.id>>_id} is {<<a.id>>['status']}, not open.
    refuse if <<a.id>>["balance"] != 0 :: {<<a.id>>['balance']} <<s.currency>> are still on {<<a.id>>_id}.
    <<a.id>>["status"] = "closed"
    done dict(<<a.id>>) :: <<a.cap>> {<<a.id>>_id} is closed.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        pairs = [(p, kind) for p in state[v.p.ids] for kind in v.kinds]
        first = [(p, pick(rng, v.kinds)) for p in state[v.p.ids]]
        more = [pair for pair in shuffled(rng, pairs) if pair not in first]
        for n, (person, kind) in enumerate([*first[:8], *more[:5]]):
            status = "frozen" if n in (2, 9) else "open"
            self._account(v, state, rng, person, kind, status)
        open_ones = [a for a in state[v.a.ids].values() if a["status"] == "open" and a["balance"] > 20]
        for source, target in zip(open_ones[:2], open_ones[2:4], strict=False):
            amount = round(float(rng.uniform(5, 20)), 2)
            self._entry(v, state, source, "transfer_out", -amount, state["today"])
            self._entry(v, state, target, "transfer_in", amount, state["today"])

    def _entry(
        self, v: SimpleNamespace, state: State, account: dict[str, Any], kind: str, amount: float, day: str
    ) -> None:
        account["balance"] = round(account["balance"] + amount, 2)
        key = key_of(v.s.entry_prefix, len(state[v.e.ids]) + 1)
        state[v.e.ids][key] = {
            f"{v.e.id}_id": key,
            f"{v.a.id}_id": account[f"{v.a.id}_id"],
            "kind": kind,
            "amount": amount,
            "balance_after": account["balance"],
            "booked_on": day,
        }

    def _account(
        self, v: SimpleNamespace, state: State, rng: Rng, person: str, kind: str, status: str
    ) -> None:
        s = v.s
        key = key_of(s.prefix, len(state[v.a.ids]) + 1)
        opened = later(state["today"], -int(rng.integers(40, 900)))
        first = round(float(rng.uniform(*s.opening)), 2)
        moves = [(s.top_up, first, opened)]
        if rng.random() < 0.5:
            day = later(state["today"], -int(rng.integers(1, 30)))
            moves.append((s.withdrawal, -round(first * float(rng.uniform(0.05, 0.4)), 2), day))
        state[v.a.ids][key] = {
            f"{v.a.id}_id": key,
            f"{v.p.id}_id": person,
            v.k.name: kind,
            "balance": 0.0,
            s.floor: float(v.k.choices[kind]),
            "opened_on": opened,
            **{x.name: x.draw(rng) for x in s.extras},
            "status": status,
        }
        for kind_of_entry, amount, day in moves:
            self._entry(v, state, state[v.a.ids][key], kind_of_entry, amount, day)


PATTERN = Ledger
