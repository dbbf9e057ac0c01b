"""Feed: profiles that post for an audience, follow, tag, report and block each other."""

from collections import Counter
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
AUDIENCES = ("everyone", "followers", "only me")


class FeedSettings(Settings):
    """A network's data."""

    pages: list[str]
    """Names of profiles that are no people."""
    page_posts: list[str]
    """What these post."""
    posts: list[str]
    """What people post."""
    comments: list[str]
    """What is said about it."""
    shunned: dict[str, str]
    """Unwelcome word → a comment that has it."""
    reasons: list[str]
    """Why posts are reported."""
    max_strikes: int = 3
    """Posts removed by moderators after which a profile is suspended."""


class Feed(Goal):
    """What goals about profiles and posts share."""

    def profile(self, name: str, state: State) -> str:
        """The id of a profile that is active."""
        row = named(state, self.v.profile, name)
        if row["status"] != "active":
            raise LookupError(f"{name} is suspended")
        return str(row["profile_id"])

    def newest(self, profile: str, state: State) -> Row:
        """The latest post that a profile has published."""
        rows = [
            p for p in state["posts"].values() if p["profile_id"] == profile and p["status"] == "published"
        ]
        if not rows:
            raise LookupError("nothing is published")
        return dict(max(rows, key=lambda row: (row["publish_on"], row["post_id"])))

    def tie(self, follower: str, followed: str, state: State) -> Row | None:
        """The follow of one profile by another, whatever became of it."""
        rows = [
            f
            for f in state["follows"].values()
            if (f["follower_id"], f["followed_id"]) == (follower, followed)
        ]
        return rows[0] if rows else None

    def blocked(self, one: str, two: str, state: State) -> bool:
        """Whether either has blocked the other."""
        return one in state["profiles"][two]["blocked_ids"] or two in state["profiles"][one]["blocked_ids"]

    def seen(self, viewer: str, post: Row, state: State) -> None:
        """Refuse a post that somebody does not see."""
        tie = self.tie(viewer, post["profile_id"], state)
        follows = tie is not None and tie["status"] == "active"
        allowed = post["audience"] == "everyone" or (post["audience"] == "followers" and follows)
        if viewer == post["profile_id"] or not allowed or self.blocked(viewer, post["profile_id"], state):
            raise LookupError("it is not seen, or one's own")

    def counted(self, profile: str, by: int, state: State) -> Changed:
        """So many followers more."""
        row = state["profiles"][profile]
        item = f"Has the number of followers of {row['name']} changed by {by}?"
        return Changed("profiles", profile, {"followers": row["followers"] + by}, item)

    def anyone(self, state: State, rng: Rng, **slots: Any) -> Slots | None:
        """Those slots with the name of a profile that fits."""
        rows = shuffled(rng, list(state["profiles"].values()))
        return first_fitting(self, ({"name": row["name"], **slots} for row in rows), state)

    def two(self, state: State, rng: Rng, **slots: Any) -> Slots | None:
        """Those slots with the names of two profiles that fit."""
        rows = [row["name"] for row in state["profiles"].values()]
        pairs = shuffled(rng, [(one, other) for one in rows for other in rows if one != other])
        return first_fitting(self, ({"name": one, "other": other, **slots} for one, other in pairs), state)


def look(*people: str) -> list[Row]:
    """The calls that find profiles."""
    return [call("find_profiles", name=name) for name in people]


def who(index: int) -> Row:
    """The profile found by that call."""
    return found(index, 0, "profile_id")


def published(index: int) -> Row:
    """The call that lists what that profile has published, the newest first."""
    return call("list_posts", profile_id=who(index), status="published")


class Comment(Feed):
    """Say something about somebody's newest post."""

    phrases = (
        'Comment "{text:text}" on the newest post of {other:name} in the name of {name:name}.',
        '{name:name} would like to write "{text:text}" under the latest post that {other:name} has published.',
    )
    needs = ("find_profiles", "list_posts", "add_comment")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.two(state, rng, text=pick(rng, self.v.s.comments))

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"post_id": found(2, 0, "post_id"), "profile_id": who(0), "text": slots["text"]}
        return [*look(slots["name"], slots["other"]), published(1), call("add_comment", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, post = (
            self.profile(slots["name"], state),
            self.newest(self.profile(slots["other"], state), state),
        )
        self.seen(one, post, state)
        if not post["comments_open"]:
            raise LookupError("comments are closed")
        fields = {"post_id": post["post_id"], "profile_id": one, "text": slots["text"], "hidden": False}
        item = f"Has {slots['name']} commented on the newest post of {slots['other']}?"
        return [Added("comments", {**fields, "made_on": state["today"]}, item)]


CommentInOwnWords = in_own_words(
    Comment,
    "text",
    "Write a kind comment on the newest post of {other:name} in the name of {name:name}.",
    "{name:name} would like to comment on the latest post that {other:name} has published; find words for it.",
)


class Schedule(Feed):
    """A post for a day to come."""

    phrases = (
        'Queue a post by {name:name} for {day:date}, for {audience:name}, that says "{text:text}".',
        'On {day:date} the profile {name:name} should post "{text:text}" for {audience:name}.',
    )
    needs = ("find_profiles", "write_post")
    weight = 0.5

    def draw(self, state: State, rng: Rng) -> Slots | None:
        day, pages = later(state["today"], int(rng.integers(2, 40))), self.v.s.pages
        slots = {
            "day": day,
            "text": pick(rng, self.v.s.page_posts),
            "audience": pick(rng, ["everyone", "followers"]),
        }
        return first_fitting(self, ({"name": name, **slots} for name in shuffled(rng, pages)), state)

    def plan(self, slots: Slots) -> list[Row]:
        given = {"text": slots["text"], "audience": slots["audience"], "publish_on": slots["day"]}
        return [*look(slots["name"]), call("write_post", profile_id=who(0), **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        fields = {
            "profile_id": self.profile(slots["name"], state),
            "text": slots["text"],
            "replaces_id": None,
        }
        fields |= {"audience": slots["audience"], "status": "scheduled", "publish_on": slots["day"]}
        item = f"Has the post by {slots['name']} been queued for {slots['day']}?"
        return [Added("posts", {**fields, "removed_by": None, "comments_open": True}, item)]


class Shift(Feed):
    """Everything queued comes later."""

    phrases = (
        "Push all queued posts of {name:name} back by {days:int} days.",
        "Every scheduled post of {name:name} has to come {days:int} days later than planned, so move them all.",
    )
    needs = ("find_profiles", "shift_schedule")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng, days=int(rng.integers(2, 15)))

    def plan(self, slots: Slots) -> list[Row]:
        return [*look(slots["name"]), call("shift_schedule", profile_id=who(0), days=slots["days"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.profile(slots["name"], state)
        rows = {
            k: p for k, p in state["posts"].items() if p["profile_id"] == one and p["status"] == "scheduled"
        }
        if not rows:
            raise LookupError("nothing is queued")
        days = {key: later(row["publish_on"], slots["days"]) for key, row in rows.items()}
        return [
            Changed("posts", key, {"publish_on": day}, f"Is the post {key} queued for {day}?", (one,))
            for key, day in days.items()
        ]


class Limit(Feed):
    """Old posts are for followers only."""

    phrases = (
        "Make everything that {name:name} published before {before:date} visible to followers only.",
        "Posts of {name:name} from before {before:date} that anybody can see should be for followers from now on.",
    )
    needs = ("find_profiles", "limit_old_posts")
    weight = 0.6

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng, before=later(state["today"], -int(rng.integers(5, 40))))

    def plan(self, slots: Slots) -> list[Row]:
        given = {"before": slots["before"], "audience": "followers"}
        return [*look(slots["name"]), call("limit_old_posts", profile_id=who(0), **given)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.profile(slots["name"], state)
        rows = [p for p in state["posts"].values() if p["profile_id"] == one and p["status"] == "published"]
        old = [
            p["post_id"] for p in rows if p["publish_on"] < slots["before"] and p["audience"] == "everyone"
        ]
        if not old:
            raise LookupError("nothing is that old")
        item = "Is the post {} visible to followers only?"
        return [Changed("posts", key, {"audience": "followers"}, item.format(key), (one,)) for key in old]


class Correct(Feed):
    """The newest post goes out again."""

    phrases = (
        'There is a mistake in the newest post of {name:name}: take it down and put it back up as "{text:text}".',
        'Take down the latest post that {name:name} has published, and publish it again with the text "{text:text}".',
    )
    needs = ("find_profiles", "list_posts", "correct_post")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows, s = shuffled(rng, list(state["profiles"].values())), self.v.s
        texts = {"page": pick(rng, s.page_posts), "person": pick(rng, s.posts)}
        return first_fitting(self, ({"name": row["name"], "text": texts[row["kind"]]} for row in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        again = call("correct_post", replaces_id=found(1, 0, "post_id"), text=slots["text"])
        return [*look(slots["name"]), published(0), again]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        post = self.newest(self.profile(slots["name"], state), state)
        key, tags = post["post_id"], [t for t in state["tags"].values() if t["post_id"] == post["post_id"]]
        if any(r["post_id"] == key and r["status"] == "open" for r in state["reports"].values()):
            raise LookupError("it has been reported")
        if post["text"] == slots["text"]:
            raise LookupError("it says that already")
        kept = {name: post[name] for name in ("profile_id", "audience", "comments_open", "status")}
        fields = {
            **kept,
            "text": slots["text"],
            "publish_on": state["today"],
            "replaces_id": key,
            "removed_by": None,
        }
        gone = {"status": "removed", "removed_by": "author"}
        return [
            Changed("posts", key, gone, f"Is the post {key} taken down?"),
            Added("posts", fields, f"Has {slots['name']} published it again with the wanted text?"),
            *(
                Changed("tags", t["tag_id"], {"status": "removed"}, f"Is the tag {t['tag_id']} removed?")
                for t in tags
                if t["status"] != "removed"
            ),
        ]


class CloseComments(Feed):
    """No more comments, and some are hidden."""

    phrases = (
        "Turn off comments under the newest post of {name:name}, and hide those with the word {word:name} in them.",
        "Under the latest post that {name:name} has published nobody should comment any more, and what is there with "
        "the word {word:name} has to be hidden.",
    )
    needs = ("find_profiles", "list_posts", "close_comments")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        pairs = [
            (state["posts"][c["post_id"]]["profile_id"], word)
            for c in state["comments"].values()
            for word in self.v.s.shunned
            if word in c["text"].lower()
        ]
        rude = [{"name": state["profiles"][key]["name"], "word": word} for key, word in shuffled(rng, pairs)]
        return first_fitting(self, rude, state) or self.anyone(
            state, rng, word=pick(rng, list(self.v.s.shunned))
        )

    def plan(self, slots: Slots) -> list[Row]:
        close = call("close_comments", post_id=found(1, 0, "post_id"), words=slots["word"])
        return [*look(slots["name"]), published(0), close]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        post = self.newest(self.profile(slots["name"], state), state)
        if not post["comments_open"]:
            raise LookupError("they are closed")
        item = f"Is the newest post of {slots['name']} closed for comments?"
        rude = [
            c["comment_id"]
            for c in state["comments"].values()
            if c["post_id"] == post["post_id"] and not c["hidden"] and slots["word"] in c["text"].lower()
        ]
        return [
            Changed("posts", post["post_id"], {"comments_open": False}, item, (post["profile_id"],)),
            *(Changed("comments", key, {"hidden": True}, f"Is the comment {key} hidden?") for key in rude),
        ]


class FollowSuggested(Feed):
    """Follow whom most of those follow whom one follows."""

    phrases = (
        "Of the profiles suggested to {name:name}, follow the one at the top of the list.",
        "{name:name} wants to follow one more profile: the one at the top of the suggestions.",
    )
    needs = ("find_profiles", "suggest_profiles", "follow_profile")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"follower_id": who(0), "followed_id": found(1, 0, "followed_id")}
        return [
            *look(slots["name"]),
            call("suggest_profiles", follower_id=who(0)),
            call("follow_profile", **ends),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, live = self.profile(slots["name"], state), {"active", "requested"}
        ties = [(f["follower_id"], f["followed_id"], f["status"]) for f in state["follows"].values()]
        mine = {b for a, b, status in ties if a == one and status in live}
        circle = {b for a, b, status in ties if a == one and status == "active"}
        counts = Counter(b for a, b, status in ties if a in circle and status == "active")
        fit = {k: n for k, n in counts.items() if k not in mine | {one} and not self.blocked(one, k, state)}
        fit = {key: count for key, count in fit.items() if state["profiles"][key]["status"] == "active"}
        target = only([key for key, count in fit.items() if count == max(fit.values())])
        locked, old = state["profiles"][target]["locked"], self.tie(one, target, state)
        fields = {"status": "requested" if locked else "active", "since": state["today"]}
        item, also = f"Has {slots['name']} followed the first suggestion?", ("suggestions",)
        ends = {"follower_id": one, "followed_id": target}
        tie: Outcome = Added("follows", {**ends, **fields}, item, also)
        if old is not None:
            tie = Changed("follows", old["follow_id"], fields, item, (*ends.values(), *also))
        return [tie] if locked else [tie, self.counted(target, 1, state)]


class Accept(Feed):
    """The first request to follow is accepted."""

    phrases: ClassVar[tuple[str, ...]] = (
        "Accept the follow request that has been waiting longest for {name:name}.",
        "{name:name} is fine with the oldest request to follow that profile, so accept it.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_profiles", "list_follows", "answer_request")
    accept: ClassVar[bool] = True

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"follow_id": found(1, "requests", 0, "follow_id"), "accept": self.accept}
        return [*look(slots["name"]), call("list_follows", profile_id=who(0)), call("answer_request", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.profile(slots["name"], state)
        rows = [
            f for f in state["follows"].values() if f["followed_id"] == one and f["status"] == "requested"
        ]
        first = min((row["since"] for row in rows), default="")
        tie = only([row for row in rows if row["since"] == first])
        fields = {"status": "active" if self.accept else "ended", "since": state["today"]}
        item = f"Has the oldest follow request to {slots['name']} been {'accepted' if self.accept else 'declined'}?"
        answered = Changed("follows", tie["follow_id"], fields, item, (one, tie["follower_id"]))
        return [answered, self.counted(one, 1, state)] if self.accept else [answered]


class Decline(Accept):
    """It is declined."""

    phrases = (
        "Decline the follow request that has been waiting longest for {name:name}.",
        "{name:name} does not want the one who asked first as a follower, so turn that request down.",
    )
    accept = False


class UnfollowSilent(Feed):
    """Unfollow a profile one has nothing to say to."""

    phrases = (
        "Of the profiles that {name:name} follows without ever commenting there, unfollow the one followed longest.",
        "Look for the profiles that {name:name} follows but never commented on, and unfollow the one followed longest.",
    )
    needs = ("find_profiles", "list_silent_follows", "unfollow_profile")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"follower_id": who(0), "followed_id": found(1, 0, "followed_id")}
        silent = call("list_silent_follows", follower_id=who(0))
        return [*look(slots["name"]), silent, call("unfollow_profile", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.profile(slots["name"], state)
        mine = [c["post_id"] for c in state["comments"].values() if c["profile_id"] == one]
        spoken = {state["posts"][key]["profile_id"] for key in mine}
        rows = [f for f in state["follows"].values() if f["follower_id"] == one and f["status"] == "active"]
        rows = [f for f in rows if f["followed_id"] not in spoken]
        first = min((row["since"] for row in rows), default="")
        tie = only([row for row in rows if row["since"] == first])
        item = f"Has {slots['name']} stopped following {state['profiles'][tie['followed_id']]['name']}?"
        return [
            Changed("follows", tie["follow_id"], {"status": "ended"}, item, (one,)),
            self.counted(tie["followed_id"], -1, state),
        ]


class Block(Feed):
    """Two profiles have nothing to do with each other any more."""

    phrases = (
        "{name:name} wants to block {other:name}, which ends every follow and tag between the two.",
        "Block {other:name} for {name:name}.",
    )
    needs = ("find_profiles", "block_profile")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        tied = [f for f in state["follows"].values() if f["status"] == "active"]
        pairs = [(f["followed_id"], f["follower_id"]) for f in shuffled(rng, tied)]
        rows = [(state["profiles"][a]["name"], state["profiles"][b]["name"]) for a, b in pairs]
        return first_fitting(self, ({"name": one, "other": other} for one, other in rows), state)

    def plan(self, slots: Slots) -> list[Row]:
        return [
            *look(slots["name"], slots["other"]),
            call("block_profile", profile_id=who(0), other_id=who(1)),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, other = (self.profile(slots[name], state) for name in ("name", "other"))
        mine, ends = state["profiles"][one], {one, other}
        if one == other or other in mine["blocked_ids"]:
            raise LookupError("it is so already")
        ties = [f for f in state["follows"].values() if {f["follower_id"], f["followed_id"]} == ends]
        lost = Counter(f["followed_id"] for f in ties if f["status"] == "active")
        tags = [
            key
            for key, t in state["tags"].items()
            if t["status"] != "removed"
            and {t["profile_id"], state["posts"][t["post_id"]]["profile_id"]} == ends
        ]
        new = {
            "blocked_ids": sorted([*mine["blocked_ids"], other]),
            "followers": mine["followers"] - lost[one],
        }
        return [
            Changed("profiles", one, new, f"Has {slots['name']} blocked {slots['other']}?", (other,)),
            *([self.counted(other, -1, state)] if lost[other] else []),
            *(
                Changed(
                    "follows",
                    f["follow_id"],
                    {"status": "ended"},
                    f"Has the follow {f['follow_id']} been ended?",
                )
                for f in ties
                if f["status"] != "ended"
            ),
            *(
                Changed("tags", key, {"status": "removed"}, f"Has the tag {key} been removed?")
                for key in tags
            ),
        ]


class ApproveTag(Feed):
    """A tag is approved."""

    phrases: ClassVar[tuple[str, ...]] = (
        "{name:name} is happy with the oldest tag that is waiting for approval, so approve it.",
        "Approve the tag of {name:name} that has been pending longest.",
    )
    needs: ClassVar[tuple[str, ...]] = ("find_profiles", "list_tags", "decide_tag")
    status: ClassVar[str] = "approved"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"tag_id": found(1, 0, "tag_id"), "profile_id": who(0), "approve": self.status == "approved"}
        return [
            *look(slots["name"]),
            call("list_tags", profile_id=who(0), status="pending"),
            call("decide_tag", **ends),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one = self.profile(slots["name"], state)
        rows = [
            k for k, t in sorted(state["tags"].items()) if (t["profile_id"], t["status"]) == (one, "pending")
        ]
        if not rows:
            raise LookupError("nothing is pending")
        post = state["posts"][state["tags"][rows[0]]["post_id"]]
        if self.status == "approved" and post["status"] != "published":
            raise LookupError("the post is gone")
        item = f"Is the oldest pending tag of {slots['name']} {self.status}?"
        return [Changed("tags", rows[0], {"status": self.status}, item, (one, post["post_id"]))]


class RejectTag(ApproveTag):
    """It is rejected."""

    phrases = (
        "{name:name} does not want the oldest of the tags that are waiting for approval, so reject it.",
        "Turn down the tag of {name:name} that has been pending longest.",
    )
    status = "removed"


class Uphold(Feed):
    """The post with most reports is removed."""

    phrases = (
        "As a moderator, uphold the reports against the post that has most of them open, so that it is removed.",
        "The post with the most open reports breaks our rules: uphold these reports.",
    )
    needs: ClassVar[tuple[str, ...]] = ("list_report_queue", "decide_reports")
    weight = 0.7

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return first_fitting(self, [{}], state)

    def plan(self, slots: Slots) -> list[Row]:
        return [
            call("list_report_queue"),
            call("decide_reports", post_id=found(0, 0, "post_id"), uphold=True),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        counts = Counter(r["post_id"] for r in state["reports"].values() if r["status"] == "open")
        post = only([key for key, count in counts.items() if count == max(counts.values())])
        author = state["profiles"][state["posts"][post]["profile_id"]]
        strikes = author["strikes"] + 1
        status = "suspended" if strikes >= self.v.s.max_strikes else author["status"]
        gone = {"status": "removed", "removed_by": "moderator"}
        new, item = {"strikes": strikes, "status": status}, f"Has {author['name']} got a strike for it?"
        return [
            Changed("posts", post, gone, "Is the post with most open reports removed?"),
            Changed("profiles", author["profile_id"], new, item),
            *self.decided(post, "upheld", state),
        ]

    def decided(self, post: str, status: str, state: State) -> list[Outcome]:
        """Its open reports have come to this."""
        fields = {"status": status, "decided_on": state["today"]}
        hit = [key for key, r in state["reports"].items() if r["post_id"] == post and r["status"] == "open"]
        return [Changed("reports", key, fields, f"Is the report {key} {status}?", (post,)) for key in hit]


class Dismiss(Uphold):
    """Reports come to nothing."""

    phrases = (
        "As a moderator, dismiss the open reports against the post of {name:name} that has most of them.",
        "Nothing is wrong with the most reported post of {name:name}, so dismiss what is open against it.",
    )
    needs = ("find_profiles", "list_report_queue", "decide_reports")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.anyone(state, rng)

    def plan(self, slots: Slots) -> list[Row]:
        decide = call("decide_reports", post_id=found(1, 0, "post_id"), uphold=False)
        return [*look(slots["name"]), call("list_report_queue", profile_id=who(0)), decide]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, posts = self.profile(slots["name"], state), state["posts"]
        rows = [r["post_id"] for r in state["reports"].values() if r["status"] == "open"]
        counts = Counter(key for key in rows if posts[key]["profile_id"] == one)
        post = only([key for key, count in counts.items() if count == max(counts.values())])
        return self.decided(post, "dismissed", state)


class Report(Feed):
    """A post is reported."""

    phrases = (
        "{name:name} wants to report the newest post of {other:name} for {reason:name}.",
        "In the name of {name:name}, report the latest post of {other:name}, giving {reason:name} as the reason.",
    )
    needs = ("find_profiles", "list_posts", "report_post")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return self.two(state, rng, reason=pick(rng, self.v.s.reasons))

    def plan(self, slots: Slots) -> list[Row]:
        ends = {"post_id": found(2, 0, "post_id"), "reporter_id": who(0), "reason": slots["reason"]}
        return [*look(slots["name"], slots["other"]), published(1), call("report_post", **ends)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        one, post = (
            self.profile(slots["name"], state),
            self.newest(self.profile(slots["other"], state), state),
        )
        self.seen(one, post, state)
        if any((r["post_id"], r["reporter_id"]) == (post["post_id"], one) for r in state["reports"].values()):
            raise LookupError("it is reported already")
        fields = {"post_id": post["post_id"], "reporter_id": one, "reason": slots["reason"]}
        item = f"Has {slots['name']} reported the newest post of {slots['other']} for {slots['reason']}?"
        return [Added("reports", {**fields, "status": "open", "decided_on": None}, item, ("reports",))]


class FeedPattern(Pattern):
    """Profiles, posts, comments, follows, tags and reports."""

    Settings = FeedSettings
    GOALS: ClassVar = (
        Comment, CommentInOwnWords, Schedule, Shift, Limit, Correct, CloseComments, FollowSuggested, Accept, Decline,
        UnfollowSilent, Block, ApproveTag, RejectTag, Uphold, Dismiss, Report,
    )  # fmt: skip
    IMPORTS = ("from collections import Counter", "from datetime import date, timedelta")

    def vocabulary(self, s: FeedSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        words = ("profile", "post", "comment", "follow", "tag", "report")
        said = {"audiences": AUDIENCES, "audiencelist": either(AUDIENCES), "reasonlist": either(s.reasons)}
        return {**{word: Noun(word) for word in words}, **said}

    def tables(self, v: SimpleNamespace) -> list[Table]:
        return [
            table_of(
                v.profile,
                "A person or a page that posts.",
                profile_id=("str", "unique id, e.g. PRF-001"),
                name=("str", "name that is shown"),
                kind=("str", "person or page"),
                locked=("bool", "whether follows have to be accepted"),
                followers=("int", "how many profiles follow it"),
                strikes=("int", "posts of it that moderators removed"),
                status=("str", "active or suspended"),
                blocked_ids=("list[str]", "profiles it has blocked, sorted"),
            ),
            table_of(
                v.post,
                "Something that a profile has published or will.",
                post_id=("str", "unique id, e.g. PST-001"),
                profile_id=("str", "whose post it is"),
                text=("str", "what it says"),
                audience=("str", f"who may see it: {v.audiencelist}"),
                status=("str", "scheduled, published or removed"),
                publish_on=("str", "day it was or will be published, as YYYY-MM-DD"),
                comments_open=("bool", "whether comments can be added"),
                removed_by=("str | None", "author or moderator; None unless removed"),
                replaces_id=("str | None", "removed post that it corrects, otherwise None"),
            ),
            table_of(
                v.comment,
                "What somebody says about a post.",
                comment_id=("str", "unique id, e.g. CMT-001"),
                post_id=("str", "the post"),
                profile_id=("str", "who says it"),
                text=("str", "what it says"),
                hidden=("bool", "whether nobody sees it any more"),
                made_on=("str", "date, as YYYY-MM-DD"),
            ),
            table_of(
                v.follow,
                "That one profile follows another, or has asked to.",
                follow_id=("str", "unique id, e.g. FLW-001"),
                follower_id=("str", "who follows"),
                followed_id=("str", "who is followed"),
                status=("str", "requested, active or ended"),
                since=("str", "day it was requested or began, as YYYY-MM-DD"),
            ),
            table_of(
                v.tag,
                "That a profile is named in a post, which the profile has to approve.",
                tag_id=("str", "unique id, e.g. TAG-001; later ones have higher numbers"),
                post_id=("str", "the post"),
                profile_id=("str", "who is named"),
                status=("str", "pending, approved or removed"),
            ),
            table_of(
                v.report,
                "A complaint about a post.",
                report_id=("str", "unique id, e.g. REP-001"),
                post_id=("str", "the post"),
                reporter_id=("str", "profile that complains"),
                reason=("str", f"why: {v.reasonlist}"),
                status=("str", "open, upheld or dismissed"),
                decided_on=("str | None", "day of the decision, None while open"),
            ),
        ]

    RULES = (
        RuleText(
            "The followers of a profile are the total of its active follows.",
            """
            ties = [row.get("followed_id") for row in rows(after, "follows").values() if row.get("status") == "active"]
            return all(row.get("followers") == ties.count(key) for key, row in rows(after, "profiles").items())
            """,
        ),
        RuleText(
            "A block between two profiles leaves nothing of their follows and requests, and no new ones begin.",
            """
            shut = {
                (key, other) for key, row in rows(after, "profiles").items() for other in row.get("blocked_ids") or []
            }
            for row in rows(after, "follows").values():
                pair = (row.get("follower_id"), row.get("followed_id"))
                if row.get("status") != "ended" and (pair in shut or pair[::-1] in shut):
                    return False
            return True
            """,
        ),
        RuleText(
            "The day of a scheduled post lies in the future, that of a published one does not.",
            """
            today = str(after.get("today"))
            for row in rows(after, "posts").values():
                ahead = str(row.get("publish_on")) > today
                if (row.get("status"), ahead) in (("scheduled", False), ("published", True)):
                    return False
            return True
            """,
        ),
        RuleText(
            "A removed post stays so, and neither its text nor its audience changes any more.",
            """
            for key, old in rows(before, "posts").items():
                if old.get("status") == "removed" and rows(after, "posts").get(key) != old:
                    return False
            return True
            """,
        ),
        RuleText(
            "Only those who may see a post have permission to comment on it, and only while its comments are open.",
            """
            posts = rows(after, "posts")
            ties = [row for row in rows(after, "follows").values() if row.get("status") == "active"]
            follows = {(row.get("follower_id"), row.get("followed_id")) for row in ties}
            for row in added("comments"):
                post, one = posts.get(str(row.get("post_id"))) or {}, row.get("profile_id")
                author, audience = post.get("profile_id"), post.get("audience")
                seen = one == author or audience == "everyone" or (
                    audience == "followers" and (one, author) in follows
                )
                if not seen or post.get("status") != "published" or not post.get("comments_open"):
                    return False
            return True
            """,
        ),
        RuleText(
            "A profile is suspended exactly when it has <<s.max_strikes>> strikes or more, one for each post that "
            "moderators removed.",
            """
            hits = [
                row.get("profile_id") for row in rows(after, "posts").values() if row.get("removed_by") == "moderator"
            ]
            for key, row in rows(after, "profiles").items():
                strikes = row.get("strikes")
                if strikes != hits.count(key) or (row.get("status") == "suspended") != (strikes >= <<s.max_strikes>>):
                    return False
            return True
            """,
        ),
        RuleText(
            "Every decision on a report leaves a date on it, and no open report has one.",
            """
            return all(
                (row.get("status") == "open") == (row.get("decided_on") is None)
                for row in rows(after, "reports").values()
            )
            """,
        ),
        RuleText(
            "No two reports of a post are by the same profile, and nobody reports a post of their own.",
            """
            posts, seen = rows(after, "posts"), set()
            for row in rows(after, "reports").values():
                pair = (row.get("post_id"), row.get("reporter_id"))
                if pair in seen or (posts.get(str(pair[0])) or {}).get("profile_id") == pair[1]:
                    return False
                seen.add(pair)
            return True
            """,
        ),
    )

    HELPERS = '''
    def _follow(self, follower_id: str, followed_id: str) -> dict | None:
        """Return the follow between two profiles, whatever became of it, None when there never was one."""
        for follow in self.follows.values():
            if (follow["follower_id"], follow["followed_id"]) == (follower_id, followed_id):
                return follow
        return None

    def _following(self, follower_id: str) -> set[str]:
        """Return the ids of the profiles that somebody follows now."""
        ties = [follow for follow in self.follows.values() if follow["status"] == "active"]
        return {follow["followed_id"] for follow in ties if follow["follower_id"] == follower_id}

    def _apart(self, one_id: str, other_id: str) -> bool:
        """Tell whether one of two profiles has blocked the other."""
        one, other = self.profiles[one_id], self.profiles[other_id]
        return other_id in one["blocked_ids"] or one_id in other["blocked_ids"]

    def _sees(self, viewer_id: str, post: dict) -> bool:
        """Tell whether a profile may see a post."""
        author_id = post["profile_id"]
        if viewer_id == author_id:
            return True
        if post["status"] != "published" or self._apart(viewer_id, author_id):
            return False
        return post["audience"] == "everyone" or (
            post["audience"] == "followers" and author_id in self._following(viewer_id)
        )

    def _end(self, follow: dict) -> None:
        """End a follow or a request for one, and count the follower no more."""
        if follow["status"] == "active":
            self.profiles[follow["followed_id"]]["followers"] -= 1
        follow["status"] = "ended"

    def _untag(self, tags: list[dict]) -> list[str]:
        """Remove tags and return the ids of those that were not removed yet."""
        live = [tag for tag in tags if tag["status"] != "removed"]
        for tag in live:
            tag["status"] = "removed"
        return [tag["tag_id"] for tag in live]

    def _day(self, text: str) -> date | None:
        """Return the date a text stands for, None when it is none as YYYY-MM-DD."""
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return None
        return day if day.isoformat() == text else None
'''

    READS = '''
def find_profiles(self, name: str, kind: str | None = None) -> dict:
    """Find profiles by name.

    Args:
        name: The name or a part of it; upper and lower case are the same.
        kind: Only profiles of this kind: person or page. Leave out for both.

    Returns:
        The matching profiles, those with most followers first.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    refuse if kind not in (None, "person", "page") :: A profile is a person or a page.
    hits = [deepcopy(p) for p in self.profiles.values() if wanted in p["name"].lower() and kind in (None, p["kind"])]
    return {"success": True, "data": sorted(hits, key=lambda p: (-p["followers"], p["profile_id"]))}

def list_posts(self, profile_id: str, status: str | None = None, audience: str | None = None) -> dict:
    """List the posts of a profile by their day, the latest first.

    Args:
        profile_id: Id of the profile, e.g. PRF-001.
        status: Only those that are scheduled, published or removed. Leave out for all.
        audience: Only those for this audience: <<audiencelist>>. Leave out for all.

    Returns:
        The matching posts; an empty list when there are none.
    """
    need profile
    refuse if status not in (None, "scheduled", "published", "removed") :: There is no status {status!r}.
    refuse if audience not in (None, <<quoted(audiences)>>) :: There is no audience {audience!r}.
    selected = [
        dict(entry)
        for entry in self.posts.values()
        if entry["profile_id"] == profile_id
        and status in (None, entry["status"])
        and audience in (None, entry["audience"])
    ]
    selected.sort(key=lambda entry: (entry["publish_on"], entry["post_id"]), reverse=True)
    return {"success": True, "data": selected}

def show_post(self, post_id: str) -> dict:
    """Show a post with what belongs to it.

    Args:
        post_id: Id of the post, e.g. PST-001.

    Returns:
        The post with its visible `comments`, the names of those `tagged` with approval, and its `open_reports`.
    """
    need post
    comments = [dict(c) for c in self.comments.values() if c["post_id"] == post_id and not c["hidden"]]
    tags = [t for t in self.tags.values() if t["post_id"] == post_id and t["status"] == "approved"]
    tagged = sorted(self.profiles[tag["profile_id"]]["name"] for tag in tags)
    complaints = sum(r["post_id"] == post_id and r["status"] == "open" for r in self.reports.values())
    return {"success": True, "data": {**post, "comments": comments, "tagged": tagged, "open_reports": complaints}}

def show_timeline(self, viewer_id: str) -> dict:
    """Show what a profile gets to see: published posts of those it follows, the latest first.

    Args:
        viewer_id: Id of the profile that looks.

    Returns:
        The posts, each with the name of its `author` and the number of `visible_comments`.
    """
    refuse if viewer_id not in self.profiles :: There is no profile with the id {viewer_id!r}.
    said = Counter(comment["post_id"] for comment in self.comments.values() if not comment["hidden"])
    following = self._following(viewer_id)
    latest = sorted(self.posts.values(), key=lambda p: (p["publish_on"], p["post_id"]), reverse=True)
    timeline = []
    for post in latest:
        if post["profile_id"] in following and self._sees(viewer_id, post):
            author = self.profiles[post["profile_id"]]["name"]
            timeline.append({**post, "author": author, "visible_comments": said[post["post_id"]]})
    return {"success": True, "data": timeline}

def list_follows(self, profile_id: str) -> dict:
    """List who follows a profile, whom it follows, and who has asked to follow it.

    Args:
        profile_id: Id of the profile.

    Returns:
        The names of its `followers` and of those it is `following`, sorted, and the `requests` it has not answered, the
        oldest first.
    """
    need profile
    to_it = [dict(f) for f in self.follows.values() if f["followed_id"] == profile_id]
    followers = sorted(self.profiles[f["follower_id"]]["name"] for f in to_it if f["status"] == "active")
    following = sorted(self.profiles[key]["name"] for key in self._following(profile_id))
    requests = sorted((f for f in to_it if f["status"] == "requested"), key=lambda f: (f["since"], f["follow_id"]))
    return {"success": True, "data": {"followers": followers, "following": following, "requests": requests}}

def suggest_profiles(self, follower_id: str) -> dict:
    """Suggest whom a profile could follow: active profiles that those it follows follow, but not it.

    Args:
        follower_id: Id of the profile that looks for others.

    Returns:
        The suggestions with `followed_id`, `name` and how many it has `in_common`, most first.
    """
    refuse if follower_id not in self.profiles :: There is no profile with the id {follower_id!r}.
    circle = self._following(follower_id)
    counts = Counter(other for one in circle for other in self._following(one))
    mine = [f for f in self.follows.values() if f["follower_id"] == follower_id]
    asked = {f["followed_id"] for f in mine if f["status"] != "ended"}
    fit = [key for key in counts if key != follower_id and key not in asked and not self._apart(follower_id, key)]
    suggested = [
        {"followed_id": key, "name": self.profiles[key]["name"], "in_common": counts[key]}
        for key in fit
        if self.profiles[key]["status"] == "active"
    ]
    return {"success": True, "data": sorted(suggested, key=lambda s: (-s["in_common"], s["name"]))}

def list_silent_follows(self, follower_id: str) -> dict:
    """List the follows of a profile where it has never commented on a post, the longest lasting first.

    Args:
        follower_id: Id of the profile that follows.

    Returns:
        The active follows, each with the `name` of whom it follows.
    """
    refuse if follower_id not in self.profiles :: There is no profile with the id {follower_id!r}.
    posts = {c["post_id"] for c in self.comments.values() if c["profile_id"] == follower_id}
    known = {self.posts[key]["profile_id"] for key in posts}
    silent = []
    for key in self._following(follower_id) - known:
        silent.append({**self._follow(follower_id, key), "name": self.profiles[key]["name"]})
    return {"success": True, "data": sorted(silent, key=lambda f: (f["since"], f["follow_id"]))}

def list_tags(self, profile_id: str, status: str | None = None) -> dict:
    """List where a profile is tagged, the oldest tag first.

    Args:
        profile_id: Id of the profile that is tagged.
        status: Only tags that are pending, approved or removed. Leave out for all.

    Returns:
        The tags, each with the `text` of the post.
    """
    need profile
    refuse if status not in (None, "pending", "approved", "removed") :: There is no status {status!r}.
    selected = [
        {**entry, "text": self.posts[entry["post_id"]]["text"]}
        for entry in self.tags.values()
        if entry["profile_id"] == profile_id
        and status in (None, entry["status"])
    ]
    return {"success": True, "data": sorted(selected, key=lambda entry: entry["tag_id"])}

def list_report_queue(self, profile_id: str | None = None) -> dict:
    """List the posts with open reports, those with most reports first.

    Args:
        profile_id: Only posts of this profile. Leave out for all.

    Returns:
        The posts with `post_id`, `profile_id`, `text`, the number of `open_reports` and their `reasons`.
    """
    waiting = {}
    for report in self.reports.values():
        if report["status"] == "open":
            waiting.setdefault(report["post_id"], []).append(report["reason"])
    queue = [
        {
            "post_id": key,
            "profile_id": self.posts[key]["profile_id"],
            "text": self.posts[key]["text"],
            "open_reports": len(waiting[key]),
            "reasons": sorted(set(waiting[key])),
        }
        for key in sorted(waiting, key=lambda key: (-len(waiting[key]), key))
        if profile_id in (None, self.posts[key]["profile_id"])
    ]
    return {"success": True, "data": queue}
'''

    WRITES = '''
<% macro active(n) %>
    refuse if <<n>>["status"] != "active" :: {<<n>>['name']} is suspended.
<%- endmacro %>
def write_post(self, profile_id: str, text: str, audience: str, publish_on: str | None = None) -> dict:
    """Publish a post today, or queue it for a later day.

    Args:
        profile_id: Id of the profile, which is not suspended.
        text: What the post says.
        audience: Who may see it: <<audiencelist>>.
        publish_on: Day to come, as YYYY-MM-DD, for which it is queued. Leave out to publish it at once.

    Returns:
        The new post, or an error.
    """
    need profile
<<active("profile")>>
    refuse if not text.strip() :: A post cannot be empty.
    refuse if audience not in (<<quoted(audiences)>>) :: There is no audience {audience!r}.
    if publish_on is not None:
        day = self._day(publish_on)
        refuse if day is None or publish_on <= self.today :: {publish_on!r} is not a day to come as YYYY-MM-DD.
    post: Post = {
        "post_id": self._next_id(self.posts, "PST"),
        "profile_id": profile_id,
        "text": text.strip(),
        "audience": audience,
        "status": "published" if publish_on is None else "scheduled",
        "publish_on": publish_on or self.today,
        "comments_open": True,
        "removed_by": None,
        "replaces_id": None,
    }
    self.posts[post["post_id"]] = post
    done dict(post) :: Post {post['post_id']} is {post['status']}.

def shift_schedule(self, profile_id: str, days: int) -> dict:
    """Move every scheduled post of a profile by some days, which leaves the order and the gaps as they are.

    Args:
        profile_id: Id of the profile.
        days: How many days later, below 0 for earlier: not 0, and between -60 and 60.

    Returns:
        The moved `queue`, the earliest first, or an error, also when a post would come today or earlier.
    """
    need profile
    refuse if days == 0 or abs(days) > 60 :: The number of days must be 1 to 60, or -60 to -1.
    queue = [p for p in self.posts.values() if p["profile_id"] == profile_id and p["status"] == "scheduled"]
    refuse if not queue :: {profile['name']} has nothing scheduled.
    queue.sort(key=lambda p: (p["publish_on"], p["post_id"]))
    moved = [(date.fromisoformat(p["publish_on"]) + timedelta(days=days)).isoformat() for p in queue]
    refuse if moved[0] <= self.today :: The first post would come on {moved[0]}, which is not after today.
    for post, day in zip(queue, moved, strict=True):
        post["publish_on"] = day
    data = {"profile_id": profile_id, "queue": [dict(post) for post in queue]}
    return {"success": True, "message": f"{len(queue)} posts moved.", "data": data}

def limit_old_posts(self, profile_id: str, before: str, audience: str) -> dict:
    """Narrow the audience of what a profile published before a day; nothing is shown to more than before.

    Args:
        profile_id: Id of the profile.
        before: The day, not after today, as YYYY-MM-DD.
        audience: The new audience, followers or only me.

    Returns:
        The ids of the `narrowed` posts, or an error when there are none.
    """
    need profile
    refuse if self._day(before) is None or before > self.today :: {before!r} is not a day up to today as YYYY-MM-DD.
    wider = {"followers": ("everyone",), "only me": ("everyone", "followers")}.get(audience, ())
    refuse if not wider :: The audience can be narrowed to followers or only me.
    old = [p for p in self.posts.values() if p["status"] == "published" and p["publish_on"] < before]
    narrowed = [p["post_id"] for p in old if p["profile_id"] == profile_id and p["audience"] in wider]
    for number in narrowed:
        self.posts[number]["audience"] = audience
    refuse if not narrowed :: Nothing of {profile['name']} from before {before} has a wider audience.
    data = {"profile_id": profile_id, "narrowed": narrowed}
    return {"success": True, "message": f"{len(narrowed)} posts are for {audience} now.", "data": data}

def correct_post(self, replaces_id: str, text: str) -> dict:
    """Take a published post down and publish it again with another text; its tags are removed, comments stay behind.

    Args:
        replaces_id: Id of the published post that goes, against which no report is open.
        text: What the new one says.

    Returns:
        The new post with the ids of the `removed_tags`, or an error.
    """
    old = self.posts.get(replaces_id)
    refuse if old is None :: There is no post with the id {replaces_id!r}.
    refuse if old["status"] != "published" :: Post {replaces_id} is {old['status']}.
    profile = self.profiles[old["profile_id"]]
<<active("profile")>>
    refuse if not text.strip() or text.strip() == old["text"] :: Another text is required.
    if any(r["post_id"] == replaces_id and r["status"] == "open" for r in self.reports.values()):
        refuse :: Moderators have not decided on {replaces_id} yet.
    post: Post = {**old, "post_id": self._next_id(self.posts, "PST"), "text": text.strip()}
    post.update(publish_on=self.today, replaces_id=replaces_id)
    self.posts[post["post_id"]] = post
    old["status"], old["removed_by"] = "removed", "author"
    tags = self._untag([tag for tag in self.tags.values() if tag["post_id"] == replaces_id])
    done {**post, "removed_tags": tags} :: {post['post_id']} takes the place of {replaces_id}.

def add_comment(self, post_id: str, profile_id: str, text: str) -> dict:
    """Comment on a published post.

    Args:
        post_id: Id of the post, whose comments are open.
        profile_id: Id of the profile that comments, which may see the post.
        text: What the comment says.

    Returns:
        The new comment, or an error.
    """
    need post
    need profile
<<active("profile")>>
    refuse if not self._sees(profile_id, post) :: {profile['name']} does not see the post {post_id}.
    refuse if post["status"] != "published" :: Post {post_id} is {post['status']}.
    refuse if not post["comments_open"] :: Comments on {post_id} are closed.
    refuse if not text.strip() :: A comment cannot be empty.
    number = self._next_id(self.comments, "CMT")
    self.comments[number] = {
        "comment_id": number,
        "post_id": post_id,
        "profile_id": profile_id,
        "text": text.strip(),
        "hidden": False,
        "made_on": self.today,
    }
    done dict(self.comments[number]) :: Comment {number} has been added.

def close_comments(self, post_id: str, words: str | None = None) -> dict:
    """Let nobody comment on a post any more, and hide what has certain words in it.

    Args:
        post_id: Id of the post, whose comments are open.
        words: Comments with these words are hidden; upper and lower case are the same. Leave out to hide none.

    Returns:
        The post with the ids of the `hidden_comments`, or an error.
    """
    need post
    refuse if not post["comments_open"] :: Comments on {post_id} are closed already.
    refuse if post["status"] == "removed" :: Post {post_id} is removed.
    refuse if words is not None and not words.strip() :: The words to look for are empty.
    post["comments_open"] = False
    visible = [c for c in self.comments.values() if c["post_id"] == post_id and not c["hidden"]]
    hit = [c for c in visible if words is not None and words.strip().lower() in c["text"].lower()]
    for comment in hit:
        comment["hidden"] = True
    done {**post, "hidden_comments": [c["comment_id"] for c in hit]} :: Comments on {post_id} are closed.

def follow_profile(self, follower_id: str, followed_id: str) -> dict:
    """Follow a profile, or ask to when it is locked.

    Args:
        follower_id: Id of the profile that wants to follow.
        followed_id: Id of another profile; neither has blocked the other.

    Returns:
        The follow, active or requested, or an error.
    """
    follower, followed = self.profiles.get(follower_id), self.profiles.get(followed_id)
    refuse if follower is None :: There is no profile with the id {follower_id!r}.
    refuse if followed is None or followed is follower :: {followed_id!r} is no profile that can be followed.
<<active("follower")>>
<<active("followed")>>
    refuse if self._apart(follower_id, followed_id) :: One of the two has blocked the other.
    follow = self._follow(follower_id, followed_id)
    refuse if follow is not None and follow["status"] != "ended" :: That follow is {follow['status']} already.
    if follow is None:
        number = self._next_id(self.follows, "FLW")
        follow = {"follow_id": number, "follower_id": follower_id, "followed_id": followed_id}
        self.follows[number] = follow
    follow.update(status="requested" if followed["locked"] else "active", since=self.today)
    followed["followers"] += not followed["locked"]
    done dict(follow) :: The follow of {followed['name']} is {follow['status']}.

def answer_request(self, follow_id: str, accept: bool) -> dict:
    """Accept or decline that somebody follows a locked profile.

    Args:
        follow_id: Id of the follow, which must be requested.
        accept: True to accept it, false to decline it.

    Returns:
        The follow, which begins today or is ended, or an error.
    """
    need follow
    refuse if follow["status"] != "requested" :: Follow {follow_id} is {follow['status']}.
    follow["status"], follow["since"] = "active" if accept else "ended", self.today
    self.profiles[follow["followed_id"]]["followers"] += int(accept)
    done dict(follow) :: Follow {follow_id} is {follow['status']}.

def unfollow_profile(self, follower_id: str, followed_id: str) -> dict:
    """End a follow, or take back the request for one.

    Args:
        follower_id: Id of the profile that follows or has asked to.
        followed_id: Id of the other profile.

    Returns:
        The ended follow, or an error.
    """
    follow = self._follow(follower_id, followed_id)
    refuse if follow is None or follow["status"] == "ended" :: {follower_id!r} does not follow {followed_id!r}.
    self._end(follow)
    done dict(follow) :: Follow {follow['follow_id']} is ended.

def block_profile(self, profile_id: str, other_id: str) -> dict:
    """Block a profile: follows and requests both ways end, and tags of one in posts of the other are removed.

    Args:
        profile_id: Id of the profile that blocks.
        other_id: Id of another profile, which it has not blocked.

    Returns:
        The profile with the ids of the `ended_follows` and `removed_tags`, or an error.
    """
    need profile
    refuse if other_id not in self.profiles or other_id == profile_id :: {other_id!r} is nobody to block.
    refuse if other_id in profile["blocked_ids"] :: {profile['name']} has blocked {other_id} already.
    profile["blocked_ids"] = sorted([*profile["blocked_ids"], other_id])
    ties = [self._follow(profile_id, other_id), self._follow(other_id, profile_id)]
    ended = [follow for follow in ties if follow is not None and follow["status"] != "ended"]
    for follow in ended:
        self._end(follow)
    both = {profile_id, other_id}
    tags = [t for t in self.tags.values() if {t["profile_id"], self.posts[t["post_id"]]["profile_id"]} == both]
    data = {**deepcopy(profile), "ended_follows": [f["follow_id"] for f in ended], "removed_tags": self._untag(tags)}
    return {"success": True, "message": f"{profile['name']} has blocked {other_id}.", "data": data}

def tag_profile(self, post_id: str, profile_id: str) -> dict:
    """Name a profile in a post; the tag waits for the approval of that profile.

    Args:
        post_id: Id of the post, a published one of another profile.
        profile_id: Id of the profile that is named, which may see the post.

    Returns:
        The new tag, which is pending, or an error.
    """
    need post
    need profile
    refuse if post["status"] != "published" :: Post {post_id} is {post['status']}.
    refuse if post["profile_id"] == profile_id :: Nobody is tagged in a post of their own.
    refuse if not self._sees(profile_id, post) :: {profile['name']} does not see the post {post_id}.
    live = [t for t in self.tags.values() if t["post_id"] == post_id and t["status"] != "removed"]
    refuse if any(t["profile_id"] == profile_id for t in live) :: {profile['name']} is tagged in {post_id} already.
    number = self._next_id(self.tags, "TAG")
    self.tags[number] = {"tag_id": number, "post_id": post_id, "profile_id": profile_id, "status": "pending"}
    done dict(self.tags[number]) :: Tag {number} is pending.

def decide_tag(self, tag_id: str, profile_id: str, approve: bool) -> dict:
    """Approve or reject a tag that is pending.

    Args:
        tag_id: Id of the tag, which must be pending.
        profile_id: Id of the profile that decides, the one that is tagged.
        approve: True to approve it, which only a published post allows, false to reject it.

    Returns:
        The tag, approved or removed, or an error.
    """
    need tag
    refuse if tag["profile_id"] != profile_id :: Only the profile that is tagged decides on {tag_id}.
    refuse if tag["status"] != "pending" :: Tag {tag_id} is {tag['status']}.
    post = self.posts[tag["post_id"]]
    refuse if approve and post["status"] != "published" :: The post {tag['post_id']} is {post['status']}.
    tag["status"] = "approved" if approve else "removed"
    done dict(tag) :: Tag {tag_id} is {tag['status']}.

def report_post(self, post_id: str, reporter_id: str, reason: str) -> dict:
    """Report a published post to the moderators.

    Args:
        post_id: Id of the post.
        reporter_id: Id of the profile that reports, which sees the post, and has neither written nor reported it.
        reason: Why: <<reasonlist>>.

    Returns:
        The open report, or an error.
    """
    need post
    refuse if reporter_id not in self.profiles :: There is no profile with the id {reporter_id!r}.
    refuse if reason not in (<<quoted(s.reasons)>>) :: There is no reason {reason!r}.
    refuse if post["profile_id"] == reporter_id :: Nobody reports a post of their own.
    seen = post["status"] == "published" and self._sees(reporter_id, post)
    refuse if not seen :: {reporter_id} does not see {post_id}.
    if any((r["post_id"], r["reporter_id"]) == (post_id, reporter_id) for r in self.reports.values()):
        refuse :: {reporter_id} has reported {post_id} already.
    report: Report = {
        "report_id": self._next_id(self.reports, "REP"),
        "post_id": post_id,
        "reporter_id": reporter_id,
        "reason": reason,
        "status": "open",
        "decided_on": None,
    }
    self.reports[report["report_id"]] = report
    done dict(report) :: Report {report['report_id']} is open.

def decide_reports(self, post_id: str, uphold: bool) -> dict:
    """Decide on all open reports of a post; to uphold them removes it, and is a strike against its author.

    Args:
        post_id: Id of a post with open reports.
        uphold: True to uphold them, false to dismiss them; the author is suspended from <<s.max_strikes>> strikes on.

    Returns:
        The post with the ids of the `decided_reports`, or an error.
    """
    need post
    waiting = [r for r in self.reports.values() if r["post_id"] == post_id and r["status"] == "open"]
    refuse if not waiting :: No report of {post_id} is open.
    for report in waiting:
        report["status"], report["decided_on"] = "upheld" if uphold else "dismissed", self.today
    if uphold and post["status"] != "removed":
        post["status"], post["removed_by"] = "removed", "moderator"
        author = self.profiles[post["profile_id"]]
        author["strikes"] += 1
        if author["strikes"] >= <<s.max_strikes>>:
            author["status"] = "suspended"
    verdict = "upheld" if uphold else "dismissed"
    done {**post, "decided_reports": [r["report_id"] for r in waiting]} :: {len(waiting)} reports {verdict}.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today = v.s, state["today"]

        persons, pages = names.people(rng, int(rng.integers(7, 9))), shuffled(rng, s.pages)[:3]
        for n, name in enumerate([*persons, *pages]):
            row = {
                "name": name,
                "kind": "page" if name in pages else "person",
                "locked": n < 3,
                "followers": 0,
            }
            put(state, v.profile, "PRF", **row, strikes=0, status="active", blocked_ids=[])
        everybody = list(state["profiles"])
        one, other = shuffled(rng, everybody)[:2]
        state["profiles"][one]["blocked_ids"] = [other]
        pairs = [(a, b) for a in everybody for b in everybody if a != b and {a, b} != {one, other}]
        wanted = {"active": 15, "requested": 3, "ended": 2}
        for (a, b), days in zip(shuffled(rng, pairs), shuffled(rng, range(5, 400)), strict=False):
            locked = state["profiles"][b]["locked"]
            status = next((k for k, n in wanted.items() if n and (k != "requested" or locked)), "")
            if locked and wanted["requested"] and rng.random() < 0.6:
                status, days = "requested", 1 + days % 40
            if status:
                wanted[status] -= 1
                put(
                    state,
                    v.follow,
                    "FLW",
                    follower_id=a,
                    followed_id=b,
                    status=status,
                    since=later(today, -days),
                )
                state["profiles"][b]["followers"] += status == "active"
        self._posts(v, state, rng)
        self._around(v, state, rng)

    def _posts(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        today, texts, news = state["today"], shuffled(rng, v.s.posts), shuffled(rng, v.s.page_posts)
        drafts = []
        for key, row in state["profiles"].items():
            page = row["kind"] == "page"
            days = [-int(day) for day in rng.choice(range(1, 90), size=2, replace=False)]
            ahead = [int(day) for day in rng.choice(range(1, 20), size=2, replace=False)] if page else []
            drafts += [(later(today, day), key, (news if page else texts).pop()) for day in [*days, *ahead]]
        removed = {pick(rng, drafts)[:2] for _ in range(3)}
        for day, key, text in sorted(drafts):
            gone = (day, key) in removed and day <= today
            status = "removed" if gone else "scheduled" if day > today else "published"
            row = {
                "profile_id": key,
                "text": text,
                "audience": pick(rng, ["everyone", "everyone", "followers"]),
            }
            row |= {"status": status, "publish_on": day, "comments_open": bool(rng.random() < 0.85)}
            put(state, v.post, "PST", **row, removed_by="moderator" if gone else None, replaces_id=None)
            state["profiles"][key]["strikes"] += gone

    def _around(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s, today, goal = v.s, state["today"], Feed(v, [])
        pairs = [(key, post) for key in state["profiles"] for post in state["posts"].values()]
        seen = []
        for key, post in shuffled(rng, pairs):
            with suppress(LookupError):
                goal.seen(key, post, state)
                seen += [(key, post)] if post["status"] == "published" else []
        ago = iter(shuffled(rng, range(1, 60)))
        for key, post in [pair for pair in seen if pair[1]["comments_open"]][:14]:
            text = pick(rng, list(s.shunned.values()) if rng.random() < 0.35 else s.comments)
            day = max(post["publish_on"], later(today, -next(ago)))
            row = {
                "post_id": post["post_id"],
                "profile_id": key,
                "text": text,
                "hidden": False,
                "made_on": day,
            }
            put(state, v.comment, "CMT", **row)
        for n, (key, post) in enumerate(seen[14:22]):
            status = "approved" if n % 4 == 3 else "removed" if n % 4 == 2 else "pending"
            put(state, v.tag, "TAG", post_id=post["post_id"], profile_id=key, status=status)
        gone = [post for post in state["posts"].values() if post["status"] == "removed"]
        for post in gone:
            by = pick(rng, [key for key in state["profiles"] if key != post["profile_id"]])
            row = {"post_id": post["post_id"], "reporter_id": by, "reason": pick(rng, s.reasons)}
            day = max(post["publish_on"], later(today, 0 - next(ago) % 3))
            put(state, v.report, "REP", **row, status="upheld", decided_on=day)
        most = Counter(post["post_id"] for _, post in seen)
        marked = [key for key, count in most.items() if count > 2][:3]
        for n, number in enumerate(marked):
            for key, _ in [pair for pair in seen if pair[1]["post_id"] == number][: 3 - n]:
                row = {"post_id": number, "reporter_id": key, "reason": pick(rng, s.reasons)}
                put(state, v.report, "REP", **row, status="open", decided_on=None)


PATTERN = FeedPattern
