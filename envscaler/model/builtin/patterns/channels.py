"""Channels: people who write to each other in channels, mention each other, and stand in for whoever is away."""

from collections.abc import Iterable
from contextlib import suppress
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
    call,
    either,
    found,
    in_own_words,
    named,
    only,
    pick,
    shuffled,
)
from envscaler.model.builtin.patterns._snippets import first_fitting, put, table_of
from envscaler.model.builtin.patterns.booking import later
from envscaler.model.builtin.phrase import Slots

Row = dict[str, Any]


class ChannelSettings(Settings):
    """A workspace's data."""

    teams: list[str]
    """Teams that staff work in."""
    channels: dict[str, str]
    """Name of a channel → what it is for."""
    fresh: dict[str, str]
    """The same for channels that are yet to be opened."""
    posts: list[str]
    """What people write."""
    replies: list[str]
    """What people answer."""
    reactions: list[str]
    """Names of the reactions."""
    max_pins: int = 2
    """Most pinned messages of a channel."""


class Chat(Goal):
    """What goals about people and channels share."""

    def who(self, name: str, state: State) -> str:
        """The id of a person."""
        return str(named(state, self.v.person, name)["person_id"])

    def room(self, name: str, state: State) -> str:
        """The id of a channel that is open."""
        row = named(state, self.v.channel, name)
        if row["status"] != "open":
            raise LookupError(f"{name} is archived")
        return str(row["channel_id"])

    def place(self, channel: str, person: str, state: State, *roles: str) -> Row:
        """The membership of somebody who is in a channel, in one of these roles."""
        rows = [
            m for m in state["memberships"].values() if (m["channel_id"], m["person_id"]) == (channel, person)
        ]
        return only([m for m in rows if m["active"] and m["role"] in (roles or ("member", "manager"))])

    def latest(self, state: State, channel: str, **wanted: Any) -> str:
        """The id of the newest message in a channel that has these values."""
        for key, row in sorted(state["messages"].items(), reverse=True):
            if row["channel_id"] == channel and all(row[name] == value for name, value in wanted.items()):
                return str(key)
        raise LookupError("there is no such message")

    def seats(self, state: State, rng: Rng, *roles: str) -> list[tuple[str, str]]:
        """Names of open channels and of who is in them, in a random order."""
        rows = [
            m for m in state["memberships"].values() if m["active"] and m["role"] in (roles or (m["role"],))
        ]
        seats = [
            (state["channels"][m["channel_id"]], state["people"][m["person_id"]]) for m in shuffled(rng, rows)
        ]
        return [(channel["name"], one["name"]) for channel, one in seats if channel["status"] == "open"]

    def pairs(self, state: State, rng: Rng, *roles: str) -> list[Slots]:
        """Two people of one channel, the first of one of these roles."""
        first, all_ = self.seats(state, rng, *roles), self.seats(state, rng)
        return [{"channel": c, "name": a, "other": b} for c, a in first for d, b in all_ if c == d and a != b]

    def written(self, channel: str, slots: Slots, state: State, thread: str | None) -> Added:
        """A new message says so."""
        fields: Row = {
            "channel_id": channel,
            "author_id": self.who(slots["name"], state),
            "thread_id": thread,
        }
        fields |= {"text": slots["text"], "sent_on": state["today"], "pinned": False}
        item = f"Has the wanted {'reply' if thread else 'message'} of {slots['name']} been written?"
        return Added("messages", {**fields, "reply_count": 0, "reactions": {}}, item)

    def settled(self, state: State, status: str, mentions: Iterable[Row]) -> list[Outcome]:
        """These mentions have come to this."""
        return [
            Changed(
                "mentions", m["mention_id"], {"status": status}, f"Is the mention {m['mention_id']} {status}?"
            )
            for m in mentions
        ]

    def open_mentions(self, state: State, person: str | None = None, channel: str | None = None) -> list[Row]:
        """What is open, of a person, in a channel."""
        rows = [
            m
            for m in state["mentions"].values()
            if m["status"] == "open" and person in (None, m["called_id"])
        ]
        return [m for m in rows if channel in (None, state["messages"][m["message_id"]]["channel_id"])]


def look(*people: str, channel: str = "") -> list[Row]:
    """The calls that find a channel, if one is named, and people."""
    first = [call("find_channels", words=channel)] if channel else []
    return [*first, *(call("find_people", name=name) for name in people)]


def person(index: int) -> Row:
    """The person whom that call found."""
    return found(index, 0, "person_id")


CHANNEL = found(0, 0, "channel_id")
"""The channel that the first call found."""


class Post(Chat):
    """Write to a channel and mention somebody."""

    phrases = (
        'Write "{text:text}" in the channel {channel:name} in the name of {name:name}, and mention {other:name}.',
        'In the channel {channel:name}, post this in the name of {name:name}, mentioning {other:name}: "{text:text}".',
    )
    needs = ("find_channels", "find_people", "post_message")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        text = pick(rng, self.v.s.posts)
        return first_fitting(
            self, ({**pair, "text": text} for pair in shuffled(rng, self.pairs(state, rng))), state
        )

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"channel_id": CHANNEL, "author_id": person(1), "mention_person_id": person(2)}
        calls = look(slots["name"], slots["other"], channel=slots["channel"])
        return [*calls, call("post_message", **ends, text=slots["text"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        channel, author = self.room(slots["channel"], state), self.who(slots["name"], state)
        other = state["people"][self.who(slots["other"], state)]
        if self.place(channel, author, state) is self.place(channel, other["person_id"], state):
            raise LookupError("nobody mentions themselves")
        fields = {
            "called_id": other["person_id"],
            "on_behalf_of_id": None,
            "status": "open",
            "made_on": state["today"],
        }
        wanted: list[Outcome] = [Added("mentions", fields, f"Has {slots['other']} been mentioned in it?")]
        with suppress(LookupError):
            cover = self.place(channel, other["covered_by_id"], state)["person_id"]
            if cover == author:
                raise LookupError("the cover wrote it")
            fields = {**fields, "called_id": cover, "on_behalf_of_id": other["person_id"]}
            wanted.append(
                Added("mentions", fields, f"Has the cover of {slots['other']} been mentioned as well?")
            )
        return [self.written(channel, slots, state, None), *wanted]


class Answer(Chat):
    """Answer what has waited longest."""

    phrases = (
        'In the name of {name:name}, answer the mention that has been open longest for that person with "{text:text}".',
        'On behalf of {name:name}, reply "{text:text}" to the mention that has been open longest for that person.',
    )
    needs = ("find_people", "list_mentions", "reply_to_message")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows, text = shuffled(rng, list(state["people"].values())), pick(rng, self.v.s.replies)
        return first_fitting(self, ({"name": row["name"], "text": text} for row in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"to_message_id": found(1, 0, "message_id"), "author_id": person(0), "text": slots["text"]}
        waiting = call("list_mentions", person_id=person(0), status="open")
        return [*look(slots["name"]), waiting, call("reply_to_message", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        author = self.who(slots["name"], state)
        mine = self.open_mentions(state, author)
        if not mine:
            raise LookupError("nothing is open")
        first = state["messages"][mine[0]["message_id"]]
        thread, channel = first["thread_id"] or first["message_id"], state["channels"][first["channel_id"]]
        self.place(self.room(channel["name"], state), author, state)
        inside = {key for key, m in state["messages"].items() if thread in (key, m["thread_id"])}
        count = {"reply_count": state["messages"][thread]["reply_count"] + 1}
        return [
            self.written(channel["channel_id"], slots, state, thread),
            Changed("messages", thread, count, f"Has the message {thread} got one reply more?"),
            *self.settled(state, "answered", [m for m in mine if m["message_id"] in inside]),
        ]


AnswerInOwnWords = in_own_words(
    Answer,
    "text",
    "Answer the oldest open mention of {name:name} on that person's behalf, as you think fit.",
    "The mention that {name:name} has left open longest needs a reply on that person's behalf; word it as you like.",
)


class SwapPin(Chat):
    """Pin somebody's latest message in place of another."""

    phrases = (
        "As {name:name}, who manages the channel {channel:name}, pin the latest message of {other:name} there in place "
        "of the newest one that is pinned.",
        "In the channel {channel:name} the manager {name:name} wants the latest message of {other:name} pinned, and "
        "the newest of the pinned ones unpinned for it.",
    )
    needs = ("find_channels", "find_people", "list_messages", "pin_message")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return first_fitting(self, shuffled(rng, self.pairs(state, rng, "manager")), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"message_id": found(4, 0, "message_id"), "replaces_id": found(3, 0, "message_id")}
        return [
            *look(slots["name"], slots["other"], channel=slots["channel"]),
            call("list_messages", channel_id=CHANNEL, pinned=True),
            call("list_messages", channel_id=CHANNEL, author_id=person(2)),
            call("pin_message", **ends, person_id=person(1)),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        channel, other = self.room(slots["channel"], state), self.who(slots["other"], state)
        self.place(channel, self.who(slots["name"], state), state, "manager")
        old, new = self.latest(state, channel, pinned=True), self.latest(state, channel, author_id=other)
        if state["messages"][new]["pinned"]:
            raise LookupError("it is pinned already")
        item, also = (
            f"Is the latest message of {slots['other']} in {slots['channel']} pinned?",
            (channel, other),
        )
        return [
            Changed("messages", new, {"pinned": True}, item, also),
            Changed("messages", old, {"pinned": False}, f"Is the message {old} no longer pinned?"),
        ]


class Open(Chat):
    """Open a channel for a whole team."""

    phrases = (
        "Open a private channel called {channel:name} for {purpose:name}, managed by {name:name}, and bring in "
        "all staff of the team {team:name}.",
        "{name:name} is going to manage a new private channel for {purpose:name} with the name {channel:name}; add "
        "all staff of the team {team:name} to it.",
    )
    needs = ("find_people", "create_channel", "add_people")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows, channel = shuffled(rng, list(state["people"].values())), pick(rng, list(self.v.s.fresh))
        slots = {"channel": channel, "purpose": self.v.s.fresh[channel], "team": pick(rng, self.v.s.teams)}
        return first_fitting(self, ({**slots, "name": row["name"]} for row in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        given = {"name": slots["channel"], "visibility": "private", "purpose": slots["purpose"]}
        return [
            *look(slots["name"]),
            call("create_channel", **given, person_id=person(0)),
            call("add_people", channel_id=found(1, "channel_id"), asked_by_id=person(0), team=slots["team"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        owner = self.who(slots["name"], state)
        staff = {key: p["name"] for key, p in state["people"].items() if p["kind"] == "staff"}
        team = [key for key in staff if state["people"][key]["team"] == slots["team"] and key != owner]
        taken = any(row["name"] == slots["channel"] for row in state["channels"].values())
        if owner not in staff or not team or taken:
            raise LookupError("it cannot be opened so")
        given = {"name": slots["channel"], "purpose": slots["purpose"], "created_on": state["today"]}
        fields, blank = (
            {**given, "visibility": "private", "status": "open"},
            {"active": True, "read_through_id": None},
        )
        return [
            Added("channels", fields, f"Has the private channel {slots['channel']} been opened?"),
            *(
                Added(
                    "memberships",
                    {"person_id": key, "role": "manager" if key == owner else "member", **blank},
                    f"Has {staff[key]} been brought in as {'manager' if key == owner else 'member'} of a new channel?",
                )
                for key in [owner, *team]
            ),
        ]


class ArchiveQuietest(Chat):
    """Archive the channel that is longest without a message."""

    phrases = (
        "Of the channels that nobody has written in since {since:date}, archive the one that has been quiet longest.",
        "Please archive one channel in the name of who manages it: the one that is longest without a message of those "
        "that have had none since {since:date}.",
    )
    needs = ("list_quiet_channels", "archive_channel")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"since": later(state["today"], -int(rng.integers(20, 45)))}

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"channel_id": CHANNEL, "person_id": found(0, 0, "managers", 0)}
        return [call("list_quiet_channels", since=slots["since"]), call("archive_channel", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        last = {key: row["created_on"] for key, row in state["channels"].items() if row["status"] == "open"}
        for m in state["messages"].values():
            if m["channel_id"] in last:
                last[m["channel_id"]] = max(last[m["channel_id"]], m["sent_on"])
        first = min(last.values())
        channel = only([key for key, day in last.items() if day == first < slots["since"]])
        item = f"Is the channel {state['channels'][channel]['name']} archived?"
        inside = tuple(m["person_id"] for m in state["memberships"].values() if m["channel_id"] == channel)
        return [
            Changed("channels", channel, {"status": "archived"}, item, ("quiet channels", *inside[:1])),
            *self.settled(state, "closed", self.open_mentions(state, channel=channel)),
        ]


class Away(Chat):
    """Somebody goes away, and whoever shares most channels covers."""

    phrases = (
        "Set {name:name} to away until {until:date}, covered by whoever shares the most channels with that person.",
        "{name:name} will be away until {until:date}, and whoever has most channels in common steps in.",
    )
    needs = ("find_people", "suggest_cover", "set_away")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        until, rows = (
            later(state["today"], int(rng.integers(3, 40))),
            shuffled(rng, list(state["people"].values())),
        )
        return first_fitting(self, ({"name": row["name"], "until": until} for row in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"person_id": person(0), "until": slots["until"], "cover_id": found(1, 0, "cover_id")}
        return [*look(slots["name"]), call("suggest_cover", person_id=person(0)), call("set_away", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, all_ = self.who(slots["name"], state), state["people"]
        covers = {row["covered_by_id"] for row in all_.values()}
        rooms: dict[str, set[str]] = {key: set() for key in all_}
        for m in state["memberships"].values():
            if m["active"] and state["channels"][m["channel_id"]]["status"] == "open":
                rooms[m["person_id"]].add(m["channel_id"])
        free = [
            key for key, p in all_.items() if p["kind"] == "staff" and p["status"] != "away" and key != one
        ]
        shared = {key: len(rooms[key] & rooms[one]) for key in free}
        if all_[one]["status"] == "away" or one in covers or not max(shared.values(), default=0):
            raise LookupError("that person cannot go away so")
        cover = only([key for key, count in shared.items() if count == max(shared.values())])
        fields = {"status": "away", "away_until": slots["until"], "covered_by_id": cover}
        passed = [m for m in self.open_mentions(state, one) if m["on_behalf_of_id"] is None]
        passed = [m for m in passed if state["messages"][m["message_id"]]["channel_id"] in rooms[cover]]
        passed = [m for m in passed if state["messages"][m["message_id"]]["author_id"] != cover]
        new = {"called_id": cover, "on_behalf_of_id": one, "status": "open", "made_on": state["today"]}
        item = f"Is {slots['name']} away until {slots['until']}, covered by {all_[cover]['name']}?"
        return [
            Changed("people", one, fields, item),
            *(
                Added(
                    "mentions",
                    {"message_id": m["message_id"], **new},
                    f"Has {m['mention_id']} been passed on?",
                )
                for m in passed
            ),
        ]


class Back(Chat):
    """Somebody is back."""

    phrases = (
        "{name:name} is back at work sooner than planned, so end that absence and what the cover has open for it.",
        "The absence of {name:name} is over; please put that on record.",
    )
    needs = ("find_people", "come_back")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = shuffled(rng, list(state["people"].values()))
        return first_fitting(self, ({"name": row["name"]} for row in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        return [*look(slots["name"]), call("come_back", person_id=person(0))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.who(slots["name"], state)
        if state["people"][one]["status"] != "away":
            raise LookupError("that person is here")
        fields = {"status": "available", "away_until": None, "covered_by_id": None}
        also = (state["people"][one]["covered_by_id"],)
        held = [m for m in self.open_mentions(state) if m["on_behalf_of_id"] == one]
        return [
            Changed("people", one, fields, f"Is {slots['name']} available again?", also),
            *self.settled(state, "closed", held),
        ]


class HandOver(Chat):
    """Another manager for a channel."""

    phrases = (
        "{name:name} hands the channel {channel:name} over to {other:name}, who manages it from now on.",
        "Please make {other:name} manager of the channel {channel:name} in place of {name:name}.",
    )
    needs = ("find_channels", "find_people", "hand_over_channel")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return first_fitting(self, shuffled(rng, self.pairs(state, rng, "manager")), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"channel_id": CHANNEL, "manager_id": person(1), "successor_id": person(2)}
        calls = look(slots["name"], slots["other"], channel=slots["channel"])
        return [*calls, call("hand_over_channel", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        channel, other = self.room(slots["channel"], state), self.who(slots["other"], state)
        old = self.place(channel, self.who(slots["name"], state), state, "manager")
        new = self.place(channel, other, state, "member")
        if state["people"][other]["kind"] != "staff":
            raise LookupError("guests do not manage")
        item, where = "Is {} {} in {}?", slots["channel"]
        return [
            Changed(
                "memberships",
                row["membership_id"],
                {"role": role},
                item.format(name, role, where),
                (channel, row["person_id"]),
            )
            for row, role, name in ((old, "member", slots["name"]), (new, "manager", slots["other"]))
        ]


class CatchUp(Chat):
    """The fullest channel has been read."""

    phrases = (
        "{name:name} has caught up with the channel that had the most unread messages, so mark it as read.",
        "For {name:name}, mark the channel with the most unread messages as read.",
    )
    needs = ("find_people", "count_unread", "mark_read")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = shuffled(rng, list(state["people"].values()))
        return first_fitting(self, ({"name": row["name"]} for row in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"channel_id": found(1, 0, "channel_id"), "person_id": person(0)}
        return [*look(slots["name"]), call("count_unread", person_id=person(0)), call("mark_read", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.who(slots["name"], state)
        unread = {
            key: sum(
                m["channel_id"] == place["channel_id"]
                and m["author_id"] != one
                and number > (place["read_through_id"] or "")
                for number, m in state["messages"].items()
            )
            for key, place in state["memberships"].items()
            if place["active"]
            and place["person_id"] == one
            and state["channels"][place["channel_id"]]["status"] == "open"
        }
        most = max(unread.values(), default=0)
        place = only([key for key, count in unread.items() if count == most > 0])
        channel = state["memberships"][place]["channel_id"]
        item = f"Is {state['channels'][channel]['name']} read to its end for {slots['name']}?"
        return [
            Changed(
                "memberships", place, {"read_through_id": self.latest(state, channel)}, item, (channel, one)
            )
        ]


class React(Chat):
    """A reaction to somebody's latest message."""

    phrases = (
        "In the channel {channel:name}, react for {name:name} to the latest message of {other:name} with "
        "{reaction:name}.",
        "{name:name} wants to answer the latest message of {other:name} in the channel {channel:name} with the "
        "reaction {reaction:name}.",
    )
    needs = ("find_channels", "find_people", "list_messages", "react")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        reaction = pick(rng, self.v.s.reactions)
        pairs = shuffled(rng, self.pairs(state, rng))
        return first_fitting(self, ({**pair, "reaction": reaction} for pair in pairs), state)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"message_id": found(3, 0, "message_id"), "person_id": person(1)}
        return [
            *look(slots["name"], slots["other"], channel=slots["channel"]),
            call("list_messages", channel_id=CHANNEL, author_id=person(2)),
            call("react", **ends, reaction=slots["reaction"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        channel, one = self.room(slots["channel"], state), self.who(slots["name"], state)
        self.place(channel, one, state)
        other = self.who(slots["other"], state)
        message = self.latest(state, channel, author_id=other)
        given = state["messages"][message]["reactions"]
        mine = given.get(slots["reaction"], [])
        if one in mine or slots["reaction"] not in self.v.s.reactions:
            raise LookupError("it is there already")
        fields = {"reactions": {**given, slots["reaction"]: sorted([*mine, one])}}
        item = (
            f"Has {slots['name']} reacted to the latest message of {slots['other']} with {slots['reaction']}?"
        )
        return [Changed("messages", message, fields, item, (channel, one, other))]


class Leave(Chat):
    """Somebody leaves a channel."""

    phrases = (
        "{name:name} no longer has anything to do with the channel {channel:name}, so take that person out of it.",
        "Please remove {name:name} from the channel {channel:name}; what is open for that person there lapses.",
    )
    needs = ("find_channels", "find_people", "remove_person")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        seats = self.seats(state, rng, "member")
        return first_fitting(self, ({"channel": c, "name": p} for c, p in seats), state)

    def plan(self, slots: Slots) -> list[Row]:
        calls = look(slots["name"], channel=slots["channel"])
        return [*calls, call("remove_person", channel_id=CHANNEL, person_id=person(1))]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        channel, one = self.room(slots["channel"], state), self.who(slots["name"], state)
        place = self.place(channel, one, state, "member")["membership_id"]
        item = f"Is {slots['name']} no longer in {slots['channel']}?"
        here = self.open_mentions(state, channel=channel)
        return [
            Changed("memberships", place, {"active": False}, item, (channel, one)),
            *self.settled(
                state, "closed", [m for m in here if one in (m["called_id"], m["on_behalf_of_id"])]
            ),
        ]


class Channels(Pattern):
    """People, channels, messages and mentions."""

    Settings = ChannelSettings
    GOALS: ClassVar = (
        Post, Answer, AnswerInOwnWords, SwapPin, Open, ArchiveQuietest, Away, Back, HandOver, CatchUp, React, Leave,
    )  # fmt: skip

    def vocabulary(self, s: ChannelSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        nouns = {name: Noun(name) for name in ("channel", "membership", "message", "mention")}
        return {
            "person": Noun("person", "people"),
            **nouns,
            "teamlist": either(s.teams),
            "reactionlist": either(s.reactions),
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            table_of(
                v.person,
                "Somebody who uses the workspace.",
                person_id=("str", "unique id, e.g. PER-001"),
                name=("str", "full name"),
                kind=("str", "staff or guest"),
                team=("str", f"team: {v.teamlist}"),
                status=("str", "available, busy or away"),
                away_until=("str | None", "day of return, as YYYY-MM-DD; None unless away"),
                covered_by_id=("str | None", "person who stands in; None unless away"),
            ),
            table_of(
                v.channel,
                "A place to write in.",
                channel_id=("str", "unique id, e.g. CHN-001"),
                name=("str", "lower-case words joined by hyphens, unique"),
                visibility=("str", "public or private"),
                purpose=("str", "what it is for"),
                status=("str", "open or archived"),
                created_on=("str", "date, as YYYY-MM-DD"),
            ),
            table_of(
                v.membership,
                "The place of a person in a channel.",
                membership_id=("str", "unique id, e.g. MBS-001"),
                channel_id=("str", "the channel"),
                person_id=("str", "the person"),
                role=("str", "manager or member"),
                active=("bool", "false once the person has left"),
                read_through_id=("str | None", "newest message that has been read, None for none"),
            ),
            table_of(
                v.message,
                "A message in a channel, or a reply to one.",
                message_id=("str", "unique id, e.g. MSG-001; later ones have higher numbers"),
                channel_id=("str", "the channel"),
                author_id=("str", "person who wrote it"),
                thread_id=("str | None", "the message it is a reply to, None for one that begins a thread"),
                text=("str", "what it says"),
                sent_on=("str", "date, as YYYY-MM-DD"),
                pinned=("bool", "whether it is pinned to its channel"),
                reply_count=("int", "how many replies its thread has, 0 for a reply"),
                reactions=("dict[str, list[str]]", "reaction and the ids of those who gave it, sorted"),
            ),
            table_of(
                v.mention,
                "A call for somebody's attention in a message.",
                mention_id=("str", "unique id, e.g. MEN-001; later ones have higher numbers"),
                message_id=("str", "the message"),
                called_id=("str", "person whose attention is wanted"),
                on_behalf_of_id=("str | None", "absent person who is covered, otherwise None"),
                status=("str", "open, answered or closed"),
                made_on=("str", "date, as YYYY-MM-DD"),
            ),
        ]

    RULES = (
        RuleText(
            "Only somebody who is in a channel posts in it.",
            """
            places = [m for m in rows(after, "memberships").values() if m.get("active")]
            inside = {(m.get("channel_id"), m.get("person_id")) for m in places}
            return all((row.get("channel_id"), row.get("author_id")) in inside for row in added("messages"))
            """,
        ),
        RuleText(
            "The reply count of a message is the total of the replies in its thread.",
            """
            counts = {}
            for row in rows(after, "messages").values():
                thread = row.get("thread_id")
                counts[thread] = counts.get(thread, 0) + 1
            return all(row.get("reply_count") == counts.get(key, 0) for key, row in rows(after, "messages").items())
            """,
        ),
        RuleText(
            "An archived channel is never open again, and nothing is added to it.",
            """
            shut = {key for key, row in rows(before, "channels").items() if row.get("status") == "archived"}
            if any(rows(after, "channels").get(key, {}).get("status") != "archived" for key in shut):
                return False
            return not any(row.get("channel_id") in shut for row in [*added("messages"), *added("memberships")])
            """,
        ),
        RuleText(
            "Every open channel has somebody who manages it, and guests have no permission to manage one.",
            """
            held = set()
            for row in rows(after, "memberships").values():
                if row.get("active") and row.get("role") == "manager":
                    if (rows(after, "people").get(str(row.get("person_id"))) or {}).get("kind") != "staff":
                        return False
                    held.add(row.get("channel_id"))
            return all(key in held for key, row in rows(after, "channels").items() if row.get("status") == "open")
            """,
        ),
        RuleText(
            "At most <<s.max_pins>> messages of a channel are pinned.",
            """
            pins = [row.get("channel_id") for row in rows(after, "messages").values() if row.get("pinned")]
            return all(pins.count(channel) <= <<s.max_pins>> for channel in pins)
            """,
        ),
        RuleText(
            "Somebody has a day of return and a cover exactly when away, and the cover is not away.",
            """
            people = rows(after, "people")
            for row in people.values():
                away = row.get("status") == "away"
                if away != (row.get("away_until") is not None) or away != (row.get("covered_by_id") is not None):
                    return False
                if away and (people.get(str(row.get("covered_by_id"))) or {}).get("status", "away") == "away":
                    return False
            return True
            """,
        ),
        RuleText(
            "A mention of somebody who is away leaves a second one for the cover, if the cover is in that channel "
            "and did not write it.",
            """
            people, posts = rows(after, "people"), rows(after, "messages")
            places = [m for m in rows(after, "memberships").values() if m.get("active")]
            inside = {(m.get("channel_id"), m.get("person_id")) for m in places}
            new = [(m.get("message_id"), m.get("called_id"), m.get("on_behalf_of_id")) for m in added("mentions")]
            for message, person, absent in new:
                cover = (people.get(str(person)) or {}).get("covered_by_id")
                post = posts.get(str(message)) or {}
                heard = (post.get("channel_id"), cover) in inside and post.get("author_id") != cover
                if absent is None and cover is not None and heard:
                    if (message, cover, person) not in new:
                        return False
            return True
            """,
        ),
        RuleText(
            "No two channels have the same name.",
            """
            names = [str(row.get("name")).lower() for row in rows(after, "channels").values()]
            return len(names) == len(set(names))
            """,
        ),
    )

    HELPERS = '''
    def _place(self, channel_id: str, person_id: str) -> dict | None:
        """Return the membership of somebody who is in a channel now, None for anybody else."""
        for place in self.memberships.values():
            if place["active"] and (place["channel_id"], place["person_id"]) == (channel_id, person_id):
                return place
        return None

    def _manages(self, channel_id: str, person_id: str) -> bool:
        """Tell whether somebody manages a channel."""
        place = self._place(channel_id, person_id)
        return place is not None and place["role"] == "manager"

    def _about(self, channel: dict) -> dict:
        """Return a channel with the ids of its managers, its size and the day of its last message."""
        inside = [m for m in self.memberships.values() if m["active"] and m["channel_id"] == channel["channel_id"]]
        days = [m["sent_on"] for m in self.messages.values() if m["channel_id"] == channel["channel_id"]]
        return {
            **channel,
            "managers": sorted(m["person_id"] for m in inside if m["role"] == "manager"),
            "size": len(inside),
            "last_message_on": max([channel["created_on"], *days]),
        }

    def _join(self, channel_id: str, person_id: str, role: str) -> dict:
        """Give somebody a place in a channel, the old one where there was one."""
        for place in self.memberships.values():
            if (place["channel_id"], place["person_id"]) == (channel_id, person_id):
                place["active"], place["role"] = True, role
                return dict(place)
        number = self._next_id(self.memberships, "MBS")
        self.memberships[number] = {
            "membership_id": number,
            "channel_id": channel_id,
            "person_id": person_id,
            "role": role,
            "active": True,
            "read_through_id": None,
        }
        return dict(self.memberships[number])

    def _write(self, channel_id: str, author_id: str, text: str, thread_id: str | None) -> dict:
        """Add a message to a channel."""
        message: Message = {
            "message_id": self._next_id(self.messages, "MSG"),
            "channel_id": channel_id,
            "author_id": author_id,
            "thread_id": thread_id,
            "text": text.strip(),
            "sent_on": self.today,
            "pinned": False,
            "reply_count": 0,
            "reactions": {},
        }
        self.messages[message["message_id"]] = message
        return message

    def _call_on(self, message_id: str, person_id: str, on_behalf_of_id: str | None) -> None:
        """Add an open mention."""
        mention: Mention = {
            "mention_id": self._next_id(self.mentions, "MEN"),
            "message_id": message_id,
            "called_id": person_id,
            "on_behalf_of_id": on_behalf_of_id,
            "status": "open",
            "made_on": self.today,
        }
        self.mentions[mention["mention_id"]] = mention

    def _open_mentions(self, person_id: str | None, channel_id: str | None) -> list[dict]:
        """Return the open mentions of a person, or of everybody for None, in a channel, or in all for None."""
        return [
            m
            for m in self.mentions.values()
            if m["status"] == "open"
            and person_id in (None, m["called_id"])
            and channel_id in (None, self.messages[m["message_id"]]["channel_id"])
        ]
'''

    READS = '''
def find_people(self, name: str, team: str | None = None) -> dict:
    """Find people by name.

    Args:
        name: Full name or a part of it; upper and lower case are the same.
        team: Only people of this team: <<teamlist>>. Leave out for all.

    Returns:
        The matching people with status and cover, sorted by name.
    """
    wanted = name.strip().casefold()
    refuse if not wanted :: The name to look for is empty.
    refuse if team not in (None, <<quoted(s.teams)>>) :: There is no team {team!r}.
    hits = [p for p in self.people.values() if wanted in p["name"].casefold()]
    hits = [dict(p) for p in hits if team is None or p["team"] == team]
    return {"success": True, "data": sorted(hits, key=lambda p: p["name"])}

def find_channels(self, words: str) -> dict:
    """Find channels by words of their name or purpose, those named exactly so first.

    Args:
        words: Part of the name or of the purpose; upper and lower case are the same.

    Returns:
        The channels with the ids of their `managers`, their `size` and `last_message_on`.
    """
    wanted = words.strip().lower()
    refuse if not wanted :: The words to look for are empty.
    hits = [self._about(c) for c in self.channels.values() if wanted in f"{c['name']} {c['purpose']}".lower()]
    return {"success": True, "data": sorted(hits, key=lambda c: (c["name"] != wanted, c["name"]))}

def list_members(self, channel_id: str) -> dict:
    """List who is in a channel, its managers first.

    Args:
        channel_id: Id of the channel, e.g. CHN-001.

    Returns:
        The memberships with the `name` of each person.
    """
    need channel
    places = [m for m in self.memberships.values() if m["channel_id"] == channel_id and m["active"]]
    named = [{**m, "name": self.people[m["person_id"]]["name"]} for m in places]
    return {"success": True, "data": sorted(named, key=lambda m: (m["role"] != "manager", m["name"]))}

def list_messages(self, channel_id: str, author_id: str | None = None, pinned: bool | None = None) -> dict:
    """List the messages and replies in a channel, the newest first.

    Args:
        channel_id: Id of the channel.
        author_id: Only what this person wrote. Leave out for all.
        pinned: Only pinned ones, or only others. Leave out for all.

    Returns:
        The matching messages; an empty list when there are none.
    """
    need channel
    selected = [
        deepcopy(entry)
        for entry in self.messages.values()
        if entry["channel_id"] == channel_id
        and author_id in (None, entry["author_id"])
        and pinned in (None, entry["pinned"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["message_id"], reverse=True)}

def show_thread(self, message_id: str) -> dict:
    """Show the thread that a message belongs to.

    Args:
        message_id: Id of any message of the thread.

    Returns:
        The `first` message, its `replies` in their order, and the names of the `authors`, the busiest first.
    """
    need message
    root = self.messages[message["thread_id"] or message_id]
    replies = [deepcopy(m) for m in self.messages.values() if m["thread_id"] == root["message_id"]]
    replies.sort(key=lambda m: m["message_id"])
    written = [self.people[m["author_id"]]["name"] for m in [root, *replies]]
    authors = sorted(set(written), key=lambda name: (-written.count(name), name))
    return {"success": True, "data": {"first": deepcopy(root), "replies": replies, "authors": authors}}

def list_mentions(self, person_id: str, status: str | None = None) -> dict:
    """List where somebody is mentioned, also on behalf of others, the oldest first.

    Args:
        person_id: Id of the person, e.g. PER-001.
        status: Only those that are open, answered or closed. Leave out for all.

    Returns:
        The mentions, each with the `text` of the message and its `channel_id`.
    """
    need person
    refuse if status not in (None, "open", "answered", "closed") :: A mention is open, answered or closed.
    listed = []
    for number in sorted(self.mentions):
        mention = self.mentions[number]
        if mention["called_id"] == person_id and status in (None, mention["status"]):
            message = self.messages[mention["message_id"]]
            listed.append({**mention, "text": message["text"], "channel_id": message["channel_id"]})
    return {"success": True, "data": listed}

def count_unread(self, person_id: str) -> dict:
    """Count what others wrote in somebody's open channels since that person last read them, most first.

    Args:
        person_id: Id of the person.

    Returns:
        The channels that have something unread, each with its `channel_id`, `name` and the number `unread`.
    """
    need person
    counted = []
    for channel in self.channels.values():
        place = self._place(channel["channel_id"], person_id)
        if place is None or channel["status"] != "open":
            continue
        read = place["read_through_id"] or ""
        posts = [m for m in self.messages.values() if m["channel_id"] == channel["channel_id"]]
        unread = sum(m["message_id"] > read and m["author_id"] != person_id for m in posts)
        if unread:
            counted.append({"channel_id": channel["channel_id"], "name": channel["name"], "unread": unread})
    return {"success": True, "data": sorted(counted, key=lambda c: (-c["unread"], c["name"]))}

def list_quiet_channels(self, since: str) -> dict:
    """List open channels without a message since a day, the one that has been quiet longest first.

    Args:
        since: The day, as YYYY-MM-DD, not after today; a channel with a message on it or later is not quiet.

    Returns:
        The channels with the ids of their `managers`, their `size` and `last_message_on`.
    """
    refuse if not self._is_date(since) or since > self.today :: {since!r} is not a day up to today, as YYYY-MM-DD.
    quiet = [self._about(channel) for channel in self.channels.values() if channel["status"] == "open"]
    quiet = [channel for channel in quiet if channel["last_message_on"] < since]
    return {"success": True, "data": sorted(quiet, key=lambda c: (c["last_message_on"], c["name"]))}

def suggest_cover(self, person_id: str) -> dict:
    """Suggest who could stand in for somebody: staff who are not away, by the open channels in common.

    Args:
        person_id: Id of the person who needs a cover.

    Returns:
        The candidates with `cover_id`, `name` and the number of `shared_channels`, most first.
    """
    need person
    open_ones = [key for key, channel in self.channels.items() if channel["status"] == "open"]
    rooms = [key for key in open_ones if self._place(key, person_id)]
    candidates = [
        {
            "cover_id": other["person_id"],
            "name": other["name"],
            "shared_channels": sum(self._place(key, other["person_id"]) is not None for key in rooms),
        }
        for other in self.people.values()
        if other is not person
        and other["kind"] == "staff"
        and other["status"] != "away"
    ]
    return {"success": True, "data": sorted(candidates, key=lambda c: (-c["shared_channels"], c["name"]))}
'''

    WRITES = '''
def create_channel(self, name: str, visibility: str, purpose: str, person_id: str) -> dict:
    """Open a new channel, which the one who asked for it manages.

    Args:
        name: Lower-case words joined by hyphens; no other channel, archived or not, is called so.
        visibility: Who may bring people in, anybody in it or only its managers: public or private.
        purpose: What it is for, in a few words.
        person_id: Id of the member of staff who will manage it.

    Returns:
        The new channel, or an error.
    """
    need person
    named_well = name == name.lower() and all(word.isalnum() for word in name.split("-"))
    refuse if not named_well :: {name!r} is not made of lower-case words joined by hyphens.
    refuse if any(c["name"] == name for c in self.channels.values()) :: There is a channel {name} already.
    refuse if visibility not in ("public", "private") :: A channel is public or private, not {visibility!r}.
    refuse if not purpose.strip() :: A purpose is required.
    refuse if person["kind"] != "staff" :: {person['name']} is a guest and cannot manage a channel.
    number = self._next_id(self.channels, "CHN")
    self.channels[number] = {
        "channel_id": number,
        "name": name,
        "visibility": visibility,
        "purpose": purpose.strip(),
        "status": "open",
        "created_on": self.today,
    }
    self._join(number, person_id, "manager")
    done dict(self.channels[number]) :: Channel {name} is open.

def add_people(
    self, channel_id: str, asked_by_id: str, person_id: str | None = None, team: str | None = None
) -> dict:
    """Bring one person, or all staff of a team, into an open channel; those in it already stay as they are.

    Args:
        channel_id: Id of the channel.
        asked_by_id: Id of the person in it who asks for that; of a private channel, one who manages it.
        person_id: Id of the person; leave out to bring in a team.
        team: The team: <<teamlist>>; its guests have to be brought in one by one. Leave out for one person.

    Returns:
        The new `memberships`, or an error when there is nobody to bring in.
    """
    need channel
    refuse if channel["status"] != "open" :: Channel {channel['name']} is archived.
    refuse if self._place(channel_id, asked_by_id) is None :: {asked_by_id!r} is not in {channel['name']}.
    if channel["visibility"] == "private" and not self._manages(channel_id, asked_by_id):
        refuse :: Only those who manage the private channel {channel['name']} can bring people in.
    refuse if (person_id is None) == (team is None) :: Name either a person or a team.
    refuse if person_id is not None and person_id not in self.people :: There is no person with the id {person_id!r}.
    refuse if team not in (None, <<quoted(s.teams)>>) :: There is no team {team!r}.
    staff = [key for key, p in self.people.items() if p["team"] == team and p["kind"] == "staff"]
    wanted = staff if person_id is None else [person_id]
    missing = [key for key in wanted if self._place(channel_id, key) is None]
    refuse if not missing :: Everybody asked for is in {channel['name']} already.
    places = [self._join(channel_id, key, "member") for key in missing]
    data = {"channel_id": channel_id, "memberships": places}
    return {"success": True, "message": f"{len(places)} brought into {channel['name']}.", "data": data}

def remove_person(self, channel_id: str, person_id: str) -> dict:
    """Take a member out of an open channel and close what is open there for that person, also with a cover.

    Args:
        channel_id: Id of the channel.
        person_id: Id of somebody who is in it; a manager hands it over first.

    Returns:
        The ended membership with the ids of the `closed_mentions`, or an error.
    """
    need channel
    place = self._place(channel_id, person_id)
    refuse if place is None :: {person_id!r} is not in {channel['name']}.
    refuse if channel["status"] != "open" :: Channel {channel['name']} is archived.
    refuse if place["role"] == "manager" :: A manager has to hand {channel['name']} over before leaving it.
    place["active"] = False
    here = self._open_mentions(None, channel_id)
    closed = [mention for mention in here if person_id in (mention["called_id"], mention["on_behalf_of_id"])]
    for mention in closed:
        mention["status"] = "closed"
    done {**place, "closed_mentions": [m["mention_id"] for m in closed]} :: Taken out of {channel['name']}.

def hand_over_channel(self, channel_id: str, manager_id: str, successor_id: str) -> dict:
    """Make another member manager of an open channel in place of one who manages it.

    Args:
        channel_id: Id of the channel.
        manager_id: Id of the person who manages it and becomes a member.
        successor_id: Id of a member of it who is staff.

    Returns:
        Both memberships, as `old` and `new`, or an error.
    """
    need channel
    refuse if channel["status"] != "open" :: Channel {channel['name']} is archived.
    refuse if not self._manages(channel_id, manager_id) :: {manager_id!r} does not manage {channel['name']}.
    old, new = self._place(channel_id, manager_id), self._place(channel_id, successor_id)
    refuse if new is None or new["role"] == "manager" :: {successor_id!r} is not a plain member of it.
    successor = self.people[successor_id]
    refuse if successor["kind"] != "staff" :: {successor['name']} is a guest and cannot manage a channel.
    old["role"], new["role"] = new["role"], old["role"]
    done {"old": dict(old), "new": dict(new)} :: {successor['name']} manages {channel['name']} now.

def archive_channel(self, channel_id: str, person_id: str) -> dict:
    """Archive a channel for good, which closes every mention that is open in it.

    Args:
        channel_id: Id of the channel, which must be open.
        person_id: Id of somebody who manages it.

    Returns:
        The archived channel with the ids of the `closed_mentions`, or an error.
    """
    need channel
    refuse if channel["status"] != "open" :: Channel {channel['name']} is archived.
    refuse if not self._manages(channel_id, person_id) :: {person_id!r} does not manage {channel['name']}.
    channel["status"] = "archived"
    closed = [m["mention_id"] for m in self._open_mentions(None, channel_id)]
    for number in closed:
        self.mentions[number]["status"] = "closed"
    done {**channel, "closed_mentions": closed} :: Channel {channel['name']} is archived.

def post_message(self, channel_id: str, author_id: str, text: str, mention_person_id: str | None = None) -> dict:
    """Begin a thread in a channel, and call for somebody's attention and that of the cover, if wanted.

    A cover who writes the message is not called on.

    Args:
        channel_id: Id of the channel, which must be open.
        author_id: Id of the person who writes, who is in the channel.
        text: What it says.
        mention_person_id: Id of another person in the channel who is mentioned. Leave out for nobody.

    Returns:
        The new message, or an error.
    """
    need channel
    refuse if channel["status"] != "open" :: Channel {channel['name']} is archived.
    refuse if self._place(channel_id, author_id) is None :: {author_id!r} is not in {channel['name']}.
    refuse if not text.strip() :: A message cannot be empty.
    if mention_person_id is not None:
        refuse if mention_person_id == author_id :: Nobody mentions themselves.
        refuse if self._place(channel_id, mention_person_id) is None :: {mention_person_id!r} is not in that channel.
    message = self._write(channel_id, author_id, text, None)
    if mention_person_id is not None:
        self._call_on(message["message_id"], mention_person_id, None)
        cover_id = self.people[mention_person_id]["covered_by_id"]
        if cover_id not in (None, author_id) and self._place(channel_id, cover_id):
            self._call_on(message["message_id"], cover_id, mention_person_id)
    done deepcopy(message) :: Written in {channel['name']}.

def reply_to_message(self, to_message_id: str, author_id: str, text: str) -> dict:
    """Reply in a thread, which answers every open mention of the author in it.

    Args:
        to_message_id: Id of any message of the thread.
        author_id: Id of the person who replies, who is in the channel.
        text: What the reply says.

    Returns:
        The reply with the ids of the `answered_mentions`, or an error.
    """
    target = self.messages.get(to_message_id)
    refuse if target is None :: There is no message with the id {to_message_id!r}.
    channel = self.channels[target["channel_id"]]
    refuse if channel["status"] != "open" :: Channel {channel['name']} is archived.
    refuse if self._place(channel["channel_id"], author_id) is None :: {author_id!r} is not in {channel['name']}.
    refuse if not text.strip() :: A reply cannot be empty.
    root = self.messages[target["thread_id"] or to_message_id]
    thread = [m["message_id"] for m in self.messages.values() if m["thread_id"] == root["message_id"]]
    open_here = self._open_mentions(author_id, channel["channel_id"])
    answered = [m for m in open_here if m["message_id"] in (root["message_id"], *thread)]
    for mention in answered:
        mention["status"] = "answered"
    root["reply_count"] += 1
    reply = self._write(channel["channel_id"], author_id, text, root["message_id"])
    done {**deepcopy(reply), "answered_mentions": [m["mention_id"] for m in answered]} :: Replied in {channel['name']}.

def react(self, message_id: str, person_id: str, reaction: str) -> dict:
    """React to a message in an open channel, once with each reaction.

    Args:
        message_id: Id of the message.
        person_id: Id of the person who reacts, who is in its channel.
        reaction: The reaction: <<reactionlist>>.

    Returns:
        The message with all its reactions, or an error.
    """
    need message
    refuse if reaction not in (<<quoted(s.reactions)>>) :: There is no reaction {reaction!r}.
    refuse if self._place(message["channel_id"], person_id) is None :: {person_id!r} is not in the channel.
    refuse if self.channels[message["channel_id"]]["status"] != "open" :: The channel is archived.
    given = message["reactions"].get(reaction, [])
    refuse if person_id in given :: {person_id} has given that reaction already.
    message["reactions"][reaction] = sorted([*given, person_id])
    done deepcopy(message) :: Reacted with {reaction}.

def pin_message(self, message_id: str, person_id: str, replaces_id: str | None = None) -> dict:
    """Pin a message to its open channel, in place of another one if wanted; at most <<s.max_pins>> are pinned there.

    Args:
        message_id: Id of the message, not pinned so far.
        person_id: Id of somebody who manages the channel.
        replaces_id: Id of a pinned message of the same channel that is unpinned for it. Leave out for none.

    Returns:
        The pinned message, or an error.
    """
    need message
    refuse if not self._manages(message["channel_id"], person_id) :: {person_id!r} does not manage that channel.
    refuse if self.channels[message["channel_id"]]["status"] != "open" :: The channel is archived.
    refuse if message["pinned"] :: Message {message_id} is pinned already.
    here = [m for m in self.messages.values() if m["channel_id"] == message["channel_id"]]
    pins = [m["message_id"] for m in here if m["pinned"]]
    refuse if replaces_id is not None and replaces_id not in pins :: {replaces_id!r} is not pinned in that channel.
    left = [key for key in pins if key != replaces_id]
    refuse if len(left) >= <<s.max_pins>> :: {len(left)} messages are pinned there already.
    message["pinned"] = True
    if replaces_id is not None:
        self.messages[replaces_id]["pinned"] = False
    done deepcopy(message) :: Message {message_id} is pinned.

def mark_read(self, channel_id: str, person_id: str) -> dict:
    """Mark a channel as read to its end for somebody.

    Args:
        channel_id: Id of the channel.
        person_id: Id of a person in it who has not read it to its end.

    Returns:
        The membership with the newest message as its `read_through_id`, or an error.
    """
    place = self._place(channel_id, person_id)
    refuse if place is None :: {person_id!r} is not in the channel {channel_id!r}.
    newest = max((key for key, m in self.messages.items() if m["channel_id"] == channel_id), default=None)
    refuse if newest is None or place["read_through_id"] == newest :: There is nothing unread.
    place["read_through_id"] = newest
    done dict(place) :: Read to {newest}.

def set_away(self, person_id: str, until: str, cover_id: str) -> dict:
    """Set somebody to away and pass on to the cover what is open.

    What is in no channel of the cover, or was written by the cover, is not passed on.

    Args:
        person_id: Id of the person, who is not away and stands in for nobody.
        until: Day of return, after today, as YYYY-MM-DD.
        cover_id: Id of another member of staff who is not away.

    Returns:
        The changed person, or an error.
    """
    need person
    cover = self.people.get(cover_id)
    refuse if cover is None or cover is person :: {cover_id!r} is nobody who could stand in.
    try:
        valid = date.fromisoformat(until).isoformat() == until > self.today
    except ValueError:
        valid = False
    refuse if not valid :: The day of return must be after today, as YYYY-MM-DD.
    refuse if person["status"] == "away" :: {person['name']} is away already.
    refuse if cover["status"] == "away" or cover["kind"] != "staff" :: {cover['name']} cannot stand in.
    if any(other["covered_by_id"] == person_id for other in self.people.values()):
        refuse :: {person['name']} stands in for somebody else.
    for mention in self._open_mentions(person_id, None):
        message = self.messages[mention["message_id"]]
        if mention["on_behalf_of_id"] is not None or message["author_id"] == cover_id:
            continue
        if self._place(message["channel_id"], cover_id):
            self._call_on(mention["message_id"], cover_id, person_id)
    person["status"], person["away_until"], person["covered_by_id"] = "away", until, cover_id
    done dict(person) :: {person['name']} is away, {cover['name']} stands in.

def come_back(self, person_id: str) -> dict:
    """End an absence; mentions that the cover holds for that person and has not answered are closed.

    Args:
        person_id: Id of the person, who must be away.

    Returns:
        The person, available again, with the ids of the `closed_mentions`, or an error.
    """
    need person
    refuse if person["status"] != "away" :: {person['name']} is not away.
    person.update(status="available", away_until=None, covered_by_id=None)
    closed = []
    for mention in self._open_mentions(None, None):
        if mention["on_behalf_of_id"] == person_id:
            mention["status"] = "closed"
            closed.append(mention["mention_id"])
    done {**person, "closed_mentions": closed} :: {person['name']} is back.
'''

    IMPORTS = ("from datetime import date",)

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]

        for n, name in enumerate(names.people(rng, int(rng.integers(9, 12)))):
            kind, status = "guest" if n > 7 else "staff", pick(rng, ["available", "available", "busy"])
            row = {"name": name, "kind": kind, "team": s.teams[n % len(s.teams)], "status": status}
            put(state, v.person, "PER", **row, away_until=None, covered_by_id=None)
        staff = [key for key, p in state["people"].items() if p["kind"] == "staff"]
        absent = shuffled(rng, staff)[:2]
        for key in absent:
            cover = pick(rng, [other for other in staff if other not in absent])
            fields = {
                "status": "away",
                "away_until": later(today, int(rng.integers(2, 25))),
                "covered_by_id": cover,
            }
            state["people"][key].update(fields)
        drafts = []
        for n, name in enumerate(shuffled(rng, list(s.channels))[:6]):
            row = {"name": name, "visibility": pick(rng, ["public", "private"]), "purpose": s.channels[name]}
            channel = put(
                state, v.channel, "CHN", **row, status="archived" if n == 5 else "open", created_on=""
            )
            manager = staff[n]
            inside = [
                manager,
                *shuffled(rng, [p for p in state["people"] if p != manager])[: rng.integers(2, 5)],
            ]
            quiet = int(rng.integers(46, 120)) if n > 3 else int(rng.integers(1, 15))
            days = [quiet + int(day) for day in rng.integers(0, 12, size=2 + int(rng.integers(0, 3)))]
            state["channels"][channel]["created_on"] = later(today, -quiet - int(rng.integers(20, 200)))
            for one in inside:
                role = {"role": "manager" if one == manager else "member", "active": True}
                put(
                    state,
                    v.membership,
                    "MBS",
                    channel_id=channel,
                    person_id=one,
                    **role,
                    read_through_id=None,
                )
            drafts += [(later(today, -day), channel, inside) for day in days]
        self._write(v, state, rng, sorted(drafts, key=lambda draft: draft[:2]))

    def _write(self, v: SimpleNamespace, state: State, rng: Rng, drafts: list[Any]) -> None:
        posts, replies = shuffled(rng, v.s.posts), shuffled(rng, v.s.replies)
        for n, (day, channel, inside) in enumerate(drafts):
            before = [k for k, m in state["messages"].items() if m["channel_id"] == channel]
            roots = [key for key in before if state["messages"][key]["thread_id"] is None]
            thread = pick(rng, roots) if roots and rng.random() < 0.4 else None
            author, text = pick(rng, inside), replies[n % len(replies)] if thread else posts[n % len(posts)]
            pinned = sum(state["messages"][k]["pinned"] for k in before) < v.s.max_pins and rng.random() < 0.5
            fans = {pick(rng, v.s.reactions): sorted(shuffled(rng, inside)[:2])} if rng.random() < 0.3 else {}
            row = {
                "channel_id": channel,
                "author_id": author,
                "thread_id": thread,
                "text": text,
                "sent_on": day,
            }
            key = put(state, v.message, "MSG", **row, pinned=bool(pinned), reply_count=0, reactions=fans)
            if thread:
                state["messages"][thread]["reply_count"] += 1
            for place in state["memberships"].values():
                seen = place["person_id"] == author or rng.random() < 0.4
                place["read_through_id"] = (
                    key if place["channel_id"] == channel and seen else place["read_through_id"]
                )
            self._mention(v, state, rng, key, shuffled(rng, [one for one in inside if one != author])[0])

    def _mention(self, v: SimpleNamespace, state: State, rng: Rng, message: str, person: str) -> None:
        channel, day = state["messages"][message]["channel_id"], state["messages"][message]["sent_on"]
        if rng.random() < 0.35:
            return
        shut = state["channels"][channel]["status"] == "archived"
        status = "closed" if shut else pick(rng, ["open", "open", "answered"])
        row = {"message_id": message, "status": status, "made_on": day}
        cover = state["people"][person]["covered_by_id"]
        inside = {m["person_id"] for m in state["memberships"].values() if m["channel_id"] == channel}
        put(state, v.mention, "MEN", **row, called_id=person, on_behalf_of_id=None)
        if cover in inside and cover != state["messages"][message]["author_id"]:
            put(state, v.mention, "MEN", **row, called_id=cover, on_behalf_of_id=person)


PATTERN = Channels
