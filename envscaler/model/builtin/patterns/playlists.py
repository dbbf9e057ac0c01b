"""Playlists: ordered lists of pieces from a catalogue, who owns them, who follows them and who may change them.

The order is kept as a list of ids in the record of the playlist, so this is the pattern for worlds in which
positions matter.
"""

from types import SimpleNamespace
from typing import Any, ClassVar

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
from envscaler.model.builtin.patterns.documents import later
from envscaler.model.builtin.phrase import Slots


class PlaylistSettings(Settings):
    """A playlist world's words and numbers."""

    piece: str
    """`track`"""
    piece_prefix: str
    """Prefix of the pieces' ids."""
    maker: str
    """Name of the attribute for who made a piece, e.g. `artist`."""
    kind: str
    """Name of the attribute that sorts the pieces, e.g. `genre`."""
    catalogue: dict[str, list[str]]
    """Kind → `title / maker` of the pieces there are; no title is a part of another one or of a name."""
    length: str
    """Name of a piece's length, e.g. `seconds`."""
    lengths: tuple[int, int]
    """Least and greatest length."""
    playlist: str = "playlist"
    """`playlist`"""
    playlist_prefix: str
    """Prefix of the playlists' ids."""
    names: list[str]
    """Names of playlists, at least ten."""
    new_names: list[str]
    """Names of playlists that may be added."""
    person: str = "person"
    """Who listens: a registry's noun."""
    membership: str = "membership"
    """Word for following or helping with a playlist."""
    membership_prefix: str
    """Prefix of its ids."""
    max_pieces: int = 8
    """Most pieces in a playlist."""


class PlaylistGoal(Goal):
    """What goals about playlists look up and ask of a state."""

    @property
    def playlist_id(self) -> str:
        """Name of the playlist's key."""
        return f"{self.v.l.id}_id"

    @property
    def piece_id(self) -> str:
        """Name of the piece's key."""
        return f"{self.v.t.id}_id"

    @property
    def person_id(self) -> str:
        """Name of the person's key."""
        return f"{self.v.p.id}_id"

    def playlist(self, slots: Slots, state: State) -> dict[str, Any]:
        """The playlist a sentence names."""
        return named(state, self.v.l, slots["playlist"])

    def piece(self, slots: Slots, state: State) -> str:
        """Id of the piece a sentence names."""
        rows = state[self.v.t.ids]
        return str(only([key for key, row in rows.items() if row["title"] == slots["title"]]))

    def find_playlist(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the playlist."""
        return call(f"find_{self.v.l.ids}", text=slots["playlist"])

    def find_piece(self, slots: Slots) -> dict[str, Any]:
        """The call that finds the piece."""
        return call(f"find_{self.v.t.ids}", text=slots["title"])

    def both(self) -> dict[str, Any]:
        """Arguments with playlist and piece, found by the first and the second call."""
        return {
            self.playlist_id: found(0, 0, self.playlist_id),
            self.piece_id: found(1, 0, self.piece_id),
        }

    def order(self, row: dict[str, Any], pieces: list[str], state: State, item: str) -> list[Outcome]:
        """The playlist has these pieces in this order."""
        fields = {self.v.order: pieces, "updated_on": state["today"]}
        return [Changed(self.v.l.ids, row[self.playlist_id], fields, item)]

    def some(self, state: State, rng: Rng) -> list[dict[str, Any]]:
        """The playlists in a random order."""
        return shuffled(rng, list(state[self.v.l.ids].values()))

    def fits(self, row: dict[str, Any], piece: str, state: State) -> bool:
        """Whether a piece may be added to a playlist."""
        loud = state[self.v.t.ids][piece]["explicit"] and row["family_friendly"]
        room = len(row[self.v.order]) < self.v.s.max_pieces
        return room and piece not in row[self.v.order] and not loud


class Add(PlaylistGoal):
    """Another piece at the end."""

    phrases: ClassVar[tuple[str, ...]] = (
        'Please add the <<t>> "{title:text}" to the end of the <<l>> {playlist:name}.',
        'The <<l>> {playlist:name} should also have the <<t>> "{title:text}", as its last one.',
        'Put the <<t>> "{title:text}" behind the others in the <<l>> {playlist:name}, please.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<l.ids>>", "find_<<t.ids>>", "add_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in self.some(state, rng):
            pieces = [key for key in state[self.v.t.ids] if self.fits(row, key, state)]
            if pieces:
                return {"playlist": row["name"], "title": state[self.v.t.ids][pick(rng, pieces)]["title"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [
            self.find_playlist(slots),
            self.find_piece(slots),
            call(f"add_{self.v.t.id}", **self.both()),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is '{slots['title']}' the last {self.v.t} of {slots['playlist']}?"
        return self.added(self.playlist(slots, state), self.piece(slots, state), None, state, item)

    def added(
        self, row: dict[str, Any], piece: str, at: int | None, state: State, item: str
    ) -> list[Outcome]:
        """The playlist with the piece at a position, or at the end."""
        if not self.fits(row, piece, state):
            raise LookupError("it cannot be added")
        pieces = list(row[self.v.order])
        pieces.insert(len(pieces) if at is None else at, piece)
        return self.order(row, pieces, state, item)


class AddFirst(Add):
    """Another piece at the beginning."""

    phrases = (
        'Please let the <<l>> {playlist:name} begin with the <<t>> "{title:text}", which is not in it yet.',
        'The <<t>> "{title:text}" is to open the <<l>> {playlist:name}, so add it in first place.',
    )

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        first = call(f"add_{self.v.t.id}", **self.both(), position=1)
        return [self.find_playlist(slots), self.find_piece(slots), first]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is '{slots['title']}' the first {self.v.t} of {slots['playlist']}?"
        return self.added(self.playlist(slots, state), self.piece(slots, state), 0, state, item)


class AddShortest(Add):
    """The shortest piece of a kind."""

    phrases = (
        "Please add the shortest <<t>> of the <<kindwords>> {kind:name} to the end of the <<l>> {playlist:name}.",
        "The <<l>> {playlist:name} still needs something short: append the shortest {kind:name} <<t>> we have.",
    )

    def shortest(self, slots: Slots, state: State) -> str:
        """The piece that is meant."""
        length = self.v.s.length
        rows = {k: row for k, row in state[self.v.t.ids].items() if row[self.v.s.kind] == slots["kind"]}
        least = min((row[length] for row in rows.values()), default=0)
        return str(only([key for key, row in rows.items() if row[length] == least]))

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in self.some(state, rng):
            slots = {"playlist": row["name"], "kind": pick(rng, self.v.kinds)}
            if self.fits(row, self.shortest(slots, state), state):
                return slots
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        pieces = call(f"find_{self.v.t.ids}", **{self.v.s.kind: slots["kind"]})
        return [self.find_playlist(slots), pieces, call(f"add_{self.v.t.id}", **self.both())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is the shortest {slots['kind']} {self.v.t} the last one of {slots['playlist']}?"
        return self.added(self.playlist(slots, state), self.shortest(slots, state), None, state, item)


class AddToMostFollowed(Add):
    """A piece for the most popular playlist."""

    phrases = (
        'Whichever <<l>> has the most followers should get the <<t>> "{title:text}" as its last one.',
        'Please append the <<t>> "{title:text}" to the <<l>> that the most <<p.many>> follow.',
    )
    needs = ("list_popular_<<l.ids>>", "find_<<t.ids>>", "add_<<t.id>>")

    def most(self, state: State) -> dict[str, Any]:
        """The playlist that is meant."""
        counts = dict.fromkeys(state[self.v.l.ids], 0)
        for row in state[self.v.m.ids].values():
            counts[row[self.playlist_id]] += row["role"] == "follower"
        best = only([key for key, count in counts.items() if count == max(counts.values())])
        return dict(state[self.v.l.ids][best])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        row = self.most(state)
        pieces = [key for key in state[self.v.t.ids] if self.fits(row, key, state)]
        return {"title": state[self.v.t.ids][pick(rng, pieces)]["title"]} if pieces else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        popular = call(f"list_popular_{self.v.l.ids}")
        return [popular, self.find_piece(slots), call(f"add_{self.v.t.id}", **self.both())]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        item = f"Is '{slots['title']}' the last {self.v.t} of the most followed {self.v.l}?"
        first, *_ = self.added(self.most(state), self.piece(slots, state), None, state, item)
        assert isinstance(first, Changed)
        return [Changed(first.table, first.key, first.fields, item, ("followers",))]


class Remove(PlaylistGoal):
    """A piece less."""

    phrases: ClassVar[tuple[str, ...]] = (
        'Please take the <<t>> "{title:text}" off the <<l>> {playlist:name}.',
        'Nobody wants to hear "{title:text}" any more, so remove that <<t>> from the <<l>> {playlist:name}.',
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<l.ids>>", "find_<<t.ids>>", "remove_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in self.some(state, rng):
            if len(row[self.v.order]) > 2:
                piece = pick(rng, row[self.v.order])
                return {"playlist": row["name"], "title": state[self.v.t.ids][piece]["title"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [
            self.find_playlist(slots),
            self.find_piece(slots),
            call(f"remove_{self.v.t.id}", **self.both()),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, piece = self.playlist(slots, state), self.piece(slots, state)
        if piece not in row[self.v.order]:
            raise LookupError("it is not there")
        item = f"Is '{slots['title']}' no longer in {slots['playlist']}, and all others are?"
        return self.order(row, [key for key in row[self.v.order] if key != piece], state, item)


class Reorder(Remove):
    """Another position."""

    phrases = (
        'Please move the <<t>> "{title:text}" to position {position:int} of the <<l>> {playlist:name}.',
        'In the <<l>> {playlist:name}, the <<t>> "{title:text}" should come at position {position:int}.',
    )
    needs = ("find_<<l.ids>>", "find_<<t.ids>>", "move_<<t.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        slots = super().draw(state, rng)
        if slots is None:
            return None
        pieces = self.playlist(slots, state)[self.v.order]
        now = pieces.index(self.piece(slots, state)) + 1
        return {**slots, "position": pick(rng, [n for n in range(1, len(pieces) + 1) if n != now])}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        move = call(f"move_{self.v.t.id}", **self.both(), position=slots["position"])
        return [self.find_playlist(slots), self.find_piece(slots), move]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, piece, at = self.playlist(slots, state), self.piece(slots, state), slots["position"] - 1
        pieces = [key for key in row[self.v.order] if key != piece]
        if piece not in row[self.v.order] or not 0 <= at <= len(pieces) or row[self.v.order][at] == piece:
            raise LookupError("it cannot be moved there")
        pieces.insert(at, piece)
        item = f"Is '{slots['title']}' at position {slots['position']} of {slots['playlist']}?"
        return self.order(row, pieces, state, item)


class Follow(PlaylistGoal):
    """Follow a playlist."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The <<p>> {name:name} would like to follow the <<l>> {playlist:name}.",
        "Please make <<p>> {name:name} a follower of the <<l>> {playlist:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_<<l.ids>>", "find_<<p.ids>>", "join_<<l.id>>")
    role = "follower"

    def open(self, row: dict[str, Any], person: dict[str, Any], state: State) -> bool:
        """Whether somebody may join a playlist."""
        pair = (row[self.playlist_id], person[self.person_id])
        rows = state[self.v.m.ids].values()
        there = any((m[self.playlist_id], m[self.person_id]) == pair for m in rows)
        visible = row["visibility"] == "public" or self.role == "collaborator"
        return visible and not there and row["owner_id"] != pair[1] and person["status"] == "active"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        for row in self.some(state, rng):
            people = [p for p in state[self.v.p.ids].values() if self.open(row, p, state)]
            if people:
                return {"name": pick(rng, people)["name"], "playlist": row["name"]}
        return None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        keys = {
            self.playlist_id: found(0, 0, self.playlist_id),
            self.person_id: found(1, 0, self.person_id),
        }
        find = call(f"find_{v.p.ids}", name=slots["name"])
        return [self.find_playlist(slots), find, call(f"join_{v.l.id}", **keys, role=self.role)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, person = self.playlist(slots, state), named(state, self.v.p, slots["name"])
        if not self.open(row, person, state):
            raise LookupError(f"{slots['name']} cannot join")
        fields = {
            self.playlist_id: row[self.playlist_id],
            self.person_id: person[self.person_id],
            "role": self.role,
            "since": state["today"],
        }
        item = f"Is {slots['name']} a {self.role} of {slots['playlist']}?"
        return [Added(self.v.m.ids, fields, item, ("followers",) if self.role == "follower" else ())]


class Collaborate(Follow):
    """Help with a playlist."""

    phrases = (
        "The <<p>> {name:name} is going to help with the <<l>> {playlist:name} and becomes a collaborator.",
        "Please add <<p>> {name:name} to the <<l>> {playlist:name} as a collaborator.",
    )
    role = "collaborator"


class Leave(PlaylistGoal):
    """Stop following or helping."""

    phrases: ClassVar[tuple[str, ...]] = (
        "The <<p>> {name:name} no longer wants to be part of the <<l>> {playlist:name}, so end that <<m>>.",
        "Please remove <<p>> {name:name} from those who follow or help with the <<l>> {playlist:name}.",
    )
    needs: ClassVar[tuple[str, ...]] = (
        "find_<<l.ids>>",
        "find_<<p.ids>>",
        "list_<<m.ids>>",
        "set_<<m.id>>_role",
    )
    old: ClassVar[tuple[str, ...]] = ("follower", "collaborator")
    new = "former"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.m.ids].values() if row["role"] in self.old]
        if not rows:
            return None
        row = pick(rng, rows)
        return {
            "name": state[self.v.p.ids][row[self.person_id]]["name"],
            "playlist": state[self.v.l.ids][row[self.playlist_id]]["name"],
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v, key = self.v, f"{self.v.m.id}_id"
        keys = {
            self.playlist_id: found(0, 0, self.playlist_id),
            self.person_id: found(1, 0, self.person_id),
        }
        return [
            self.find_playlist(slots),
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.m.ids}", **keys),
            call(f"set_{v.m.id}_role", **{key: found(2, 0, key)}, role=self.new),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row, person = self.playlist(slots, state), named(state, self.v.p, slots["name"])
        pair = (row[self.playlist_id], person[self.person_id])
        rows = state[self.v.m.ids].values()
        member = only([m for m in rows if (m[self.playlist_id], m[self.person_id]) == pair])
        if member["role"] not in self.old or (self.new == "follower" and row["visibility"] == "private"):
            raise LookupError("the role cannot change so")
        item = f"Has the role of {slots['name']} in {slots['playlist']} been set to {self.new}?"
        also = (*pair, "followers")
        return [Changed(self.v.m.ids, member[f"{self.v.m.id}_id"], {"role": self.new}, item, also)]


class Promote(Leave):
    """From follower to collaborator."""

    phrases = (
        "The <<p>> {name:name}, so far a follower of the <<l>> {playlist:name}, may change it as a collaborator now.",
        "Please promote <<p>> {name:name} from follower to collaborator of the <<l>> {playlist:name}.",
    )
    old = ("follower",)
    new = "collaborator"


class Create(PlaylistGoal):
    """A new playlist."""

    phrases = (
        "Please create a <<visible>> <<l>> called {playlist:name} for <<p>> {name:name}.",
        "The <<p>> {name:name} wants a new <<visible>> <<l>> with the name {playlist:name}.",
    )
    needs = ("find_<<p.ids>>", "create_<<l.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        people = [p for p in state[self.v.p.ids].values() if p["status"] == "active"]
        return {"name": pick(rng, people)["name"], "playlist": pick(rng, self.v.s.new_names)}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        who = {"owner_id": found(0, 0, self.person_id)}
        made = call(f"create_{self.v.l.id}", **who, name=slots["playlist"], visibility="public")
        return [call(f"find_{self.v.p.ids}", name=slots["name"]), made]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        person = named(state, self.v.p, slots["name"])
        taken = any(row["name"] == slots["playlist"] for row in state[self.v.l.ids].values())
        if person["status"] != "active" or taken:
            raise LookupError("it cannot be created")
        fields = {
            "name": slots["playlist"],
            "owner_id": person[self.person_id],
            "visibility": "public",
            "family_friendly": False,
            self.v.order: [],
            "updated_on": state["today"],
        }
        item = f"Has the public {self.v.l} {slots['playlist']} been created for {slots['name']}?"
        return [Added(self.v.l.ids, fields, item, (slots["playlist"],))]


class Publish(PlaylistGoal):
    """Make a private playlist public."""

    phrases = (
        "Everybody may see the <<l>> {playlist:name} from now on, so please make it public.",
        "Please make the private <<l>> {playlist:name} public.",
    )
    needs = ("find_<<l.ids>>", "set_<<l.id>>_visibility")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = [row for row in state[self.v.l.ids].values() if row["visibility"] == "private"]
        return {"playlist": pick(rng, rows)["name"]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        which = {self.playlist_id: found(0, 0, self.playlist_id)}
        show = call(f"set_{self.v.l.id}_visibility", **which, visibility="public")
        return [self.find_playlist(slots), show]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        row = self.playlist(slots, state)
        if row["visibility"] == "public":
            raise LookupError("it is public already")
        item = f"Is the {self.v.l} {slots['playlist']} public?"
        return [Changed(self.v.l.ids, row[self.playlist_id], {"visibility": "public"}, item)]


class Playlists(Pattern):
    """Ordered lists of pieces."""

    Settings = PlaylistSettings
    GOALS: ClassVar = (
        Add, AddFirst, AddShortest, AddToMostFollowed, Remove, Reorder, Follow, Collaborate, Leave, Promote, Create,
        Publish,
    )  # fmt: skip

    def vocabulary(self, s: PlaylistSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        t, l, m = Noun(s.piece), Noun(s.playlist), Noun(s.membership)  # noqa: E741
        shared[s.piece] = t
        shared[s.playlist] = l
        return {
            "t": t,
            "l": l,
            "m": m,
            "p": shared[s.person],
            "order": f"{t.id}_ids",
            "kinds": list(s.catalogue),
            "kindwords": s.kind.replace("_", " "),
            "lengthwords": s.length.replace("_", " "),
            "visible": "public",
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, t, l, m, p = v.s, v.t, v.l, v.m, v.p  # noqa: E741
        piece = [
            attribute(f"{t.id}_id", "str", f"unique id, e.g. {s.piece_prefix}-001"),
            attribute("title", "str", "what it is called"),
            attribute(s.maker, "str", "who made it"),
            attribute(s.kind, "str", f"{v.kindwords}: {', '.join(v.kinds)}"),
            attribute(s.length, "int", f"length in {v.lengthwords}"),
            attribute("explicit", "bool", "whether it is not meant for children"),
            *own(s.extras),
        ]
        playlist = [
            attribute(f"{l.id}_id", "str", f"unique id, e.g. {s.playlist_prefix}-001"),
            attribute("name", "str", "what it is called, unique"),
            attribute("owner_id", "str", f"the {p} who owns it"),
            attribute("visibility", "str", "public or private; private ones have no followers"),
            attribute("family_friendly", "bool", f"whether it takes no explicit {t.many}"),
            attribute(v.order, "list[str]", f"ids of its {t.many} in their order, none twice"),
            attribute("updated_on", "str", f"day its {t.many} last changed, as YYYY-MM-DD"),
        ]
        membership = [
            attribute(f"{m.id}_id", "str", f"unique id, e.g. {s.membership_prefix}-001"),
            attribute(f"{l.id}_id", "str", f"the {l}"),
            attribute(f"{p.id}_id", "str", f"the {p}"),
            attribute("role", "str", "follower, collaborator or former"),
            attribute("since", "str", "day it began, as YYYY-MM-DD"),
        ]
        return [
            Table(t, f"{t.a[:1].upper()}{t.a[1:]} of the catalogue.", piece),
            Table(l, f"{l.a[:1].upper()}{l.a[1:]}: {t.many} in an order.", playlist),
            Table(m, f"{m.a[:1].upper()}{m.a[1:]}: {p.a} who follows {l.a} or helps with it.", membership),
        ]

    RULES = (
        RuleText(
            "<<l.a[:1]|upper>><<l.a[1:]>> has at most <<s.max_pieces>> <<t.many>>, none of them twice.",
            """
            known = rows(after, "<<t.ids>>")
            for row in rows(after, "<<l.ids>>").values():
                order = row.get("<<order>>")
                if isinstance(order, list):
                    keys = [str(key) for key in order]
                    if len(keys) > <<s.max_pieces>> or len(keys) != len(set(keys)):
                        return False
                    if any(key not in known for key in keys):
                        return False
            return True
            """,
        ),
        RuleText(
            "A family-friendly <<l>> has no explicit <<t.many>>.",
            """
            known = rows(after, "<<t.ids>>")
            for row in rows(after, "<<l.ids>>").values():
                order = row.get("<<order>>") if isinstance(row.get("<<order>>"), list) else []
                if row.get("family_friendly") is True:
                    if any(known.get(str(key), {}).get("explicit") is True for key in order):
                        return False
            return True
            """,
        ),
        RuleText(
            "A private <<l>> has no followers, only collaborators.",
            """
            known = rows(after, "<<l.ids>>")
            return all(
                row.get("role") != "follower"
                or known.get(str(row.get("<<l.id>>_id")), {}).get("visibility") != "private"
                for row in rows(after, "<<m.ids>>").values()
            )
            """,
        ),
        RuleText(
            "Nobody has more than one <<m>> of <<l.a>>, and its owner has none.",
            """
            known, seen = rows(after, "<<l.ids>>"), set()
            for row in rows(after, "<<m.ids>>").values():
                pair = (str(row.get("<<l.id>>_id")), str(row.get("<<p.id>>_id")))
                if pair in seen or known.get(pair[0], {}).get("owner_id") == pair[1]:
                    return False
                seen.add(pair)
            return True
            """,
        ),
        RuleText(
            "No two <<l.many>> have the same name.",
            """
            names = [str(row.get("name")).lower() for row in rows(after, "<<l.ids>>").values()]
            return len(names) == len(set(names))
            """,
            rank=2,
        ),
        RuleText(
            "Changing the <<t.many>> of <<l.a>> sets the day of its last change.",
            """
            return all(new.get("updated_on") == after.get("today") for old, new in changed("<<l.ids>>", "<<order>>"))
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    def _followers(self, <<l.id>>_id: str) -> int:
        """Return how many <<p.many>> follow <<l.a>>."""
        return sum(
            <<m.id>>["<<l.id>>_id"] == <<l.id>>_id and <<m.id>>["role"] == "follower"
            for <<m.id>> in self.<<m.ids>>.values()
        )

    def _reorder(self, <<l.id>>: <<l.type>>, <<order>>: list[str]) -> None:
        """Give <<l.a>> these <<t.many>> in this order, as of today."""
        <<l.id>>["<<order>>"] = <<order>>
        <<l.id>>["updated_on"] = self.today
'''

    READS = '''
def find_<<t.ids>>(
    self,
    text: str | None = None,
    <<s.kind>>: str | None = None,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
    explicit: bool | None = None,
) -> dict:
    """Search the catalogue for <<t.many>>, the shortest first.

    Args:
        text: A part of the title or of the <<s.maker>>; upper and lower case are the same. Leave out for all.
        <<s.kind>>: Only this <<kindwords>>: <<kinds|join(", ")>>. Leave out for all.
%% for x in filters
        <<x.name>>: Only those with this value: <<x.about>>. Leave out for all.
%% endfor
        explicit: True for only explicit ones, False for only the others. Leave out for all.

    Returns:
        The matching <<t.many>> sorted by their length; an empty list when nothing matches.
    """
    if <<s.kind>> is not None and <<s.kind>> not in (<<quoted(kinds)>>):
        return {"success": False, "error": f"There is no <<kindwords>> {<<s.kind>>!r}."}
    wanted = (text or "").strip().lower()
    matches = [
        dict(<<t.id>>)
        for <<t.id>> in self.<<t.ids>>.values()
        if (wanted in <<t.id>>["title"].lower() or wanted in <<t.id>>["<<s.maker>>"].lower())
        and <<s.kind>> in (None, <<t.id>>["<<s.kind>>"])
%% for x in filters
        and <<x.name>> in (None, <<t.id>>["<<x.name>>"])
%% endfor
        and explicit in (None, <<t.id>>["explicit"])
    ]
    matches.sort(key=lambda <<t.id>>: (<<t.id>>["<<s.length>>"], <<t.id>>["<<t.id>>_id"]))
    return {"success": True, "data": matches}

def get_<<t.id>>(self, <<t.id>>_id: str) -> dict:
    """Show one <<t>> with the public <<l.many>> it is in.

    Args:
        <<t.id>>_id: Id of the <<t>>, e.g. <<s.piece_prefix>>-001.

    Returns:
        The <<t>> and the names of the public <<l.many>> that have it, or an error for an unknown id.
    """
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    public = [<<l.id>> for <<l.id>> in self.<<l.ids>>.values() if <<l.id>>["visibility"] == "public"]
    holding = sorted(<<l.id>>["name"] for <<l.id>> in public if <<t.id>>_id in <<l.id>>["<<order>>"])
    return {"success": True, "data": {**<<t.id>>, "<<l.ids>>": holding}}

def find_<<l.ids>>(
    self,
    text: str | None = None,
    owner_id: str | None = None,
    visibility: str | None = None,
) -> dict:
    """Search the <<l.many>>.

    Args:
        text: A part of the name; upper and lower case are the same. Leave out for all.
        owner_id: Only those of this <<p>>. Leave out for all.
        visibility: Only those that are public or private. Leave out for all.

    Returns:
        The matching <<l.many>> sorted by name; an empty list when nothing matches.
    """
    if visibility not in (None, "public", "private"):
        return {"success": False, "error": f"The visibility is public or private, not {visibility!r}."}
    wanted = (text or "").strip().lower()
    matches = [
        dict(<<l.id>>)
        for <<l.id>> in self.<<l.ids>>.values()
        if wanted in <<l.id>>["name"].lower()
        and owner_id in (None, <<l.id>>["owner_id"])
        and visibility in (None, <<l.id>>["visibility"])
    ]
    return {"success": True, "data": sorted(matches, key=lambda entry: entry["name"])}

def get_<<l.id>>(self, <<l.id>>_id: str) -> dict:
    """Show one <<l>> with its <<t.many>> in their order, its whole length and its followers.

    Args:
        <<l.id>>_id: Id of the <<l>>, e.g. <<s.playlist_prefix>>-001.

    Returns:
        The <<l>>, its <<t.many>>, the sum of their <<lengthwords>> and the number of followers, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    <<t.ids>> = [dict(self.<<t.ids>>[key]) for key in <<l.id>>["<<order>>"]]
    return {
        "success": True,
        "data": {
            **<<l.id>>,
            "<<t.ids>>": <<t.ids>>,
            "total_<<s.length>>": sum(<<t.id>>["<<s.length>>"] for <<t.id>> in <<t.ids>>),
            "followers": self._followers(<<l.id>>_id),
        },
    }

def list_popular_<<l.ids>>(self) -> dict:
    """List the public <<l.many>>, those with the most followers first.

    Returns:
        The public <<l.many>>, each with the number of its `followers`.
    """
    public = [
        {**<<l.id>>, "followers": self._followers(key)}
        for key, <<l.id>> in self.<<l.ids>>.items()
        if <<l.id>>["visibility"] == "public"
    ]
    return {"success": True, "data": sorted(public, key=lambda entry: (-entry["followers"], entry["name"]))}

def list_<<m.ids>>(
    self,
    <<l.id>>_id: str | None = None,
    <<p.id>>_id: str | None = None,
    role: str | None = None,
) -> dict:
    """List who follows or helps with which <<l>>, owners left out.

    Args:
        <<l.id>>_id: Only of this <<l>>. Leave out for all.
        <<p.id>>_id: Only of this <<p>>. Leave out for all.
        role: Only follower, collaborator or former. Leave out for all.

    Returns:
        The <<m.many>> in the order in which they began.
    """
    if role not in (None, "follower", "collaborator", "former"):
        return {"success": False, "error": f"There is no role {role!r}."}
    selected = [
        dict(<<m.id>>)
        for <<m.id>> in self.<<m.ids>>.values()
        if <<l.id>>_id in (None, <<m.id>>["<<l.id>>_id"])
        and <<p.id>>_id in (None, <<m.id>>["<<p.id>>_id"])
        and role in (None, <<m.id>>["role"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: (entry["since"], entry["<<m.id>>_id"]))}
'''

    WRITES = '''
def create_<<l.id>>(
    self, owner_id: str, name: str, visibility: str = "public", family_friendly: bool = False
) -> dict:
    """Create an empty <<l>>.

    Args:
        owner_id: Id of the active <<p>> who owns it.
        name: What it is called; no other <<l>> may have this name.
        visibility: public or private.
        family_friendly: True for one that takes no explicit <<t.many>>.

    Returns:
        The new <<l>>, or an error.
    """
    <<p.id>> = self.<<p.ids>>.get(owner_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {owner_id!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if not name.strip():
        return {"success": False, "error": "A name is required."}
    if any(entry["name"].lower() == name.strip().lower() for entry in self.<<l.ids>>.values()):
        return {"success": False, "error": f"There is <<l.a>> {name.strip()} already."}
    if visibility not in ("public", "private"):
        return {"success": False, "error": f"The visibility is public or private, not {visibility!r}."}
    <<l.id>>: <<l.type>> = {
        "<<l.id>>_id": self._next_id(self.<<l.ids>>, "<<s.playlist_prefix>>"),
        "name": name.strip(),
        "owner_id": owner_id,
        "visibility": visibility,
        "family_friendly": family_friendly,
        "<<order>>": [],
        "updated_on": self.today,
    }
    self.<<l.ids>>[<<l.id>>["<<l.id>>_id"]] = <<l.id>>
    return {"success": True, "message": f"<<l.cap>> {name.strip()} created.", "data": dict(<<l.id>>)}

def rename_<<l.id>>(self, <<l.id>>_id: str, name: str) -> dict:
    """Give <<l.a>> another name.

    Args:
        <<l.id>>_id: Id of the <<l>>.
        name: The new name; no other <<l>> may have it.

    Returns:
        The renamed <<l>>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if not name.strip():
        return {"success": False, "error": "A name is required."}
    if any(entry["name"].lower() == name.strip().lower() for entry in self.<<l.ids>>.values()):
        return {"success": False, "error": f"There is <<l.a>> {name.strip()} already."}
    <<l.id>>["name"] = name.strip()
    return {"success": True, "message": f"<<l.cap>> {<<l.id>>_id} is called {name.strip()}.", "data": dict(<<l.id>>)}

def add_<<t.id>>(self, <<l.id>>_id: str, <<t.id>>_id: str, position: int | None = None) -> dict:
    """Put <<t.a>> into <<l.a>>.

    Args:
        <<l.id>>_id: Id of the <<l>>, which has fewer than <<s.max_pieces>> <<t.many>>.
        <<t.id>>_id: Id of the <<t>>, not explicit when the <<l>> is family-friendly.
        position: Place in the order, 1 for the first. Leave out for the end.

    Returns:
        The changed <<l>>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    <<t.id>> = self.<<t.ids>>.get(<<t.id>>_id)
    if <<t.id>> is None:
        return {"success": False, "error": f"There is no <<t>> with the id {<<t.id>>_id!r}."}
    <<order>> = list(<<l.id>>["<<order>>"])
    if <<t.id>>_id in <<order>>:
        return {"success": False, "error": f"{<<t.id>>['title']} is in {<<l.id>>['name']} already."}
    if len(<<order>>) >= <<s.max_pieces>>:
        return {"success": False, "error": f"{<<l.id>>['name']} has <<s.max_pieces>> <<t.many>> already."}
    if <<t.id>>["explicit"] and <<l.id>>["family_friendly"]:
        return {"success": False, "error": f"{<<l.id>>['name']} is family-friendly; {<<t.id>>['title']} is explicit."}
    place = len(<<order>>) + 1 if position is None else position
    if not 1 <= place <= len(<<order>>) + 1:
        return {"success": False, "error": f"The position is 1 to {len(<<order>>) + 1}, not {place}."}
    <<order>>.insert(place - 1, <<t.id>>_id)
    self._reorder(<<l.id>>, <<order>>)
    return {"success": True, "message": f"{<<t.id>>['title']} added to {<<l.id>>['name']}.", "data": dict(<<l.id>>)}

def remove_<<t.id>>(self, <<l.id>>_id: str, <<t.id>>_id: str) -> dict:
    """Take <<t.a>> out of <<l.a>>; the others keep their order.

    Args:
        <<l.id>>_id: Id of the <<l>>.
        <<t.id>>_id: Id of the <<t>>, which has to be in it.

    Returns:
        The changed <<l>>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if <<t.id>>_id not in <<l.id>>["<<order>>"]:
        return {"success": False, "error": f"{<<l.id>>['name']} does not have {<<t.id>>_id!r}."}
    self._reorder(<<l.id>>, [key for key in <<l.id>>["<<order>>"] if key != <<t.id>>_id])
    return {"success": True, "message": f"{<<t.id>>_id} taken out of {<<l.id>>['name']}.", "data": dict(<<l.id>>)}

def move_<<t.id>>(self, <<l.id>>_id: str, <<t.id>>_id: str, position: int) -> dict:
    """Move <<t.a>> to another position within <<l.a>>.

    Args:
        <<l.id>>_id: Id of the <<l>>.
        <<t.id>>_id: Id of the <<t>>, which has to be in it.
        position: New place in the order, 1 for the first; another one than before.

    Returns:
        The changed <<l>>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if <<t.id>>_id not in <<l.id>>["<<order>>"]:
        return {"success": False, "error": f"{<<l.id>>['name']} does not have {<<t.id>>_id!r}."}
    if not 1 <= position <= len(<<l.id>>["<<order>>"]):
        return {"success": False, "error": f"The position is 1 to {len(<<l.id>>['<<order>>'])}, not {position}."}
    if <<l.id>>["<<order>>"][position - 1] == <<t.id>>_id:
        return {"success": False, "error": f"{<<t.id>>_id} is at position {position} already."}
    <<order>> = [key for key in <<l.id>>["<<order>>"] if key != <<t.id>>_id]
    <<order>>.insert(position - 1, <<t.id>>_id)
    self._reorder(<<l.id>>, <<order>>)
    return {"success": True, "message": f"{<<t.id>>_id} is at position {position}.", "data": dict(<<l.id>>)}

def set_<<l.id>>_visibility(self, <<l.id>>_id: str, visibility: str) -> dict:
    """Make <<l.a>> public or private.

    Args:
        <<l.id>>_id: Id of the <<l>>; it may not have followers when it becomes private.
        visibility: public or private; another one than before.

    Returns:
        The changed <<l>>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    if visibility not in ("public", "private"):
        return {"success": False, "error": f"The visibility is public or private, not {visibility!r}."}
    if <<l.id>>["visibility"] == visibility:
        return {"success": False, "error": f"{<<l.id>>['name']} is {visibility} already."}
    followers = self._followers(<<l.id>>_id)
    if visibility == "private" and followers:
        return {"success": False, "error": f"{<<l.id>>['name']} has {followers} followers."}
    <<l.id>>["visibility"] = visibility
    return {"success": True, "message": f"{<<l.id>>['name']} is {visibility}.", "data": dict(<<l.id>>)}

def join_<<l.id>>(self, <<l.id>>_id: str, <<p.id>>_id: str, role: str = "follower") -> dict:
    """Let <<p.a>> follow <<l.a>> or help with it.

    Args:
        <<l.id>>_id: Id of the <<l>>; a private one takes no followers.
        <<p.id>>_id: Id of an active <<p>> who does not own it and never had <<m.a>> of it.
        role: follower or collaborator.

    Returns:
        The new <<m>>, or an error.
    """
    <<l.id>> = self.<<l.ids>>.get(<<l.id>>_id)
    if <<l.id>> is None:
        return {"success": False, "error": f"There is no <<l>> with the id {<<l.id>>_id!r}."}
    <<p.id>> = self.<<p.ids>>.get(<<p.id>>_id)
    if <<p.id>> is None:
        return {"success": False, "error": f"There is no <<p>> with the id {<<p.id>>_id!r}."}
    if role not in ("follower", "collaborator"):
        return {"success": False, "error": f"The role is follower or collaborator, not {role!r}."}
    if <<p.id>>["status"] != "active":
        return {"success": False, "error": f"{<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}."}
    if role == "follower" and <<l.id>>["visibility"] == "private":
        return {"success": False, "error": f"{<<l.id>>['name']} is private and takes no followers."}
    if <<l.id>>["owner_id"] == <<p.id>>_id:
        return {"success": False, "error": f"{<<p.id>>['name']} owns {<<l.id>>['name']}."}
    known = any(
        (<<m.id>>["<<l.id>>_id"], <<m.id>>["<<p.id>>_id"]) == (<<l.id>>_id, <<p.id>>_id)
        for <<m.id>> in self.<<m.ids>>.values()
    )
    if known:
        return {"success": False, "error": f"{<<p.id>>['name']} has <<m.a>> of it on record."}
    <<m.id>>: <<m.type>> = {
        "<<m.id>>_id": self._next_id(self.<<m.ids>>, "<<s.membership_prefix>>"),
        "<<l.id>>_id": <<l.id>>_id,
        "<<p.id>>_id": <<p.id>>_id,
        "role": role,
        "since": self.today,
    }
    self.<<m.ids>>[<<m.id>>["<<m.id>>_id"]] = <<m.id>>
    return {
        "success": True,
        "message": f"{<<p.id>>['name']} is a {role} of {<<l.id>>['name']}.",
        "data": dict(<<m.id>>),
    }

def set_<<m.id>>_role(self, <<m.id>>_id: str, role: str) -> dict:
    """Change the part somebody has in <<l.a>>, or end it.

    Args:
        <<m.id>>_id: Id of the <<m>>.
        role: One of follower, collaborator, former; another one than before, and no follower of a private <<l>>.

    Returns:
        The changed <<m>>, or an error.
    """
    <<m.id>> = self.<<m.ids>>.get(<<m.id>>_id)
    if <<m.id>> is None:
        return {"success": False, "error": f"There is no <<m>> with the id {<<m.id>>_id!r}."}
    if role not in ("follower", "collaborator", "former"):
        return {"success": False, "error": f"There is no role {role!r}."}
    if <<m.id>>["role"] == role:
        return {"success": False, "error": f"The role is {role} already."}
    if role == "follower" and self.<<l.ids>>[<<m.id>>["<<l.id>>_id"]]["visibility"] == "private":
        return {"success": False, "error": "A private <<l>> takes no followers."}
    <<m.id>>["role"] = role
    return {"success": True, "message": f"The role of {<<m.id>>_id} is {role}.", "data": dict(<<m.id>>)}
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        for kind in v.kinds:
            for entry in shuffled(rng, s.catalogue[kind])[:4]:
                title, maker = entry.split(" / ")
                key = key_of(s.piece_prefix, len(state[v.t.ids]) + 1)
                state[v.t.ids][key] = {
                    f"{v.t.id}_id": key,
                    "title": title,
                    s.maker: maker,
                    s.kind: kind,
                    s.length: int(rng.integers(*s.lengths)),
                    "explicit": bool(rng.random() < 0.2),
                    **{x.name: x.draw(rng) for x in s.extras},
                }
        for n, name in enumerate(shuffled(rng, s.names)[: int(rng.integers(7, 10))]):
            self._playlist(v, state, rng, name, private=n < 2, loved=n == 3)

    def _playlist(
        self, v: SimpleNamespace, state: State, rng: Rng, name: str, private: bool, loved: bool
    ) -> None:
        s = v.s
        key = key_of(s.playlist_prefix, len(state[v.l.ids]) + 1)
        friendly = bool(rng.random() < 0.4)
        pieces = [k for k, row in state[v.t.ids].items() if not (friendly and row["explicit"])]
        people = shuffled(rng, [k for k, row in state[v.p.ids].items() if row["status"] == "active"])
        changed = later(state["today"], -int(rng.integers(1, 80)))
        state[v.l.ids][key] = {
            f"{v.l.id}_id": key,
            "name": name,
            "owner_id": people[0],
            "visibility": "private" if private else "public",
            "family_friendly": friendly,
            v.order: shuffled(rng, pieces)[: int(rng.integers(3, s.max_pieces))],
            "updated_on": changed,
        }
        most = 5 if loved else min(int(rng.integers(1, 5)), 24 - len(state[v.m.ids]))
        for n, person in enumerate(people[1 : 1 + (1 if private else most)]):
            member = key_of(s.membership_prefix, len(state[v.m.ids]) + 1)
            state[v.m.ids][member] = {
                f"{v.m.id}_id": member,
                f"{v.l.id}_id": key,
                f"{v.p.id}_id": person,
                "role": "collaborator" if private or (n == 3 and not loved) else "follower",
                "since": later(changed, -int(rng.integers(1, 60))),
            }


PATTERN = Playlists
