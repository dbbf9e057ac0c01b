"""Subscriptions: boxes that members get every week or two, prepaid out of a credit, skipped, paused and changed."""

from datetime import date
from types import SimpleNamespace
from typing import Any, ClassVar

from envscaler.model.builtin import names
from envscaler.model.builtin.pattern import (
    Added,
    Changed,
    Goal,
    Noun,
    Outcome,
    Pattern,
    Rng,
    RuleText,
    Settings,
    State,
    Table,
    either,
    key_of,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._brief import form, steps
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Row = dict[str, Any]
THEIRS = "list_subscriptions member_id<0 status=state"


class SubscriptionsSettings(Settings):
    """What is subscribed to, and the terms."""

    boxes: dict[str, tuple[float, int]]
    """Name of a box → its price and how many people it feeds; dearer ones feed more."""
    additions: dict[str, float]
    """What can be added to a delivery, one word each → its price."""
    points: dict[str, str]
    """Pick-up point → its weekday."""
    notice: int = 14
    """Days from a cancellation until nothing is delivered any more."""
    deadline: int = 2
    """Days before a delivery from which nothing about it changes."""
    debt: int = 20
    """Credit below minus this is a debt for which deliveries stop."""


class BoxGoal(Goal):
    """What goals about subscriptions share; slots named after what a sentence says of the member."""

    status: ClassVar[str] = "active"

    def member(self, slots: Slots, state: State) -> Row:
        """The member a sentence names."""
        return named(state, self.v.member, slots["name"])

    def subscription(self, slots: Slots, state: State) -> Row:
        """Their subscription of the goal's status."""
        key = self.member(slots, state)["member_id"]
        rows = [x for x in state["subscriptions"].values() if x["member_id"] == key]
        return only([x for x in rows if x["status"] == self.status])

    def someone(self, state: State, rng: Rng) -> Slots | None:
        """A member with a subscription of the goal's status."""
        rows = [x for x in state["subscriptions"].values() if x["status"] == self.status]
        return {"name": state["members"][pick(rng, rows)["member_id"]]["name"]} if rows else None

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.someone(state, rng)

    def go(self, slots: Slots, *calls: str) -> list[Row]:
        """The calls that find a member and their subscription, as replies 0 and 1, and then these."""
        return steps({**slots, "state": self.status}, "find_members name", THEIRS, *calls)

    def planned(self, one: Row, state: State) -> list[Row]:
        """Deliveries of a subscription that can still be changed, the next first."""
        first, key = later(state["today"], self.v.s.deadline), one["subscription_id"]
        rows = [x for x in state["deliveries"].values() if x["subscription_id"] == key]
        rows = [x for x in rows if x["status"] == "planned" and x["delivery_on"] >= first]
        return sorted(rows, key=lambda x: x["delivery_on"])

    def paid(self, member: Row, amount: float, reason: str, state: State) -> list[Outcome]:
        """The credit of a member is so much higher, and an account entry says why."""
        amount = round(amount, 2)
        fields = {
            "member_id": member["member_id"],
            "amount": amount,
            "reason": reason,
            "made_on": state["today"],
        }
        credit = {"credit": round(member["credit"] + amount, 2)}
        item = f"Has the credit of {member['name']} been changed by {amount:.2f}?"
        entry = f"Has an account entry of {amount:.2f} for {member['name']} been written?"
        return [
            Changed("members", member["member_id"], credit, item),
            Added("account_entries", fields, entry),
        ]

    def dropped(self, member: Row, rows: list[Row], reason: str, state: State) -> list[Outcome]:
        """Deliveries are skipped and their price is paid back."""
        if not rows:
            raise LookupError("nothing of it can be changed")
        gone = [
            Changed(
                "deliveries",
                x["delivery_id"],
                {"status": "skipped"},
                f"Is the delivery of {member['name']} on {x['delivery_on']} skipped?",
                (f"spaces {x['delivery_on']}",),
            )
            for x in rows
        ]
        return [*gone, *self.paid(member, sum(x["total_price"] for x in rows), reason, state)]

    def next_day(self, one: Row, state: State) -> str:
        """The next day on which a box of a subscription can come."""
        first = later(state["today"], self.v.s.deadline)
        rows = [x for x in state["deliveries"].values() if x["subscription_id"] == one.get("subscription_id")]
        last = max((x["delivery_on"] for x in rows if x["status"] != "skipped"), default="")
        if last:
            gap = 7 * one["every_weeks"]
            late = (date.fromisoformat(first) - date.fromisoformat(last)).days
            return later(last, gap * max(1, -(-late // gap)))
        weekday = state["pick_up_points"][one["pick_up_point_id"]]["weekday"]
        return later(first, (WEEKDAYS.index(weekday) - date.fromisoformat(first).weekday()) % 7)

    def boxes_at(self, point: Row, day: str, state: State) -> int:
        """Boxes planned for a point on a day."""
        here = {
            k for k, x in state["subscriptions"].items() if x["pick_up_point_id"] == point["pick_up_point_id"]
        }
        rows = [x for x in state["deliveries"].values() if x["subscription_id"] in here]
        return sum(x["delivery_on"] == day and x["status"] == "planned" for x in rows)

    def added(self, one: Row, member: Row, state: State) -> list[Outcome]:
        """The next delivery of a subscription is planned and charged."""
        point, box = state["pick_up_points"][one["pick_up_point_id"]], state["boxes"][one["box_id"]]
        day = self.next_day(one, state)
        if self.boxes_at(point, day, state) >= point["spaces"] or member["credit"] < 0:
            raise LookupError("there is no space, or a debt")
        key: dict[str, Any] = {n: one[n] for n in ("subscription_id", "box_id") if n in one}
        blank = {**dict.fromkeys(self.v.added, 0), "total_price": box["price"], "status": "planned"}
        item = f"Is a {box['name']} planned for {member['name']} on {day}?"
        return [
            Added("deliveries", {**key, **blank, "delivery_on": day}, item, (f"spaces {day}",)),
            *self.paid(member, -box["price"], f"{box['name']} for {day}", state),
        ]


class Skip(BoxGoal):
    """One delivery is skipped."""

    phrases = (
        "{name:name} does not need the box of {day:date}, please skip that delivery.",
        "Please skip the delivery of {name:name} on {day:date}, so that the price goes back to the credit.",
    )
    needs = ("find_members", "list_subscriptions", "list_deliveries", "skip_delivery")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.someone(state, rng)
        rows = self.planned(self.subscription(slots, state), state) if slots else []
        return {**slots, "day": pick(rng, rows)["delivery_on"]} if slots and rows else None

    def plan(self, slots: Slots) -> list[Row]:
        find = "list_deliveries subscription_id<1 delivery_on=day"
        return self.go(slots, find, "skip_delivery delivery_id<2")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = self.planned(self.subscription(slots, state), state)
        rows = [x for x in rows if x["delivery_on"] == slots["day"]]
        return self.dropped(self.member(slots, state), rows, f"skipped {slots['day']}", state)


class Pause(BoxGoal):
    """Nothing comes for a while."""

    phrases = (
        "{name:name} is travelling, so pause the subscription until {until:date}.",
        "Please pause the subscription of {name:name} up to and including {until:date}.",
    )
    needs = ("find_members", "list_subscriptions", "pause_subscription")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.someone(state, rng)
        return slots and {**slots, "until": later(state["today"], int(rng.integers(8, 40)))}

    def plan(self, slots: Slots) -> list[Row]:
        return self.go(slots, "pause_subscription subscription_id<1 until")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, until = self.subscription(slots, state), slots["until"]
        rows = [x for x in self.planned(one, state) if x["delivery_on"] <= until]
        item = f"Is the subscription of {slots['name']} paused until {until}?"
        fields = {"status": "paused", "paused_until": until}
        return [
            Changed("subscriptions", one["subscription_id"], fields, item),
            *self.dropped(self.member(slots, state), rows, f"paused until {until}", state),
        ]


class Cancel(BoxGoal):
    """A subscription ends after the notice."""

    phrases = (
        "{name:name} gives up the box for good, please cancel the subscription with the usual notice.",
        "Please cancel the subscription of {name:name}; what is planned after the notice is not delivered.",
    )
    needs = ("find_members", "list_subscriptions", "cancel_subscription")

    def plan(self, slots: Slots) -> list[Row]:
        return self.go(slots, "cancel_subscription subscription_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, ends = self.subscription(slots, state), later(state["today"], self.v.s.notice)
        rows = [x for x in self.planned(one, state) if x["delivery_on"] > ends]
        item = f"Is the subscription of {slots['name']} cancelled for {ends}?"
        fields = {"status": "cancelled", "ends_on": ends}
        return [
            Changed("subscriptions", one["subscription_id"], fields, item),
            *self.dropped(self.member(slots, state), rows, f"cancelled for {ends}", state),
        ]


class ChangeBox(BoxGoal):
    """Another box from the next delivery that can be changed on."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{name:name} would like the {box:name} from the next possible delivery on.",
        "Please change the subscription of {name:name} to the {box:name}, charging or paying back the difference.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_members", "list_subscriptions", "find_boxes", "change_box")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.someone(state, rng)
        return slots and {**slots, "box": pick(rng, list(self.v.s.boxes))}

    def plan(self, slots: Slots) -> list[Row]:
        change = "change_box subscription_id<1 box_id<2"
        return self.go(slots, "find_boxes name=box", change)

    def box(self, slots: Slots, state: State) -> Row:
        """The box a sentence asks for."""
        return named(state, self.v.box, slots["box"])

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, box, member = self.subscription(slots, state), self.box(slots, state), self.member(slots, state)
        rows = self.planned(one, state)
        if not rows or box["box_id"] == one["box_id"]:
            raise LookupError("there is nothing to change")
        apart = box["price"] - state["boxes"][one["box_id"]]["price"]
        wanted: list[Outcome] = [
            Changed(
                "subscriptions",
                one["subscription_id"],
                {"box_id": box["box_id"]},
                f"Is the subscription of {slots['name']} for a {box['name']} now?",
            )
        ]
        for x in rows:
            item = f"Is the delivery of {slots['name']} on {x['delivery_on']} a {box['name']} at its price?"
            fields = {"box_id": box["box_id"], "total_price": round(x["total_price"] + apart, 2)}
            wanted.append(Changed("deliveries", x["delivery_id"], fields, item))
        reason = f"{len(rows)} deliveries changed to {box['name']}"
        return [*wanted, *self.paid(member, -apart * len(rows), reason, state)]


class FeedMore(ChangeBox):
    """The cheapest box that feeds so many."""

    phrases = (
        "There are {people:int} people to feed at the home of {name:name} now; change to the cheapest box that does.",
        "Please give {name:name} the cheapest box that is enough for {people:int} people.",
    )

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.someone(state, rng)
        return slots and {**slots, "people": int(rng.integers(2, 7))}

    def plan(self, slots: Slots) -> list[Row]:
        change = "change_box subscription_id<1 box_id<2"
        return self.go(slots, "find_boxes people", change)

    def box(self, slots: Slots, state: State) -> Row:
        fit = [x for x in state["boxes"].values() if x["feeds"] >= slots["people"]]
        if not fit:
            raise LookupError("no box is enough")
        return min(fit, key=lambda x: (x["price"], x["box_id"]))


class OrderExtra(BoxGoal):
    """Something is added to the next delivery."""

    phrases = (
        "{name:name} also wants {number:int} of the extra {extra:name} in the next delivery that can still be changed.",
        "Please add {number:int} of the extra {extra:name} to the next delivery of {name:name} that can be changed.",
    )
    needs = ("find_members", "list_subscriptions", "list_deliveries", "order_extra")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.someone(state, rng)
        return slots and {**slots, "number": int(rng.integers(1, 5)), "extra": pick(rng, self.v.added)}

    def plan(self, slots: Slots) -> list[Row]:
        find = "list_deliveries subscription_id<1 changeable=True"
        order = "order_extra delivery_id<2 extra number"
        return self.go(slots, find, order)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        rows = self.planned(self.subscription(slots, state), state)
        if not rows or rows[0][slots["extra"]] + slots["number"] > 9:
            raise LookupError("it cannot be added")
        number, extra, one = slots["number"], slots["extra"], rows[0]
        price = number * self.v.s.additions[extra]
        fields = {extra: one[extra] + number, "total_price": round(one["total_price"] + price, 2)}
        item = f"Does the next changeable delivery of {slots['name']} hold {number} more {extra}?"
        reason = f"{number} {extra} for {one['delivery_on']}"
        return [
            Changed("deliveries", one["delivery_id"], fields, item, (one["subscription_id"],)),
            *self.paid(self.member(slots, state), -price, reason, state),
        ]


class MovePoint(BoxGoal):
    """The boxes go to another pick-up point of the same weekday."""

    phrases = (
        "{name:name} has moved house and would rather pick up the box at the {point:name}, please arrange that.",
        "Please send the boxes of {name:name} to the {point:name} from now on.",
    )
    needs = ("find_members", "list_subscriptions", "find_pick_up_points", "move_subscription")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = self.someone(state, rng)
        return slots and {**slots, "point": pick(rng, list(self.v.s.points))}

    def plan(self, slots: Slots) -> list[Row]:
        move = "move_subscription subscription_id<1 pick_up_point_id<2"
        return self.go(slots, "find_pick_up_points name=point", move)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, new = self.subscription(slots, state), named(state, self.v.point, slots["point"])
        old = state["pick_up_points"][one["pick_up_point_id"]]
        key = one["subscription_id"]
        rows = [x for x in state["deliveries"].values() if x["subscription_id"] == key]
        days = {x["delivery_on"] for x in rows if x["status"] == "planned"}
        full = any(self.boxes_at(new, day, state) >= new["spaces"] for day in days)
        early = any(day < later(state["today"], self.v.s.deadline) for day in days)
        if old is new or old["weekday"] != new["weekday"] or full or early:
            raise LookupError("it cannot be moved there")
        also = tuple(f"spaces {day}" for day in days)
        item = f"Does {slots['name']} pick up the box at the {slots['point']}?"
        return [Changed("subscriptions", key, {"pick_up_point_id": new["pick_up_point_id"]}, item, also)]


class Start(BoxGoal):
    """A member begins to get boxes."""

    phrases = (
        "{name:name} would like the {box:name} at the {point:name} every {weeks:int} weeks; start a subscription and "
        "plan the first box.",
        "Please start a subscription for {name:name}, the {box:name} every {weeks:int} weeks at the {point:name}, and "
        "plan its first delivery.",
    )
    needs = ("find_members", "find_boxes", "find_pick_up_points", "start_subscription", "plan_delivery")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [x for x in state["subscriptions"].values() if x["status"] != "cancelled"]
        free = [x for k, x in state["members"].items() if k not in {y["member_id"] for y in rows}]
        wanted = {"box": pick(rng, list(self.v.s.boxes)), "point": pick(rng, list(self.v.s.points))}
        return {"name": pick(rng, free)["name"], **wanted, "weeks": int(rng.integers(2, 4))} if free else None

    def plan(self, slots: Slots) -> list[Row]:
        start = "start_subscription member_id<0 box_id<1 pick_up_point_id<2 every_weeks=weeks"
        find = ("find_boxes name=box", "find_pick_up_points name=point")
        return steps(
            slots, "find_members name", *find, start, "plan_delivery subscription_id<3/subscription_id"
        )

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        member, box = self.member(slots, state), named(state, self.v.box, slots["box"])
        point, mine = named(state, self.v.point, slots["point"]), {"member_id": member["member_id"]}
        rows = [x for x in state["subscriptions"].values() if x["member_id"] == member["member_id"]]
        if any(x["status"] != "cancelled" for x in rows) or member["credit"] < 0:
            raise LookupError("it cannot be started")
        chosen = {"box_id": box["box_id"], "pick_up_point_id": point["pick_up_point_id"]}
        fields = {**mine, **chosen, "every_weeks": slots["weeks"], "status": "active"}
        item = f"Has a subscription of {slots['name']} to the {box['name']} been started?"
        return [
            Added("subscriptions", {**fields, "paused_until": "", "ends_on": ""}, item),
            *self.added(fields, member, state),
        ]


class PlanMore(BoxGoal):
    """One box more."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{name:name} has paid ahead, so plan one more delivery after those that are planned.",
        "Please plan the next delivery of {name:name} in the usual rhythm.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_members", "list_subscriptions", "plan_delivery")
    weight = 0.6

    def plan(self, slots: Slots) -> list[Row]:
        return self.go(slots, "plan_delivery subscription_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.added(self.subscription(slots, state), self.member(slots, state), state)


class Resume(PlanMore):
    """Boxes come again after a pause."""

    status = "paused"
    weight = 1.0
    phrases = (
        "{name:name} is back early, please end the pause and plan the next box.",
        "Please resume the paused subscription of {name:name} and plan its next delivery.",
    )
    needs = ("find_members", "list_subscriptions", "resume_subscription", "plan_delivery")

    def plan(self, slots: Slots) -> list[Row]:
        return self.go(slots, "resume_subscription subscription_id<1", "plan_delivery subscription_id<1")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        key = self.subscription(slots, state)["subscription_id"]
        item = f"Is the subscription of {slots['name']} active again?"
        fields = {"status": "active", "paused_until": ""}
        return [Changed("subscriptions", key, fields, item), *super().outcome(slots, state)]


class Hold(BoxGoal):
    """Deliveries stop for the greatest debt."""

    phrases = (
        "Of the members with a debt, please put the active subscription of the one who owes most on hold.",
        "The member who owes us most gets no boxes until the debt is paid, so put that subscription on hold.",
    )
    needs = ("list_debtors", "list_subscriptions", "hold_subscription")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {}

    def plan(self, slots: Slots) -> list[Row]:
        calls = ("list_debtors", THEIRS, "hold_subscription subscription_id<1")
        return steps({"state": self.status}, *calls)

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        member = min(state["members"].values(), key=lambda x: (x["credit"], x["member_id"]))
        one = self.subscription({"name": member["name"]}, state)
        if member["credit"] >= -self.v.s.debt:
            raise LookupError("nobody owes so much")
        item = f"Is the subscription of {member['name']}, who owes most, on hold?"
        return [
            Changed("subscriptions", one["subscription_id"], {"status": "on_hold"}, item, ("debts",)),
            *self.dropped(member, self.planned(one, state), "on hold for debt", state),
        ]


class Pay(BoxGoal):
    """Money arrives."""

    phrases = (
        "{name:name} has paid {amount:money} at the market stand, please put it on the credit.",
        "Please record a payment of {amount:money} from {name:name}.",
    )
    needs = ("find_members", "record_payment")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        name = pick(rng, list(state["members"].values()))["name"]
        return {"name": name, "amount": float(rng.integers(10, 90)) + 0.5}

    def plan(self, slots: Slots) -> list[Row]:
        return steps(slots, "find_members name", "record_payment member_id<0 amount")

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.paid(self.member(slots, state), slots["amount"], "payment", state)


class Subscriptions(Pattern):
    """Boxes on subscription."""

    Settings = SubscriptionsSettings
    IMPORTS = ("from datetime import date, timedelta",)
    GOALS: ClassVar = (
        Skip, Pause, Cancel, ChangeBox, FeedMore, OrderExtra, MovePoint, Start, PlanMore, Resume, Hold, Pay,
    )  # fmt: skip

    def vocabulary(self, s: SubscriptionsSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        code = ", ".join(f'"{name}": {price}' for name, price in s.additions.items())
        return {
            "member": Noun("member"),
            "box": Noun("box"),
            "point": Noun("pick-up point"),
            "added": list(s.additions),
            "extra_prices": code,
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        extras = "\n".join(f"{x}: int = how many of the extra {x} are in it" for x in v.added)
        return [
            form(v.member, "Somebody who gets boxes, or did.", """
                member_id: str = unique id, e.g. MEM-001
                name: str = full name
                phone: str = telephone number
                credit: float = what is paid ahead, in euros; below 0 for a debt
            """),
            form(v.box, "A kind of box.", """
                box_id: str = unique id, e.g. BOX-001
                name: str = what it is called
                price: float = price of one delivery in euros
                feeds: int = how many people it is enough for
            """),
            form(v.point, "Where members fetch their boxes.", """
                pick_up_point_id: str = unique id, e.g. PNT-001
                name: str = where it is
                weekday: str = the day of the week on which boxes come there
                spaces: int = boxes that fit there on one day
            """),
            form(Noun("subscription"), "A box that a member gets again and again.", f"""
                subscription_id: str = unique id, e.g. SUB-001
                member_id: str = the member
                box_id: str = the box
                pick_up_point_id: str = where it is fetched
                every_weeks: int = a box comes every so many weeks
                status: str = {either(["active", "paused", "on_hold", "cancelled"])}
                paused_until: str = last day of a pause as YYYY-MM-DD, otherwise empty
                ends_on: str = day after which nothing is delivered as YYYY-MM-DD, empty unless cancelled
            """),
            form(Noun("delivery"), "One box on one day, paid out of the credit when it is planned.", f"""
                delivery_id: str = unique id, e.g. DEL-001
                subscription_id: str = the subscription
                box_id: str = the box
                delivery_on: str = date, as YYYY-MM-DD
                {extras}
                total_price: float = price of the box and the extras in euros
                status: str = planned, skipped or delivered
            """),
            form(Noun("account entry"), "A change of a member's credit.", """
                account_entry_id: str = unique id, e.g. ACC-001
                member_id: str = the member
                amount: float = euros, below 0 for what is charged
                reason: str = what for
                made_on: str = date, as YYYY-MM-DD
            """),
        ]  # fmt: skip

    RULES = (
        RuleText(
            "The price of a delivery is the sum of its box and its extras.",
            """
            extras, boxes = {<<extra_prices>>}, rows(after, "boxes")
            for row in rows(after, "deliveries").values():
                if row.get("status") == "planned":
                    total = (boxes.get(str(row.get("box_id"))) or {}).get("price") or 0
                    total += sum((row.get(name) or 0) * price for name, price in extras.items())
                    if abs((row.get("total_price") or 0) - total) > 0.005:
                        return False
            return True
            """,
        ),
        RuleText(
            "The credit of a member is the sum of the member's account entries.",
            """
            total = {}
            for row in rows(after, "account_entries").values():
                total[row.get("member_id")] = total.get(row.get("member_id"), 0) + (row.get("amount") or 0)
            members = rows(after, "members").items()
            return all(abs((row.get("credit") or 0) - total.get(key, 0)) < 0.005 for key, row in members)
            """,
        ),
        RuleText(
            "Every change of a credit leaves an account entry of that day.",
            """
            told = {}
            for row in added("account_entries"):
                if row.get("made_on") == after.get("today"):
                    told[row.get("member_id")] = told.get(row.get("member_id"), 0) + (row.get("amount") or 0)
            for old, new in changed("members", "credit"):
                change = (new.get("credit") or 0) - (old.get("credit") or 0)
                if abs(change - told.get(new.get("member_id"), 0)) > 0.005:
                    return False
            return True
            """,
        ),
        RuleText(
            "Nothing about a delivery changes later than <<s.deadline>> days before it.",
            """
            from datetime import date
            for field in ("status", "total_price", "box_id"):
                for old, new in changed("deliveries", field):
                    try:
                        today, day = (date.fromisoformat(str(x)) for x in (after.get("today"), old.get("delivery_on")))
                    except ValueError:
                        return False
                    if (day - today).days < <<s.deadline>>:
                        return False
            return True
            """,
        ),
        RuleText(
            "No more boxes are planned for a pick-up point on one day than have space there.",
            """
            points, subscriptions, planned = rows(after, "pick_up_points"), rows(after, "subscriptions"), {}
            for row in rows(after, "deliveries").values():
                if row.get("status") == "planned":
                    point = (subscriptions.get(str(row.get("subscription_id"))) or {}).get("pick_up_point_id")
                    place = (point, row.get("delivery_on"))
                    planned[place] = planned.get(place, 0) + 1
            return all(n <= ((points.get(str(point)) or {}).get("spaces") or 0) for (point, _), n in planned.items())
            """,
        ),
        RuleText(
            "No two boxes of one subscription come on the same day.",
            """
            kept = [
                (row.get("subscription_id"), row.get("delivery_on"))
                for row in rows(after, "deliveries").values()
                if row.get("status") != "skipped"
            ]
            return len(kept) == len(set(kept))
            """,
        ),
        RuleText(
            "A subscription has the date until which it is paused exactly when it is paused.",
            """
            return all(
                (row.get("status") == "paused") == bool(row.get("paused_until"))
                for row in rows(after, "subscriptions").values()
            )
            """,
        ),
        RuleText(
            "A cancelled subscription stays so, with nothing planned after the day it ends.",
            """
            subscriptions = rows(after, "subscriptions")
            if any(old.get("status") == "cancelled" for old, new in changed("subscriptions", "status")):
                return False
            for row in rows(after, "deliveries").values():
                one = subscriptions.get(str(row.get("subscription_id"))) or {}
                if row.get("status") == "planned" and one.get("status") == "cancelled":
                    if str(row.get("delivery_on")) > str(one.get("ends_on")):
                        return False
            return True
            """,
        ),
    )

    HELPERS = '''
    def _changeable(self, subscription_id: str) -> list[dict]:
        """Return the planned deliveries of a subscription before their deadline, the next first."""
        first = (date.fromisoformat(self.today) + timedelta(days=<<s.deadline>>)).isoformat()
        ahead = [
            delivery
            for delivery in self.deliveries.values()
            if delivery["subscription_id"] == subscription_id
            and delivery["status"] == "planned"
            and delivery["delivery_on"] >= first
        ]
        return sorted(ahead, key=lambda delivery: delivery["delivery_on"])

    def _account(self, member_id: str, amount: float, reason: str) -> None:
        """Add to the credit of a member, or charge it, and write it down."""
        member = self.members[member_id]
        member["credit"] = round(member["credit"] + amount, 2)
        entry: AccountEntry = {
            "account_entry_id": self._next_id(self.account_entries, "ACC"),
            "member_id": member_id,
            "amount": round(amount, 2),
            "reason": reason,
            "made_on": self.today,
        }
        self.account_entries[entry["account_entry_id"]] = entry

    def _drop(self, subscription: dict, deliveries: list[dict], reason: str) -> list[dict]:
        """Skip deliveries and pay their price back to the credit."""
        for delivery in deliveries:
            delivery["status"] = "skipped"
        if deliveries:
            back = sum(delivery["total_price"] for delivery in deliveries)
            self._account(subscription["member_id"], back, reason)
        return [dict(delivery) for delivery in deliveries]

    def _boxes_at(self, pick_up_point_id: str, day: str) -> int:
        """Count the boxes that are planned for a pick-up point on a day."""
        return sum(
            delivery["delivery_on"] == day and delivery["status"] == "planned"
            for delivery in self.deliveries.values()
            if self.subscriptions[delivery["subscription_id"]]["pick_up_point_id"] == pick_up_point_id
        )

    def _next_day(self, subscription: dict) -> str:
        """Return the next day on which a box can come, in the rhythm of the boxes that came or are planned."""
        first = date.fromisoformat(self.today) + timedelta(days=<<s.deadline>>)
        days = [
            delivery["delivery_on"]
            for delivery in self.deliveries.values()
            if delivery["subscription_id"] == subscription["subscription_id"] and delivery["status"] != "skipped"
        ]
        if days:
            latest, gap = date.fromisoformat(max(days)), 7 * subscription["every_weeks"]
            rounds = max(1, -(-(first - latest).days // gap))
            return (latest + timedelta(days=gap * rounds)).isoformat()
        weekday = self.pick_up_points[subscription["pick_up_point_id"]]["weekday"]
        week = [first + timedelta(days=n) for n in range(7)]
        return next((day.isoformat() for day in week if day.strftime("%A") == weekday), first.isoformat())
'''

    READS = '''
def find_members(self, name: str) -> dict:
    """Find members by name, with what they subscribe to.

    Args:
        name: The name or a part of it.

    Returns:
        The members by name, each with the statuses of their `subscriptions`.
    """
    refuse if not name.strip() :: The name to look for is empty.
    matches = []
    for member_id, member in self.members.items():
        if name.strip().lower() in member["name"].lower():
            mine = [one["status"] for one in self.subscriptions.values() if one["member_id"] == member_id]
            matches.append({**member, "subscriptions": sorted(mine)})
    return {"success": True, "data": sorted(matches, key=lambda member: member["name"])}

def find_boxes(self, name: str | None = None, people: int | None = None) -> dict:
    """Find kinds of boxes by name or by how many people they must feed, the cheapest first.

    Args:
        name: Only the box of this name. Leave out for all.
        people: Only boxes that are enough for so many; at least 1. Leave out for all.

    Returns:
        The boxes, each with its `price_per_person`.
    """
    refuse if people is not None and people < 1 :: The number of people must be at least 1.
    fit = [
        {**box, "price_per_person": round(box["price"] / box["feeds"], 2)}
        for box in self.boxes.values()
        if (name is None or box["name"].lower() == name.strip().lower()) and box["feeds"] >= (people or 1)
    ]
    return {"success": True, "data": sorted(fit, key=lambda box: (box["price"], box["box_id"]))}

def find_pick_up_points(self, name: str | None = None, weekday: str | None = None) -> dict:
    """Find pick-up points, with how much space is left on their next day.

    Args:
        name: The name or a part of it. Leave out for all.
        weekday: Only those of this day of the week, e.g. Friday. Leave out for all.

    Returns:
        The pick-up points with `next_day` and the `left` spaces, those with most left first.
    """
    found, wanted = [], (name or "").strip().lower()
    week = [date.fromisoformat(self.today) + timedelta(days=n) for n in range(1, 8)]
    for point_id, point in self.pick_up_points.items():
        if wanted not in point["name"].lower() or weekday not in (None, point["weekday"]):
            continue
        day = next((one.isoformat() for one in week if one.strftime("%A") == point["weekday"]), "")
        found.append({**point, "next_day": day, "left": point["spaces"] - self._boxes_at(point_id, day)})
    return {"success": True, "data": sorted(found, key=lambda point: (-point["left"], point["name"]))}

def list_subscriptions(self, member_id: str | None = None, status: str | None = None) -> dict:
    """List subscriptions, with the next box of each.

    Args:
        member_id: Only those of this member. Leave out for all.
        status: Only this status: active, paused, on_hold, cancelled. Leave out for all.

    Returns:
        The subscriptions with the name of the box, of the pick-up point, and the date of the `next_box` or None.
    """
    refuse if status not in (None, "active", "paused", "on_hold", "cancelled") :: There is no status {status!r}.
    selected = []
    for key, one in sorted(self.subscriptions.items()):
        if member_id in (None, one["member_id"]) and status in (None, one["status"]):
            mine = [delivery for delivery in self.deliveries.values() if delivery["subscription_id"] == key]
            days = [delivery["delivery_on"] for delivery in mine if delivery["status"] == "planned"]
            place = self.pick_up_points[one["pick_up_point_id"]]["name"]
            names = {"box": self.boxes[one["box_id"]]["name"], "pick_up_point": place}
            selected.append({**one, **names, "next_box": min(days, default=None)})
    return {"success": True, "data": selected}

def list_deliveries(
    self, subscription_id: str, delivery_on: str | None = None, changeable: bool | None = None
) -> dict:
    """List the deliveries of a subscription by date.

    Args:
        subscription_id: Id of the subscription.
        delivery_on: Only the one on this date, as YYYY-MM-DD. Leave out for all.
        changeable: True for only those that can still be changed, False for the others. Leave out for all.

    Returns:
        The deliveries, each with whether it is `changeable`, or an error.
    """
    refuse if subscription_id not in self.subscriptions :: There is no subscription with the id {subscription_id!r}.
    refuse if delivery_on is not None and not self._is_date(delivery_on) :: {delivery_on!r} is not a date as YYYY-MM-DD.
    open_ones = {delivery["delivery_id"] for delivery in self._changeable(subscription_id)}
    listed = [
        {**delivery, "changeable": key in open_ones}
        for key, delivery in self.deliveries.items()
        if delivery["subscription_id"] == subscription_id
        and delivery_on in (None, delivery["delivery_on"])
        and changeable in (None, key in open_ones)
    ]
    return {"success": True, "data": sorted(listed, key=lambda delivery: delivery["delivery_on"])}

def make_packing_list(self, day: str) -> dict:
    """Add up what has to be packed for a day, pick-up point by pick-up point.

    Args:
        day: The day, as YYYY-MM-DD.

    Returns:
        For each pick-up point with boxes that day the number of each box and of each extra.
    """
    refuse if not self._is_date(day) :: {day!r} is not a date as YYYY-MM-DD.
    sheets: dict[str, dict] = {}
    for delivery in self.deliveries.values():
        if delivery["delivery_on"] == day and delivery["status"] == "planned":
            point_id = self.subscriptions[delivery["subscription_id"]]["pick_up_point_id"]
            name = self.pick_up_points[point_id]["name"]
            sheet = sheets.setdefault(name, {"pick_up_point": name, "boxes": {}, "extras": {}})
            box = self.boxes[delivery["box_id"]]["name"]
            sheet["boxes"][box] = sheet["boxes"].get(box, 0) + 1
            for extra in (<<quoted(added)>>):
                if delivery[extra]:
                    sheet["extras"][extra] = sheet["extras"].get(extra, 0) + delivery[extra]
    return {"success": True, "data": [sheets[name] for name in sorted(sheets)]}

def quote_box_change(self, subscription_id: str, box_id: str) -> dict:
    """Tell what a change of box would cost for the deliveries that can still be changed, without changing anything.

    Args:
        subscription_id: Id of the subscription.
        box_id: Id of the other box.

    Returns:
        The number of `deliveries`, and what would be charged as `amount`, below 0 for money back; or an error.
    """
    one, box = self.subscriptions.get(subscription_id), self.boxes.get(box_id)
    refuse if one is None :: There is no subscription with the id {subscription_id!r}.
    refuse if box is None :: There is no box with the id {box_id!r}.
    count = len(self._changeable(subscription_id))
    amount = round(count * (box["price"] - self.boxes[one["box_id"]]["price"]), 2)
    return {"success": True, "data": {"deliveries": count, "amount": amount}}

def show_account(self, member_id: str) -> dict:
    """Show the account entries of a member with the balance after each.

    Args:
        member_id: Id of the member.

    Returns:
        The account entries by date, each with the `balance` after it, or an error.
    """
    refuse if member_id not in self.members :: There is no member with the id {member_id!r}.
    mine = [entry for entry in self.account_entries.values() if entry["member_id"] == member_id]
    statement, balance = [], 0.0
    for entry in sorted(mine, key=lambda one: (one["made_on"], one["account_entry_id"])):
        balance = round(balance + entry["amount"], 2)
        statement.append({**entry, "balance": balance})
    return {"success": True, "data": statement}

def list_debtors(self) -> dict:
    """List members whose credit is below 0, those who owe most first.

    Returns:
        The members, each with what is `owed` and whether their deliveries `may_stop` for it.
    """
    owing = [
        {**member, "owed": -member["credit"], "may_stop": member["credit"] < -<<s.debt>>}
        for member in self.members.values()
        if member["credit"] < 0
    ]
    return {"success": True, "data": sorted(owing, key=lambda member: (member["credit"], member["member_id"]))}
'''

    WRITES = '''
<% macro known(name, table) %>
    <<name>> = self.<<table>>.get(<<name>>_id)
    refuse if <<name>> is None :: There is no <<name>> with the id {<<name>>_id!r}.
<%- endmacro %>
def start_subscription(
    self, member_id: str, box_id: str, pick_up_point_id: str, every_weeks: int
) -> dict:
    """Start a subscription, for which nothing is planned yet.

    Args:
        member_id: Id of a member without debt and with no more than one subscription that is not cancelled.
        box_id: Id of the box.
        pick_up_point_id: Id of the pick-up point.
        every_weeks: A box comes every so many weeks, 1 to 4.

    Returns:
        The new subscription, or an error.
    """
    member, point = self.members.get(member_id), self.pick_up_points.get(pick_up_point_id)
    refuse if member is None :: There is no member with the id {member_id!r}.
    refuse if box_id not in self.boxes :: There is no box with the id {box_id!r}.
    refuse if point is None :: There is no pick-up point with the id {pick_up_point_id!r}.
    refuse if every_weeks < 1 or every_weeks > 4 :: A box comes every 1 to 4 weeks.
    mine = [one for one in self.subscriptions.values() if one["member_id"] == member_id]
    going_on = sum(one["status"] != "cancelled" for one in mine)
    refuse if going_on > 1 :: {member['name']} has {going_on} subscriptions.
    refuse if member["credit"] < 0 :: {member['name']} owes {-member['credit']:.2f}.
    subscription: Subscription = {
        "subscription_id": self._next_id(self.subscriptions, "SUB"),
        "member_id": member_id,
        "box_id": box_id,
        "pick_up_point_id": pick_up_point_id,
        "every_weeks": every_weeks,
        "status": "active",
        "paused_until": "",
        "ends_on": "",
    }
    self.subscriptions[subscription["subscription_id"]] = subscription
    done dict(subscription) :: {member['name']} gets boxes at {point['name']}.

def plan_delivery(self, subscription_id: str) -> dict:
    """Plan the next delivery of a subscription in its rhythm, and charge it.

    Args:
        subscription_id: Id of the subscription, which must be active; its member must have no debt.

    Returns:
        The new delivery, or an error when the pick-up point has no space that day.
    """
<<known("subscription", "subscriptions")>>
    refuse if subscription["status"] != "active" :: It is {subscription['status']}.
    member, box = self.members[subscription["member_id"]], self.boxes[subscription["box_id"]]
    refuse if member["credit"] < 0 :: {member['name']} owes {-member['credit']:.2f}.
    day, point = self._next_day(subscription), self.pick_up_points[subscription["pick_up_point_id"]]
    if self._boxes_at(point["pick_up_point_id"], day) >= point["spaces"]:
        refuse :: {point['name']} has no space on {day}.
    delivery: Delivery = {
        "delivery_id": self._next_id(self.deliveries, "DEL"),
        "subscription_id": subscription_id,
        "box_id": subscription["box_id"],
        "delivery_on": day,
%% for x in added
        "<<x>>": 0,
%% endfor
        "total_price": box["price"],
        "status": "planned",
    }
    self.deliveries[delivery["delivery_id"]] = delivery
    self._account(subscription["member_id"], -box["price"], f"{box['name']} for {day}")
    done dict(delivery) :: The {box['name']} of {member['name']} comes on {day}.

def skip_delivery(self, delivery_id: str) -> dict:
    """Skip one delivery; its price goes back to the credit.

    Args:
        delivery_id: Id of a planned delivery, <<s.deadline>> days ahead or more.

    Returns:
        The skipped delivery, or an error.
    """
<<known("delivery", "deliveries")>>
    refuse if delivery["status"] != "planned" :: It is {delivery['status']}.
    if delivery not in self._changeable(delivery["subscription_id"]):
        refuse :: It is too late to skip the delivery of {delivery['delivery_on']}.
    subscription = self.subscriptions[delivery["subscription_id"]]
    self._drop(subscription, [delivery], f"skipped {delivery['delivery_on']}")
    done dict(delivery) :: The delivery of {delivery['delivery_on']} is skipped.

def pause_subscription(self, subscription_id: str, until: str) -> dict:
    """Pause a subscription; deliveries in the pause are skipped and paid back, but for those too close.

    Args:
        subscription_id: Id of the subscription, which must be active.
        until: Last day of the pause as YYYY-MM-DD, after today and within 90 days.

    Returns:
        The subscription and the deliveries skipped, or an error.
    """
<<known("subscription", "subscriptions")>>
    refuse if subscription["status"] != "active" :: It is {subscription['status']}.
    latest = (date.fromisoformat(self.today) + timedelta(days=90)).isoformat()
    if not self._is_date(until) or not self.today < until <= latest:
        refuse :: A pause ends after today and not after {latest}.
    inside = [delivery for delivery in self._changeable(subscription_id) if delivery["delivery_on"] <= until]
    skipped = self._drop(subscription, inside, f"paused until {until}")
    subscription["status"] = "paused"
    subscription["paused_until"] = until
    done {"subscription": dict(subscription), "skipped": skipped} :: {len(skipped)} deliveries are skipped.

def resume_subscription(self, subscription_id: str) -> dict:
    """End a pause, or a hold once nothing is owed any more.

    Args:
        subscription_id: Id of a subscription that is paused or on hold; its member must have no debt.

    Returns:
        The subscription, active again, or an error.
    """
<<known("subscription", "subscriptions")>>
    refuse if subscription["status"] not in ("paused", "on_hold") :: It is {subscription['status']}.
    member = self.members[subscription["member_id"]]
    refuse if member["credit"] < 0 :: {member['name']} owes {-member['credit']:.2f}.
    subscription["status"] = "active"
    subscription["paused_until"] = ""
    done dict(subscription) :: The boxes of {member['name']} can be planned again.

def change_box(self, subscription_id: str, box_id: str) -> dict:
    """Change to another box for all deliveries that can still be changed, and settle the difference in price.

    Args:
        subscription_id: Id of the subscription, which must be active.
        box_id: Id of another box.

    Returns:
        The subscription, the changed deliveries and what was `charged`, below 0 for money back; or an error.
    """
<<known("subscription", "subscriptions")>>
<<known("box", "boxes")>>
    refuse if subscription["status"] != "active" :: It is {subscription['status']}.
    refuse if subscription["box_id"] == box_id :: It is the {box['name']} already.
    difference = round(box["price"] - self.boxes[subscription["box_id"]]["price"], 2)
    coming = self._changeable(subscription_id)
    for delivery in coming:
        delivery["box_id"] = box_id
        delivery["total_price"] = round(delivery["total_price"] + difference, 2)
    subscription["box_id"] = box_id
    charged = round(difference * len(coming), 2)
    if charged:
        self._account(subscription["member_id"], -charged, f"{len(coming)} deliveries changed to {box['name']}")
    data = {"subscription": dict(subscription), "deliveries": [dict(one) for one in coming], "charged": charged}
    done data :: {len(coming)} deliveries are {box['name']} now.

def order_extra(self, delivery_id: str, extra: str, number: int) -> dict:
    """Add something to one delivery and charge it.

    Args:
        delivery_id: Id of a planned delivery, <<s.deadline>> days ahead or more.
        extra: What to add: <<added|join(", ")>>.
        number: How many: at least 1; a delivery takes no more than 9 of each.

    Returns:
        The delivery with its new price, or an error.
    """
<<known("delivery", "deliveries")>>
    prices = {<<extra_prices>>}
    refuse if extra not in prices :: There is no extra {extra!r}.
    refuse if number < 1 or delivery[extra] + number > 9 :: A delivery takes 1 to 9 of an extra.
    if delivery not in self._changeable(delivery["subscription_id"]):
        refuse :: Nothing can be added to the delivery of {delivery['delivery_on']} any more.
    cost = round(number * prices[extra], 2)
    delivery[extra] += number
    delivery["total_price"] = round(delivery["total_price"] + cost, 2)
    member_id = self.subscriptions[delivery["subscription_id"]]["member_id"]
    self._account(member_id, -cost, f"{number} {extra} for {delivery['delivery_on']}")
    done dict(delivery) :: {number} {extra} added for {cost:.2f}.

def move_subscription(self, subscription_id: str, pick_up_point_id: str) -> dict:
    """Let the boxes of a subscription be fetched at another pick-up point of the same day of the week.

    Args:
        subscription_id: Id of an active subscription, the next delivery of which can still be changed.
        pick_up_point_id: Id of another pick-up point of the same weekday, with space on each day planned.

    Returns:
        The changed subscription, or an error.
    """
<<known("subscription", "subscriptions")>>
    old = self.pick_up_points[subscription["pick_up_point_id"]]
    new = self.pick_up_points.get(pick_up_point_id)
    refuse if new is None :: There is no pick-up point with the id {pick_up_point_id!r}.
    refuse if subscription["status"] != "active" :: It is {subscription['status']}.
    refuse if new is old or new["weekday"] != old["weekday"] :: It must be another point with boxes on {old['weekday']}.
    planned = [
        delivery
        for delivery in self.deliveries.values()
        if delivery["subscription_id"] == subscription_id and delivery["status"] == "planned"
    ]
    refuse if len(planned) > len(self._changeable(subscription_id)) :: The next box is packed already.
    for delivery in planned:
        if self._boxes_at(pick_up_point_id, delivery["delivery_on"]) >= new["spaces"]:
            refuse :: {new['name']} has no space on {delivery['delivery_on']}.
    subscription["pick_up_point_id"] = pick_up_point_id
    done dict(subscription) :: The boxes come to {new['name']} now.

def cancel_subscription(self, subscription_id: str) -> dict:
    """Cancel a subscription with <<s.notice>> days' notice; later deliveries are skipped and paid back.

    Args:
        subscription_id: Id of a subscription that is not cancelled.

    Returns:
        The subscription and the deliveries skipped, or an error.
    """
<<known("subscription", "subscriptions")>>
    refuse if subscription["status"] == "cancelled" :: It ends on {subscription['ends_on']}.
    ends_on = (date.fromisoformat(self.today) + timedelta(days=<<s.notice>>)).isoformat()
    beyond = [delivery for delivery in self._changeable(subscription_id) if delivery["delivery_on"] > ends_on]
    skipped = self._drop(subscription, beyond, f"cancelled for {ends_on}")
    subscription.update(status="cancelled", paused_until="", ends_on=ends_on)
    done {"subscription": dict(subscription), "skipped": skipped} :: It ends on {ends_on}.

def hold_subscription(self, subscription_id: str) -> dict:
    """Stop the deliveries of a member who owes more than <<s.debt>> euros.

    Args:
        subscription_id: Id of the subscription, which must be active.

    Returns:
        The subscription and the deliveries skipped, or an error.
    """
<<known("subscription", "subscriptions")>>
    refuse if subscription["status"] != "active" :: It is {subscription['status']}.
    member = self.members[subscription["member_id"]]
    refuse if member["credit"] >= -<<s.debt>> :: {member['name']} does not owe more than <<s.debt>> euros.
    skipped = self._drop(subscription, self._changeable(subscription_id), "on hold for debt")
    subscription["status"] = "on_hold"
    data = {"subscription": dict(subscription), "skipped": skipped}
    done data :: {member['name']} gets no more boxes until the debt is paid.

def record_payment(self, member_id: str, amount: float) -> dict:
    """Put a payment on the credit of a member.

    Args:
        member_id: Id of the member.
        amount: Euros paid, above 0 and at most 500.

    Returns:
        The member with the new credit, or an error.
    """
<<known("member", "members")>>
    refuse if not 0 < amount <= 500 :: A payment is above 0 and at most 500 euros.
    self._account(member_id, amount, "payment")
    done dict(member) :: The credit of {member['name']} is {member['credit']:.2f} now.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, goal = v.s, BoxGoal(v, [])
        for n, (name, (price, feeds)) in enumerate(s.boxes.items()):
            key = key_of("BOX", n + 1)
            state["boxes"][key] = {"box_id": key, "name": name, "price": price, "feeds": feeds}
        for n, (name, weekday) in enumerate(s.points.items()):
            key, spaces = key_of("PNT", n + 1), int(rng.integers(3, 7))
            state["pick_up_points"][key] = {
                "pick_up_point_id": key,
                "name": name,
                "weekday": weekday,
                "spaces": spaces,
            }
        left: dict[str, float] = {}
        statuses = ["active"] * 6 + shuffled(rng, ["active", "active", "paused", "on_hold", "cancelled"])
        for n, name in enumerate(names.people(rng, 13)):
            key = key_of("MEM", n + 1)
            member = {"member_id": key, "name": name, "phone": names.phone(rng), "credit": 0.0}
            state["members"][key] = member
            status = statuses[n] if n < len(statuses) else ""
            paid = float(rng.integers(4, 16)) * 10
            if status == "on_hold" or n < 2:
                paid = -float(rng.integers(5, 10)) * 5 + n
            left[key] = paid
            if status:
                self._subscribe(goal, state, rng, member, status)
        for delivery in shuffled(rng, list(state["deliveries"].values()))[:5]:
            extra = pick(rng, v.added)
            delivery[extra] += int(rng.integers(1, 4))
            delivery["total_price"] = round(delivery["total_price"] + delivery[extra] * s.additions[extra], 2)
        self._accounts(state, rng, left)

    def _accounts(self, state: State, rng: Rng, left: dict[str, float]) -> None:
        """The charge of each subscription's deliveries, and payments that leave members with these credits."""
        entries: list[tuple[int, str, float, str]] = []
        costs = dict.fromkeys(left, 0.0)
        for one in state["subscriptions"].values():
            mine = [x for x in state["deliveries"].values() if x["subscription_id"] == one["subscription_id"]]
            if mine:
                days = sorted(x["delivery_on"] for x in mine)
                ahead = (date.fromisoformat(days[0]) - date.fromisoformat(state["today"])).days
                key, cost = one["member_id"], sum(x["total_price"] for x in mine)
                costs[key] += cost
                reason = f"{len(days)} deliveries up to" if days[1:] else "delivery of"
                entries.append((min(-4, ahead - 14), key, -cost, f"{reason} {days[-1]}"))
        for key, amount in left.items():
            if amount < 0:
                entries.append((-int(rng.integers(1, 4)), key, amount, "returned direct debit"))
            if opening := costs[key] + max(0.0, amount):
                entries.append((-int(rng.integers(30, 60)), key, opening, "payment"))
        for day, key, amount, reason in sorted(entries):
            self._entry(state, state["members"][key], round(amount, 2), reason, day)

    def _entry(self, state: State, member: Row, amount: float, reason: str, day: int) -> None:
        """A change of a credit, so many days from today."""
        key = key_of("ACC", len(state["account_entries"]) + 1)
        row = {"account_entry_id": key, "member_id": member["member_id"], "amount": amount}
        state["account_entries"][key] = {**row, "reason": reason, "made_on": later(state["today"], day)}
        member["credit"] = round(member["credit"] + amount, 2)

    def _subscribe(self, goal: BoxGoal, state: State, rng: Rng, member: Row, status: str) -> None:
        """A subscription with what it has planned."""
        today, key = state["today"], key_of("SUB", len(state["subscriptions"]) + 1)
        box, points = (
            pick(rng, list(state["boxes"].values())),
            shuffled(rng, list(state["pick_up_points"].values())),
        )
        weeks, ends = int(rng.integers(1, 3)), later(today, -int(rng.integers(3, 30)))
        days = [later(today, 1 + n) for n in range(7)]
        for point in points:
            first = next(x for x in days if WEEKDAYS[date.fromisoformat(x).weekday()] == point["weekday"])
            coming = [later(first, 7 * weeks * n) for n in range(2 if weeks == 1 else 3)]
            if all(goal.boxes_at(point, x, state) < point["spaces"] for x in coming):
                break
        else:
            return
        row = {"subscription_id": key, "member_id": member["member_id"], "box_id": box["box_id"]}
        state["subscriptions"][key] = {
            **row,
            "pick_up_point_id": point["pick_up_point_id"],
            "every_weeks": weeks,
            "status": status,
            "paused_until": later(today, int(rng.integers(5, 30))) if status == "paused" else "",
            "ends_on": ends if status == "cancelled" else "",
        }
        last = later(first, -7 * weeks)
        past = [last] if rng.random() < 0.3 and (status != "cancelled" or last <= ends) else []
        for day in [*past, *(coming if status == "active" else [])]:
            number = key_of("DEL", len(state["deliveries"]) + 1)
            state["deliveries"][number] = {
                "delivery_id": number,
                "subscription_id": key,
                "box_id": box["box_id"],
                "delivery_on": day,
                **dict.fromkeys(goal.v.added, 0),
                "total_price": box["price"],
                "status": "delivered" if day <= today else "planned",
            }


PATTERN = Subscriptions
