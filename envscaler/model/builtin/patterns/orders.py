"""Orders: articles with a price and a stock, and the orders that people place for them."""

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


class Category(Part):
    """The attribute that sorts the articles."""

    name: str
    """`category`"""
    about: str
    """What it means."""
    articles: dict[str, dict[str, float]]
    """Category → article → usual price."""


class Restricted(Part):
    """Articles that only some people may order."""

    name: str
    """`needs_prescription`"""
    about: str
    """What it means."""
    flag: str
    """Boolean attribute of the person that allows it, one of the registry's extras."""
    articles: list[str]
    """Articles concerned."""


class OrdersSettings(Settings):
    """An order desk's words and numbers."""

    article: str
    """`product`"""
    article_many: str | None = None
    """Its plural where it is not regular."""
    prefix: str
    """Prefix of the articles' ids."""
    person: str = "person"
    """Who orders: a registry's noun."""
    order: str = "order"
    """`order`"""
    order_prefix: str
    """Prefix of the orders' ids."""
    category: Category
    """What sorts the articles, with the articles."""
    price: str = "price"
    """Name of the price of one."""
    piece: str = "unit"
    """What is counted: `unit`, `bottle`, `portion`."""
    currency: str = "EUR"
    """Unit of money."""
    stock: tuple[int, int] = (3, 40)
    """Least and greatest stock."""
    reorder: str = "reorder_level"
    """Name of the stock below which an article is short."""
    max_quantity: int = 10
    """Most pieces of one article in one order."""
    placed: str = "placed"
    """First status."""
    send: str = "ship"
    """Verb for sending an order out."""
    sent: str = "shipped"
    """The status that results."""
    hand_over: str = "deliver"
    """Verb for its arrival."""
    handed_over: str = "delivered"
    """The status that results."""
    fee: str = "shipping"
    """What the fee is called: `<fee>_fee` is its attribute."""
    fee_amount: float = 4.9
    """Fee of a small order."""
    free_from: float = 50.0
    """Value of the goods from which the fee falls away."""
    restricted: Restricted | None = None
    """Articles that only some people may order."""


def open_order(goal: Goal, slots: Slots, state: State) -> dict[str, Any]:
    """The one order a person has that was not sent yet."""
    key = f"{goal.v.p.id}_id"
    person = named(state, goal.v.p, slots["name"])[key]
    rows = state[goal.v.o.ids].values()
    return only([o for o in rows if o[key] == person and o["status"] == goal.v.s.placed])


def with_one(goal: Goal, state: State, rng: Rng, status: str) -> list[tuple[dict[str, Any], str]]:
    """Orders of that status whose person has just one such, with the person's name."""
    key = f"{goal.v.p.id}_id"
    rows = [o for o in state[goal.v.o.ids].values() if o["status"] == status]
    alone = [o for o in rows if sum(other[key] == o[key] for other in rows) == 1]
    return shuffled(rng, [(o, state[goal.v.p.ids][o[key]]["name"]) for o in alone])


def bill(v: SimpleNamespace, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Fee and total of an order with these lines."""
    goods = sum(line["quantity"] * line["unit_price"] for line in lines)
    fee = 0.0 if goods >= v.s.free_from else v.s.fee_amount
    return {v.fee: fee, "total": round(goods + fee, 2)}


class OrderGoal(Goal):
    """A goal about an article, for somebody."""

    def allowed(self, person: dict[str, Any], article: dict[str, Any]) -> bool:
        """Whether the person may have the article."""
        r = self.v.s.restricted
        return r is None or not article[r.name] or bool(person[r.flag])

    def line(self, article: dict[str, Any], quantity: int) -> dict[str, Any]:
        """A line of an order."""
        key = f"{self.v.i.id}_id"
        return {key: article[key], "quantity": quantity, "unit_price": article[self.v.s.price]}

    def taken(self, article: dict[str, Any], quantity: int, item: str) -> Changed:
        """The article's stock is so much smaller."""
        fields = {"stock": article["stock"] - quantity}
        return Changed(self.v.i.ids, article[f"{self.v.i.id}_id"], fields, item, (article[self.v.c.name],))

    def order(self, slots: Slots, state: State, article: dict[str, Any]) -> list[Outcome]:
        """A new order of one article."""
        v = self.v
        person = named(state, v.p, slots["name"])
        if person["status"] != "active" or article["stock"] < slots["n"] or not self.allowed(person, article):
            raise LookupError(f"{slots['name']} cannot order {slots['n']} of {article['name']}")
        lines = [self.line(article, slots["n"])]
        key = f"{v.p.id}_id"
        fields = {
            key: person[key],
            "lines": lines,
            **bill(v, lines),
            "placed_on": state["today"],
            "status": v.s.placed,
        }
        made = f"Has {v.o.a} of {slots['n']} {article['name']} for {slots['name']} been added?"
        gone = (
            f"Has the stock of {article['name']} gone down by the {slots['n']} that {slots['name']} ordered?"
        )
        return [Added(v.o.ids, fields, made), self.taken(article, slots["n"], gone)]


class Place(OrderGoal):
    """Order an article by its name."""

    phrases = (
        "Please enter <<o.a>> of {n:int} x {article:name} for <<p>> {name:name}.",
        "The <<p>> {name:name} wants {n:int} x {article:name}, so enter that as a new <<o>>.",
        "{name:name}, one of our <<p.many>>, needs a new <<o>> with {n:int} x {article:name}.",
    )
    needs = ("find_<<p.ids>>", "find_<<i.ids>>", "place_<<o.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = pick(rng, list(state[self.v.p.ids].values()))
        article = pick(rng, list(state[self.v.i.ids].values()))
        most = min(article["stock"], self.v.s.max_quantity)
        if most < 1:
            return None
        return {"name": person["name"], "article": article["name"], "n": int(rng.integers(1, most + 1))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        ids = {f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), f"{v.i.id}_id": found(1, 0, f"{v.i.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(f"place_{v.o.id}", **ids, quantity=slots["n"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.order(slots, state, named(state, self.v.i, slots["article"]))


class PlaceCheapest(OrderGoal):
    """Order the cheapest article of a category of which there is enough."""

    phrases = (
        "For <<p>> {name:name} please enter <<o.a>> of {n:int} <<s.piece>>s of whatever is cheapest in the "
        "<<categoryword>> {category:name} and in stock in that quantity.",
        "The <<p>> {name:name} takes {n:int} <<s.piece>>s of the cheapest <<i>> in <<categoryword>> {category:name} "
        "that we have enough of, please place the <<o>>.",
    )
    needs = ("find_<<p.ids>>", "list_<<i.ids>>", "place_<<o.id>>")

    def article(self, slots: Slots, state: State) -> dict[str, Any]:
        """The article meant."""
        v = self.v
        rows = [
            a
            for a in state[v.i.ids].values()
            if a[v.c.name] == slots["category"] and a["stock"] >= slots["n"]
        ]
        least = min((a[v.s.price] for a in rows), default=0)
        return only([a for a in rows if a[v.s.price] == least])

    def draw(self, state: State, rng: Rng) -> Slots | None:
        person = pick(rng, list(state[self.v.p.ids].values()))
        n = int(rng.integers(2, min(6, self.v.s.max_quantity) + 1))
        return {"name": person["name"], "category": pick(rng, self.v.categories), "n": n}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        ids = {f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), f"{v.i.id}_id": found(1, 0, f"{v.i.id}_id")}
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.i.ids}", **{v.c.name: slots["category"], "min_stock": slots["n"]}),
            call(f"place_{v.o.id}", **ids, quantity=slots["n"]),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        return self.order(slots, state, self.article(slots, state))


class AddLine(OrderGoal):
    """Add an article to an order that was not sent yet."""

    phrases = (
        "The <<o>> of <<p>> {name:name} that has not been <<s.sent>> yet should also get {n:int} x {article:name}.",
        "Please add {n:int} x {article:name} to the open <<o>> of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<o.ids>>", "find_<<i.ids>>", "add_to_<<o.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = with_one(self, state, rng, self.v.s.placed)
        article = pick(rng, list(state[self.v.i.ids].values()))
        most = min(article["stock"], 5)
        if not rows or most < 1:
            return None
        return {"name": rows[0][1], "article": article["name"], "n": int(rng.integers(1, most + 1))}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.o.ids}", **{f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), "status": v.s.placed}),
            call(f"find_{v.i.ids}", name=slots["article"]),
            call(
                f"add_to_{v.o.id}",
                **{f"{v.o.id}_id": found(1, 0, f"{v.o.id}_id"), f"{v.i.id}_id": found(2, 0, f"{v.i.id}_id")},
                quantity=slots["n"],
            ),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        order, article = open_order(self, slots, state), named(state, v.i, slots["article"])
        person = state[v.p.ids][order[f"{v.p.id}_id"]]
        inside = any(line[f"{v.i.id}_id"] == article[f"{v.i.id}_id"] for line in order["lines"])
        if inside or article["stock"] < slots["n"] or not self.allowed(person, article):
            raise LookupError(f"{article['name']} cannot be added")
        lines = [*order["lines"], self.line(article, slots["n"])]
        also = (person[f"{v.p.id}_id"],)
        item = f"Has {slots['n']} x {article['name']} been added to the open {v.o} of {slots['name']}?"
        gone = f"Has the stock of {article['name']} gone down by the {slots['n']} added for {slots['name']}?"
        changed = Changed(v.o.ids, order[f"{v.o.id}_id"], {"lines": lines, **bill(v, lines)}, item, also)
        return [changed, self.taken(article, slots["n"], gone)]


class CancelOrder(OrderGoal):
    """Cancel an order that was not sent yet."""

    phrases = (
        "Please cancel the <<o>> of <<p>> {name:name} that has not been <<s.sent>> yet.",
        "The <<p>> {name:name} changed plans, so cancel the <<o>> that is still waiting.",
    )
    needs = ("find_<<p.ids>>", "list_<<o.ids>>", "cancel_<<o.id>>")
    tool = "cancel"

    def draw(self, state: State, rng: Rng) -> Slots | None:
        rows = with_one(self, state, rng, self.v.s.placed)
        return {"name": rows[0][1]} if rows else None

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        v = self.v
        verb = v.s.send if self.tool == "send" else self.tool
        return [
            call(f"find_{v.p.ids}", name=slots["name"]),
            call(f"list_{v.o.ids}", **{f"{v.p.id}_id": found(0, 0, f"{v.p.id}_id"), "status": v.s.placed}),
            call(f"{verb}_{v.o.id}", **{f"{v.o.id}_id": found(1, 0, f"{v.o.id}_id")}),
        ]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        order = open_order(self, slots, state)
        item = f"Has the waiting {v.o} of {slots['name']} been cancelled?"
        also = (order[f"{v.p.id}_id"],)
        outcomes: list[Outcome] = [
            Changed(v.o.ids, order[f"{v.o.id}_id"], {"status": "cancelled"}, item, also)
        ]
        for line in order["lines"]:
            article = state[v.i.ids][line[f"{v.i.id}_id"]]
            back = f"Has the stock of {article['name']} gone up by the {line['quantity']} {slots['name']} gave back?"
            outcomes.append(self.taken(article, -line["quantity"], back))
        return outcomes


class Send(CancelOrder):
    """Send out an order."""

    phrases = (
        "The <<o>> that is waiting for <<p>> {name:name} is next, so please <<s.send>> it.",
        "Please <<s.send>> the waiting <<o>> of <<p>> {name:name}.",
    )
    needs = ("find_<<p.ids>>", "list_<<o.ids>>", "<<s.send>>_<<o.id>>")
    tool = "send"

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        order = open_order(self, slots, state)
        item = f"Has the waiting {v.o} of {slots['name']} been {v.s.sent}?"
        also = (order[f"{v.p.id}_id"],)
        return [Changed(v.o.ids, order[f"{v.o.id}_id"], {"status": v.s.sent}, item, also)]


class OneArticle(OrderGoal):
    """A goal about an article's own record."""

    def article(self, slots: Slots, state: State) -> dict[str, Any]:
        """The article meant."""
        return named(state, self.v.i, slots["article"])

    def id(self) -> dict[str, Any]:
        """Argument with its id."""
        return {f"{self.v.i.id}_id": found(0, 0, f"{self.v.i.id}_id")}

    def look_up(self, slots: Slots) -> dict[str, Any]:
        """The call that finds it."""
        return call(f"find_{self.v.i.ids}", name=slots["article"])


class Restock(OneArticle):
    """Goods came in."""

    phrases = (
        "A delivery of {n:int} <<s.piece>>s of {article:name} has come in, please add it to the stock.",
        "Please book {n:int} more <<s.piece>>s of {article:name} into the stock.",
    )
    needs = ("find_<<i.ids>>", "restock_<<i.id>>")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {
            "article": pick(rng, list(state[self.v.i.ids].values()))["name"],
            "n": int(rng.integers(4, 40)),
        }

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        return [self.look_up(slots), call(f"restock_{self.v.i.id}", **self.id(), quantity=slots["n"])]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        article = self.article(slots, state)
        item = f"Has the stock of {article['name']} gone up by the {slots['n']} that came in?"
        return [self.taken(article, -slots["n"], item)]


class RestockScarcest(Restock):
    """Goods for whatever is scarcest."""

    phrases = (
        "Of the <<i.many>> of the <<categoryword>> {category:name}, the one with the smallest stock gets {n:int} more "
        "<<s.piece>>s, please book them in.",
        "Look up which <<i>> of the <<categoryword>> {category:name} we have least of and add {n:int} <<s.piece>>s to "
        "its stock.",
    )
    needs = ("list_short_<<i.ids>>", "restock_<<i.id>>")

    def article(self, slots: Slots, state: State) -> dict[str, Any]:
        v = self.v
        rows = [a for a in state[v.i.ids].values() if a[v.c.name] == slots["category"]]
        least = min((a["stock"] for a in rows), default=0)
        article = only([a for a in rows if a["stock"] == least])
        if least >= article[v.s.reorder]:  # the tool that lists what is short would not show it
            raise LookupError(f"{article['name']} is not short")
        return article

    def look_up(self, slots: Slots) -> dict[str, Any]:
        return call(f"list_short_{self.v.i.ids}", **{self.v.c.name: slots["category"]})

    def draw(self, state: State, rng: Rng) -> Slots | None:
        return {"category": pick(rng, self.v.categories), "n": int(rng.integers(5, 40))}


class SetPrice(OneArticle):
    """A new price."""

    phrases = (
        "The <<pricewords>> of {article:name} changes to {price:money} <<s.currency>>, please enter it.",
        "Please set the <<pricewords>> of {article:name} to {price:money} <<s.currency>>.",
    )
    needs = ("find_<<i.ids>>", "set_<<i.id>>_price")

    def draw(self, state: State, rng: Rng) -> Slots | None:
        article = pick(rng, list(state[self.v.i.ids].values()))
        price = round(article[self.v.s.price] * float(rng.choice([0.8, 0.9, 1.1, 1.25])), 2)
        return {"article": article["name"], "price": price}

    def plan(self, slots: Slots) -> list[dict[str, Any]]:
        new = {self.v.s.price: slots["price"]}
        return [self.look_up(slots), call(f"set_{self.v.i.id}_price", **self.id(), **new)]

    def outcome(self, slots: Slots, state: State) -> list[Outcome]:
        v = self.v
        article = self.article(slots, state)
        item = f"Has the {v.pricewords} of {article['name']} been set to {slots['price']}?"
        also = (article[v.c.name],)
        return [Changed(v.i.ids, article[f"{v.i.id}_id"], {v.s.price: slots["price"]}, item, also)]


class Orders(Pattern):
    """Articles in stock and orders for them."""

    Settings = OrdersSettings
    IMPORTS = ("from copy import deepcopy",)
    GOALS: ClassVar = (Place, PlaceCheapest, AddLine, CancelOrder, Send, Restock, RestockScarcest, SetPrice)

    def vocabulary(self, s: OrdersSettings, shared: dict[str, Noun]) -> dict[str, Any]:
        i, o = Noun(s.article, s.article_many), Noun(s.order)
        shared[s.article] = i
        shared[s.order] = o
        return {
            "i": i,
            "o": o,
            "p": shared[s.person],
            "c": s.category,
            "categoryword": s.category.name.replace("_", " "),
            "categories": list(s.category.articles),
            "pricewords": s.price.replace("_", " "),
            "reorderwords": s.reorder.replace("_", " "),
            "fee": f"{s.fee}_fee",
            "restricted": s.restricted,
            "filters": [x for x in s.extras if x.filter],
        }

    def tables(self, v: SimpleNamespace) -> list[Table]:
        s, i, o, p = v.s, v.i, v.o, v.p
        limited = [attribute(s.restricted.name, "bool", s.restricted.about)] if s.restricted else []
        articles = Table(
            i,
            f"{i.a[:1].upper()}{i.a[1:]} with its price and stock.",
            [
                attribute(f"{i.id}_id", "str", f"unique id, e.g. {s.prefix}-001"),
                attribute("name", "str", "name, unique"),
                attribute(v.c.name, "str", f"{v.c.about}: {', '.join(v.categories)}"),
                attribute(s.price, "float", f"price of one {s.piece} in {s.currency}"),
                attribute("stock", "int", f"{s.piece}s at hand, never below 0"),
                attribute(s.reorder, "int", "stock below which it is short"),
                *limited,
                *own(s.extras),
            ],
        )
        orders = Table(
            o,
            f"{o.a[:1].upper()}{o.a[1:]} that {p.a} has placed.",
            [
                attribute(f"{o.id}_id", "str", f"unique id, e.g. {s.order_prefix}-001"),
                attribute(f"{p.id}_id", "str", f"the {p} it is for"),
                attribute("lines", "list[dict]", f"each with {i.id}_id, quantity and unit_price"),
                attribute(v.fee, "float", f"{s.fee} fee in {s.currency}"),
                attribute("total", "float", f"value of the lines and the fee in {s.currency}"),
                attribute("placed_on", "str", "date, as YYYY-MM-DD"),
                attribute("status", "str", f"{s.placed}, {s.sent}, {s.handed_over} or cancelled"),
            ],
        )
        return [articles, orders]

    RULES = (
        RuleText(
            "The stock of <<i.a>> is never below 0.",
            """
            stocks = [row.get("stock") for row in rows(after, "<<i.ids>>").values()]
            return all(stock >= 0 for stock in stocks if isinstance(stock, (int, float)))
            """,
        ),
        RuleText(
            "The total of <<o.a>> is the value of its lines plus the <<s.fee>> fee, which is "
            "<<'%.2f'|format(s.fee_amount)>> <<s.currency>> and falls away from <<'%.2f'|format(s.free_from)>> "
            "<<s.currency>> on.",
            """
            for row in rows(after, "<<o.ids>>").values():
                try:
                    goods = sum(line["quantity"] * line["unit_price"] for line in row["lines"])
                    fee = 0.0 if goods >= <<s.free_from>> else <<s.fee_amount>>
                    if abs(row["<<fee>>"] - fee) > 0.005 or abs(row["total"] - goods - fee) > 0.011:
                        return False
                except (KeyError, TypeError):
                    continue
            return True
            """,
        ),
        RuleText(
            "<<o.a[:1]|upper>><<o.a[1:]>> holds between 1 and <<s.max_quantity>> <<s.piece>>s of each <<i>>, "
            "and each <<i>> in one line only.",
            """
            for row in rows(after, "<<o.ids>>").values():
                lines = [line for line in row.get("lines") or [] if isinstance(line, dict)]
                ids = [str(line.get("<<i.id>>_id")) for line in lines]
                counts = [line.get("quantity") for line in lines]
                if len(set(ids)) < len(ids) or not all(n in range(1, <<s.max_quantity + 1>>) for n in counts):
                    return False
            return True
            """,
        ),
        RuleText(
            "<<o.a[:1]|upper>><<o.a[1:]>> goes from <<s.placed>> to <<s.sent>> to <<s.handed_over>>, or from "
            "<<s.placed>> to cancelled, and never back.",
            """
            steps = (
                ("<<s.placed>>", "<<s.sent>>"),
                ("<<s.sent>>", "<<s.handed_over>>"),
                ("<<s.placed>>", "cancelled"),
            )
            return all((old.get("status"), new.get("status")) in steps for old, new in changed("<<o.ids>>", "status"))
            """,
        ),
        RuleText(
            "Cancelling <<o.a>> puts what it held back into the stock.",
            """
            for old, new in changed("<<o.ids>>", "status"):
                if new.get("status") != "cancelled":
                    continue
                for line in old.get("lines") or []:
                    was = rows(before, "<<i.ids>>").get(str(line.get("<<i.id>>_id")), {}).get("stock")
                    now = rows(after, "<<i.ids>>").get(str(line.get("<<i.id>>_id")), {}).get("stock")
                    if isinstance(was, int) and isinstance(now, int) and now - was != line.get("quantity"):
                        return False
            return True
            """,
            rank=2,
        ),
        RuleText(
            "A <<i>> marked '<<restricted.name|replace('_', ' ')>>' is only ordered for <<p.a>> with "
            "'<<restricted.flag|replace('_', ' ')>>' on record.",
            """
            people, articles = rows(before, "<<p.ids>>"), rows(before, "<<i.ids>>")
            for row in added("<<o.ids>>") + [new for _, new in changed("<<o.ids>>", "lines")]:
                ids = [str(line.get("<<i.id>>_id")) for line in row.get("lines") or [] if isinstance(line, dict)]
                limited = any(articles.get(key, {}).get("<<restricted.name>>") is True for key in ids)
                person = people.get(str(row.get("<<p.id>>_id")), {})
                if limited and person.get("<<restricted.flag>>") is not True:
                    return False
            return True
            """,
            when="restricted is not none",
        ),
        RuleText(
            "Only <<p.many>> on record as active get a new <<o>>.",
            """
            people = rows(before, "<<p.ids>>")
            status = [people.get(str(row.get("<<p.id>>_id")), {}).get("status") for row in added("<<o.ids>>")]
            return all(one == "active" for one in status)
            """,
            rank=2,
        ),
    )

    HELPERS = '''
    @staticmethod
    def _set_total(<<o.id>>: <<o.type>>) -> None:
        """Work out the <<s.fee>> fee and the total of <<o.a>> from its lines."""
        goods = sum(line["quantity"] * line["unit_price"] for line in <<o.id>>["lines"])
        <<o.id>>["<<fee>>"] = 0.0 if goods >= <<s.free_from>> else <<s.fee_amount>>
        <<o.id>>["total"] = round(goods + <<o.id>>["<<fee>>"], 2)
'''

    READS = '''
def get_<<p.id>>_spending(self, <<p.id>>_id: str) -> dict:
    """Add up what <<p.a>> has spent on <<o.many>> that were not cancelled.

    Args:
        <<p.id>>_id: Id of the <<p>>.

    Returns:
        The number of <<o.many>>, their total in <<s.currency>> and the date of the latest, or an error.
    """
    refuse if <<p.id>>_id not in self.<<p.ids>> :: There is no <<p>> with the id {<<p.id>>_id!r}.
    mine = [
        <<o.id>>
        for <<o.id>> in self.<<o.ids>>.values()
        if <<o.id>>["<<p.id>>_id"] == <<p.id>>_id and <<o.id>>["status"] != "cancelled"
    ]
    spending = {
        "<<o.ids>>": len(mine),
        "total": round(sum(<<o.id>>["total"] for <<o.id>> in mine), 2),
        "latest": max((<<o.id>>["placed_on"] for <<o.id>> in mine), default=None),
    }
    return {"success": True, "data": spending}

def find_<<i.ids>>(self, name: str) -> dict:
    """Find <<i.many>> by name.

    Args:
        name: Name or a part of it; upper and lower case are the same.

    Returns:
        The matching <<i.many>> sorted by name; an empty list when none matches.
    """
    wanted = name.strip().lower()
    refuse if not wanted :: The name to look for is empty.
    matches = [dict(<<i.id>>) for <<i.id>> in self.<<i.ids>>.values() if wanted in <<i.id>>["name"].lower()]
    return {"success": True, "data": sorted(matches, key=lambda <<i.id>>: <<i.id>>["name"])}

def list_<<i.ids>>(
    self,
    <<c.name>>: str | None = None,
    min_stock: int = 0,
%% for x in filters
    <<x.name>>: <<x.type>> | None = None,
%% endfor
) -> dict:
    """List <<i.many>>, the cheapest first.

    Args:
        <<c.name>>: Only this <<categoryword>>: <<categories|join(", ")>>. Leave out for all.
        min_stock: Only those of which at least this many <<s.piece>>s are at hand.
%% for x in filters
        <<x.name>>: Only those with this value: <<x.about>>. Leave out for all.
%% endfor

    Returns:
        The matching <<i.many>> sorted by <<pricewords>>.
    """
    if <<c.name>> is not None and <<c.name>> not in (<<quoted(categories)>>):
        refuse :: There is no <<categoryword>> {<<c.name>>!r}.
    refuse if min_stock < 0 :: The least stock cannot be negative, as {min_stock} is.
    selected = [
        dict(<<i.id>>)
        for <<i.id>> in self.<<i.ids>>.values()
        if <<c.name>> in (None, <<i.id>>["<<c.name>>"]) and <<i.id>>["stock"] >= min_stock
%% for x in filters
        and <<x.name>> in (None, <<i.id>>["<<x.name>>"])
%% endfor
    ]
    selected.sort(key=lambda <<i.id>>: (<<i.id>>["<<s.price>>"], <<i.id>>["<<i.id>>_id"]))
    return {"success": True, "data": selected}

def list_short_<<i.ids>>(self, <<c.name>>: str | None = None) -> dict:
    """List the <<i.many>> whose stock is below their <<reorderwords>>, the scarcest first.

    Args:
        <<c.name>>: Only this <<categoryword>>: <<categories|join(", ")>>. Leave out for all.

    Returns:
        The short <<i.many>> sorted by stock; an empty list when nothing is short.
    """
    if <<c.name>> is not None and <<c.name>> not in (<<quoted(categories)>>):
        refuse :: There is no <<categoryword>> {<<c.name>>!r}.
    short = [
        dict(<<i.id>>)
        for <<i.id>> in self.<<i.ids>>.values()
        if <<i.id>>["stock"] < <<i.id>>["<<s.reorder>>"] and <<c.name>> in (None, <<i.id>>["<<c.name>>"])
    ]
    short.sort(key=lambda <<i.id>>: (<<i.id>>["stock"], <<i.id>>["<<i.id>>_id"]))
    return {"success": True, "data": short}

def get_<<i.id>>(self, <<i.id>>_id: str) -> dict:
    """Show one <<i>>.

    Args:
        <<i.id>>_id: Id of the <<i>>, e.g. <<s.prefix>>-001.

    Returns:
        The <<i>> with price and stock, or an error for an unknown id.
    """
    need i
    return {"success": True, "data": dict(<<i.id>>)}

def list_<<o.ids>>(self, <<p.id>>_id: str | None = None, status: str | None = None) -> dict:
    """List <<o.many>>, the oldest first.

    Args:
        <<p.id>>_id: Only those of this <<p>>. Leave out for all.
        status: Only those that are <<s.placed>>, <<s.sent>>, <<s.handed_over>> or cancelled. Leave out for all.

    Returns:
        The matching <<o.many>>; an empty list when there are none.
    """
    if status not in (None, "<<s.placed>>", "<<s.sent>>", "<<s.handed_over>>", "cancelled"):
        refuse :: There is no status {status!r}.
    selected = [
        deepcopy(<<o.id>>)
        for <<o.id>> in self.<<o.ids>>.values()
        if <<p.id>>_id in (None, <<o.id>>["<<p.id>>_id"]) and status in (None, <<o.id>>["status"])
    ]
    selected.sort(key=lambda <<o.id>>: (<<o.id>>["placed_on"], <<o.id>>["<<o.id>>_id"]))
    return {"success": True, "data": selected}

def get_<<o.id>>(self, <<o.id>>_id: str) -> dict:
    """Show one <<o>> with its lines.

    Args:
        <<o.id>>_id: Id of the <<o>>, e.g. <<s.order_prefix>>-001.

    Returns:
        The <<o>>, or an error for an unknown id.
    """
    need o
    return {"success": True, "data": deepcopy(<<o.id>>)}
'''

    WRITES = '''
def place_<<o.id>>(self, <<p.id>>_id: str, <<i.id>>_id: str, quantity: int) -> dict:
    """Place a new <<o>> of one <<i>> for <<p.a>>; more can be added while it is <<s.placed>>.

    Args:
        <<p.id>>_id: Id of the <<p>>, who must be active.
        <<i.id>>_id: Id of the <<i>>.
        quantity: Number of <<s.piece>>s, 1 to <<s.max_quantity>> and no more than are in stock.

    Returns:
        The new <<o>> with its total, or an error.
    """
    need p
    refuse if <<p.id>>["status"] != "active" :: {<<p.id>>['name']} is {<<p.id>>['status']}: {<<p.id>>['status_note']}.
    need i
%% if restricted is not none
    if <<i.id>>["<<restricted.name>>"] and not <<p.id>>["<<restricted.flag>>"]:
        refuse :: {<<p.id>>['name']} may not have {<<i.id>>['name']}.
%% endif
    if not 1 <= quantity <= <<s.max_quantity>>:
        refuse :: The quantity has to be 1 to <<s.max_quantity>>, not {quantity}.
    refuse if quantity > <<i.id>>["stock"] :: Only {<<i.id>>['stock']} of {<<i.id>>['name']} are in stock.
    <<o.id>>: <<o.type>> = {
        "<<o.id>>_id": self._next_id(self.<<o.ids>>, "<<s.order_prefix>>"),
        "<<p.id>>_id": <<p.id>>_id,
        "lines": [{"<<i.id>>_id": <<i.id>>_id, "quantity": quantity, "unit_price": <<i.id>>["<<s.price>>"]}],
        "<<fee>>": 0.0,
        "total": 0.0,
        "placed_on": self.today,
        "status": "<<s.placed>>",
    }
    self._set_total(<<o.id>>)
    <<i.id>>["stock"] -= quantity
    self.<<o.ids>>[<<o.id>>["<<o.id>>_id"]] = <<o.id>>
    done deepcopy(<<o.id>>) :: <<o.cap>> {<<o.id>>['<<o.id>>_id']} placed for {<<p.id>>['name']}.

def add_to_<<o.id>>(self, <<o.id>>_id: str, <<i.id>>_id: str, quantity: int) -> dict:
    """Add <<i.a>> to <<o.a>> that has not been <<s.sent>>.

    Args:
        <<o.id>>_id: Id of the <<o>>; it must be <<s.placed>>.
        <<i.id>>_id: Id of the <<i>>, which the <<o>> does not hold yet.
        quantity: Number of <<s.piece>>s, 1 to <<s.max_quantity>> and no more than are in stock.

    Returns:
        The changed <<o>> with its new total, or an error.
    """
    need o
    if <<o.id>>["status"] != "<<s.placed>>":
        refuse :: <<o.cap>> {<<o.id>>_id} is {<<o.id>>['status']} and cannot be changed.
    need i
    if any(line["<<i.id>>_id"] == <<i.id>>_id for line in <<o.id>>["lines"]):
        refuse :: <<o.cap>> {<<o.id>>_id} holds {<<i.id>>['name']} already.
%% if restricted is not none
    <<p.id>> = self.<<p.ids>>[<<o.id>>["<<p.id>>_id"]]
    if <<i.id>>["<<restricted.name>>"] and not <<p.id>>["<<restricted.flag>>"]:
        refuse :: {<<p.id>>['name']} may not have {<<i.id>>['name']}.
%% endif
    if not 1 <= quantity <= <<s.max_quantity>>:
        refuse :: The quantity has to be 1 to <<s.max_quantity>>, not {quantity}.
    refuse if quantity > <<i.id>>["stock"] :: Only {<<i.id>>['stock']} of {<<i.id>>['name']} are in stock.
    <<i.id>>["stock"] -= quantity
    <<o.id>>["lines"].append(
        {"<<i.id>>_id": <<i.id>>_id, "quantity": quantity, "unit_price": <<i.id>>["<<s.price>>"]}
    )
    self._set_total(<<o.id>>)
    done deepcopy(<<o.id>>) :: {quantity} x {<<i.id>>['name']} added to {<<o.id>>_id}.

def cancel_<<o.id>>(self, <<o.id>>_id: str) -> dict:
    """Cancel <<o.a>> that has not been <<s.sent>> and put what it held back into the stock.

    Args:
        <<o.id>>_id: Id of the <<o>>; it must be <<s.placed>>.

    Returns:
        The cancelled <<o>>, or an error.
    """
    need o
    if <<o.id>>["status"] != "<<s.placed>>":
        refuse :: <<o.cap>> {<<o.id>>_id} is {<<o.id>>['status']} and cannot be cancelled.
    for line in <<o.id>>["lines"]:
        self.<<i.ids>>[line["<<i.id>>_id"]]["stock"] += line["quantity"]
    <<o.id>>["status"] = "cancelled"
    done deepcopy(<<o.id>>) :: <<o.cap>> {<<o.id>>_id} cancelled.

def <<s.send>>_<<o.id>>(self, <<o.id>>_id: str) -> dict:
    """<<s.send|capitalize>> <<o.a>> that is waiting.

    Args:
        <<o.id>>_id: Id of the <<o>>; it must be <<s.placed>>.

    Returns:
        The <<o>>, now <<s.sent>>, or an error.
    """
    need o
    if <<o.id>>["status"] != "<<s.placed>>":
        refuse :: <<o.cap>> {<<o.id>>_id} is {<<o.id>>['status']}, not <<s.placed>>.
    <<o.id>>["status"] = "<<s.sent>>"
    done deepcopy(<<o.id>>) :: <<o.cap>> {<<o.id>>_id} is <<s.sent>>.

def <<s.hand_over>>_<<o.id>>(self, <<o.id>>_id: str) -> dict:
    """Record that <<o.a>> has been <<s.handed_over>>.

    Args:
        <<o.id>>_id: Id of the <<o>>; it must be <<s.sent>>.

    Returns:
        The <<o>>, now <<s.handed_over>>, or an error.
    """
    need o
    refuse if <<o.id>>["status"] != "<<s.sent>>" :: <<o.cap>> {<<o.id>>_id} is {<<o.id>>['status']}, not <<s.sent>>.
    <<o.id>>["status"] = "<<s.handed_over>>"
    done deepcopy(<<o.id>>) :: <<o.cap>> {<<o.id>>_id} is <<s.handed_over>>.

def restock_<<i.id>>(self, <<i.id>>_id: str, quantity: int) -> dict:
    """Add goods that came in to the stock of <<i.a>>.

    Args:
        <<i.id>>_id: Id of the <<i>>.
        quantity: Number of <<s.piece>>s that came in, at least 1.

    Returns:
        The <<i>> with its new stock, or an error.
    """
    need i
    refuse if quantity < 1 :: At least 1 has to come in, not {quantity}.
    <<i.id>>["stock"] += quantity
    done dict(<<i.id>>) :: {<<i.id>>['name']} is now at {<<i.id>>['stock']}.

def set_<<i.id>>_price(self, <<i.id>>_id: str, <<s.price>>: float) -> dict:
    """Change the <<pricewords>> of <<i.a>>; <<o.many>> already placed keep theirs.

    Args:
        <<i.id>>_id: Id of the <<i>>.
        <<s.price>>: New price of one <<s.piece>> in <<s.currency>>, above 0.

    Returns:
        The changed <<i>>, or an error.
    """
    need i
    refuse if round(<<s.price>>, 2) <= 0 :: The <<pricewords>> has to be above 0, not {<<s.price>>}.
    <<i.id>>["<<s.price>>"] = round(<<s.price>>, 2)
    done dict(<<i.id>>) :: {<<i.id>>['name']} now costs {<<i.id>>['<<s.price>>']}.
'''

    def generate(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        each = 12 // len(v.categories)  # of every category some, however many categories there are
        chosen = [(c, a) for c in v.categories for a in shuffled(rng, list(s.category.articles[c]))[:each]]
        for n, (category, name) in enumerate(chosen):
            key = key_of(s.prefix, n + 1)
            limited = {s.restricted.name: name in s.restricted.articles} if s.restricted else {}
            state[v.i.ids][key] = {
                f"{v.i.id}_id": key,
                "name": name,
                v.c.name: category,
                s.price: round(s.category.articles[category][name] * float(rng.uniform(0.9, 1.1)), 2),
                "stock": int(rng.integers(s.stock[0], s.stock[1] + 1)),
                s.reorder: int(rng.integers(s.stock[1] // 4, s.stock[1] // 2 + 1)),
                **limited,
                **{x.name: x.draw(rng) for x in s.extras},
            }
        self._orders(v, state, rng)

    def _orders(self, v: SimpleNamespace, state: State, rng: Rng) -> None:
        s = v.s
        statuses = [s.placed] * 6 + [s.sent] * 3 + [s.handed_over] * 2
        active = [k for k, p in state[v.p.ids].items() if p["status"] == "active"]
        people = shuffled(rng, active) + shuffled(rng, active)
        for n, (person, status) in enumerate(zip(people, statuses, strict=False)):
            lines = self._lines(v, state, rng, state[v.p.ids][person])
            if not lines:
                continue
            key = key_of(s.order_prefix, len(state[v.o.ids]) + 1)
            state[v.o.ids][key] = {
                f"{v.o.id}_id": key,
                f"{v.p.id}_id": person,
                "lines": lines,
                **bill(v, lines),
                "placed_on": later(state["today"], n - 12),
                "status": status,
            }

    def _lines(
        self, v: SimpleNamespace, state: State, rng: Rng, person: dict[str, Any]
    ) -> list[dict[str, Any]]:
        r = v.s.restricted
        rows = list(state[v.i.ids].values())
        fit = [a for a in rows if r is None or not a[r.name] or person[r.flag]]
        most = min(5, v.s.max_quantity)
        return [
            {
                f"{v.i.id}_id": a[f"{v.i.id}_id"],
                "quantity": int(rng.integers(1, most + 1)),
                "unit_price": a[v.s.price],
            }
            for a in shuffled(rng, fit)[: int(rng.integers(1, 3))]
        ]


PATTERN = Orders
