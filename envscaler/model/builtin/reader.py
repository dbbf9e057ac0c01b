"""How the stand-in reads a request: its answers to `tasks/judge` and `themes/infer`.

`judge` weighs cues: words that presuppose a kept world (records, their numbers, verbs that change them, "my
order") against words that ask for something else (a fact of the open world, a calculation, a text to be
written, advice). `infer` looks for the domain that the request's words point to and words a theme anew, or
says that none fits.

It reads words only. It knows no request by identity, learns nothing from labels, and is often wrong: whoever
negates, quotes or jokes misleads it. It answers nothing else; `build` writes the worlds.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from envscaler.model.builtin.domain import ENOUGH, Domain, ranking

# judge


class Cue(NamedTuple):
    """A kind of wording and how much it speaks for a kept world (above 0) or against one."""

    name: str
    """What a request does that words itself so."""
    weight: float
    """How much it counts, once a request."""
    wordings: str
    """Expressions between white space; `_` is a space, `{records}` any of `_RECORDS` and `_VAGUE_RECORDS`."""
    then: str = ""
    """If given, one of these must follow within `gap` words."""
    gap: int = 0
    """How many words may lie between."""
    cased: bool = False
    """Whether upper case matters."""
    command: bool = False
    """Whether it must stand where a command can: at the start of a clause, after "please", "to", "you" and the like."""


_VAGUE_RECORDS = "projects? visits? events? meetings? sessions? notes?"
"""Kept records in the calendar of an office, but a way of speaking in "for my project"."""
_RECORDS = """
    appointments? reservations? bookings? accounts? orders? carts? invoices? bills? patients? customers?
    clients? employees? students? members? memberships? polic(?:y|ies) claims? tickets? inventor(?:y|ies)
    warehouses? playlists? calendars? reminders? alarms? tasks? to-?dos? files? folders?
    databases? records? subscriptions? devices? servers? portfolios? wallets? balances? transactions?
    payments? shipments? packages? parcels? deliver(?:y|ies) enrol?lments? rooms? flights? medications?
    prescriptions? messages? e-?mails? contacts? channels? profiles? waitlists? queues? repositor(?:y|ies)
    pull_requests? campaigns? contracts? leases? listings? permits? evidence shifts? timesheets? payroll
    expenses? budgets? surger(?:y|ies) alerts? subscribers? followers? rentals? consultations? donations?
    vaccinations? vouchers? coupons? credentials?
"""
CUES = (
    Cue(
        "asks to change what is kept",
        2.0,
        r"""
        (?<!a_)(?<!the_)(?<!this_)(?<!of_)book bookmark reserve re-?schedule cancel renew register enrol+
        schedule_(?:a|an|my|our|the|these|two|three|four|some|it|for|delivery) un?subscribe refund withdraw
        upload submit dispute assign approve reject activate deactivate enable disable delete remove
        (?<!an_)update(?!_(?:me|myself|on)\b)
        modify edit rename archive deploy restart block unblock invite rent lease pay_(?:for|my|the) transfer
        deposit check(?:_me)?_in sign_(?:me|us|up) log_(?:me|my|the|a|this|in) remind_me notify
        send_(?:an?|the|out|my|our|this|it|them) dispatch allocate unlock lock place_an?
        track_my add_my (?:give|leave)_(?:my_)?feedback rate_(?:my|the)
        turn_(?:on|off|up|down) switch_(?:on|off) make_a_(?:reservation|booking|payment)
        """,
    ),
    Cue(
        "commands a change of something definite",
        1.6,
        """
        mark undo redo move shift swap switch correct fix release extend raise lower reduce increase reset receive
        free skip hold merge split ship replace dismiss waive credit adjust exchange reverse restore pause resume
        freeze return void discharge admit promote transfer reassign label flag tick print unfollow hide save defer
        kick_out log record clock note enter issue close open reopen start stop end change set put take lend borrow
        feed raise let roll_over confirm decline accept charge collect drop pick post add get_rid_of bring pull
        retire push seat attach sign
        """,
        then=r"""
        the my our his her their this that it them everything everybody all both any every whoever one two three
        four another \w*\d[\w.-]* \w+'s off out back through
        """,
        gap=1,
        command=True,
    ),
    Cue(
        "commands something for somebody named",
        1.6,
        "(?i:put give let add move mark upgrade seat swap enter promote take sign remove assign transfer admit)",
        then="[A-Z][a-z]+",
        gap=0,
        cased=True,
        command=True,
    ),
    Cue(
        "asks how something of theirs stands",
        1.6,
        r"""
        have_(?:I|we) (?:has|did|is|are|was|were|am|when's|where's|what's|who's)_(?:my|our|I|we|anyone|anybody)
        which_of_(?:my|our|the) (?:do|are|did)_(?:I|we)_(?:still_)?(?:have|owe|got|get|need|run|low|own)
        (?:left|open|due|overdue)_(?:in|on|at|for|this|next|today|tomorrow) who_(?:has|had|signed|took|borrowed)
        still_(?:open|free|due|owed|missing|waiting|booked|out|unpaid|available)
        been_(?:paid|signed|delivered|returned|received|handed_in|checked)
        """,
    ),
    Cue(
        "looks into something definite",
        0.5,
        "show check see list look_up find_out tell_me look_whether",
        then="my our whether if who which when where all the_(?:last|next|open)",
        gap=2,
        command=True,
    ),
    Cue(
        "names a thing by its place or code",
        1.4,
        """
        plate room desk bed dock aisle plot station unit gallery ward bus tram van truck table locker section form
        object request agreement loan chip bib apartment flat bin shelf batch lot site gate seat zone route workshop
        board card order invoice ticket case booking file house pump machine container pen class group level drawer
        parcel permit cage tank row hall bay berth pitch donor courier list
        """,
        then=r"(?:no_|number_)?[A-Za-z]{0,3}-?\d[\w.-]*",
    ),
    Cue(
        "asks to set something up or send it",
        1.5,
        """
        add create set set_up record open close move change send post share order buy purchase save store
        start stop mark adjust manage track put file report
        """,
        then="{records} list price quantity status",
        gap=5,
    ),
    Cue(
        "asks for something new to be kept",
        2.0,
        "add create set_up make launch start build",
        then=r"""
        named called titled name_of with_(?:the_|a_)?(?:title|name|label|description) filters? groups? polls?
        surveys? rules? teams? boards? cards? webhooks? pages? posts? quests? users? clusters? pipelines?
        backups? entr(?:y|ies)
        """,
        gap=9,
    ),
    Cue(
        "names a record by its number",
        2.6,
        r"""
        IDs?
        (?:account|order|policy|tracking|case|ticket|invoice|serial|card|claim|reference)_(?:number|no|\#)
        (?:confirmation|warehouse|flight)_(?:number|no|\#) (?<!\#)(?=\w*\d)[A-Z][A-Z0-9]*-?\d{2,}\w* """,
        cased=True,
    ),
    Cue(
        "speaks of somebody's own records",
        2.0,
        r"my our his her their (?!what|it|that|here|there|let|who)\w+'s",
        then="{own} history progress schedule inbox statement results? cards? goals? workouts? data journal list",
        gap=2,
    ),
    Cue(
        "asks for an entry of a register",
        1.5,
        r"(?:patient|employee|customer|student|client|member|user)_(?:information|details|record|data|file|profile)s? "
        r"availability_of",
    ),
    Cue("speaks of kept records", 0.8, "{records}"),
    Cue(
        "looks for what is on offer",
        1.0,
        "find search looking_for look_for show available interested_in",
        then="""
        flights? hotels? rentals? apartments? airbnbs? products? jobs? positions? courses? class(?:es)?
        providers? doctors? dentists? clinics? hospitals? attorneys? cars? vehicles? properties
        vacanc(?:y|ies) items? """,
        gap=7,
    ),
    Cue(
        "looks up a state",
        0.8,
        r"""
        status availab(?:le|ility) current(?:ly)?_(?:in|inventory|balance|stock) in_stock remaining overdue
        pending balance occupancy slots? vacanc(?:y|ies) system platform app
        """,
    ),
    Cue(
        "asks for a calculation",
        -2.6,
        r"""
        calculat\w+ comput(?:e|es|ed|ing|ation) convert\w* conversion solve square_root factorial derivative integral
        probability standard_deviation equation hypothesis matrix polynomial arithmetic estimat\w+ predict\w*
        simulat\w+ interpolat\w+ evaluate_(?:the|this|these) how_(?:much|many)_.{0,40}\bleft encode decode
        upper_?case BMI hash random sum_(?:of|up) area_of perimeter distance_between
        """,
    ),
    Cue(
        "asks for something to be written",
        -2.2,
        r"""
        write(?!_(?:to|off|down|it)\b) proofread invent rephrase alphabetical bash one-liner regex pseudo_?code compose
        draft rewrite paraphrase summari[sz]e translate generat\w+ jokes? poems? (?:short|a|an?_\w+)_story essay
        slogans? memes? nicknames? lyrics quotes? names?_for caption recipes? brainstorm design code_snippet
        would_you_rather
        """,
    ),
    Cue(
        "asks for a fact of the open world",
        -1.6,
        r"""
        ^(?:what|who|when|where|why|which|how)
        explain tell_me_(?:about|more|what) learn histor(?:y|ical)_(?:of|data) meaning definition
        difference_between types?_of popular symptoms? know_(?:about|more|the|what|how|which) curious
        wonder(?:ing)? understand curiosity side_effects interactions? nutrition\w*
        """,
    ),
    Cue(
        "asks for information at large",
        -0.8,
        "(?:information|info|details?|facts?|insights?|report)_(?:about|on|for|regarding)",
    ),
    Cue(
        "asks for what is published anyway",
        -2.0,
        r"""
        news headlines? weather temperature forecasts? climate stocks? share_price markets? exchange_rates?
        crypto\w* bitcoin NFTs? odds standings scores? leagues? seasons? tournaments? lotter(?:y|ies) lotto
        draws? winning_numbers horoscopes? zodiac movies? films? songs? artists? trending top_\d+ earthquakes?
        covid\S* pandemic GDP econom\w+ IP_address\w* whois geo-?locat\w+ hebrew holidays? trivia wordle
        puzzles? planets? celestial coordinates latitude countr(?:y|ies) capital species statistics stats
        matches players? champions? restaurants? indicators? mutual_funds? dividends? ETFs? keywords? domain
        """,
    ),
    Cue(
        "asks for advice",
        -1.6,
        r"""
        recommend\w* suggest\w* tips advice best_way should_(?:i|we) ideas? strateg(?:y|ies) pros_and_cons
        opinion how_(?:do|can|should|would)_(?:i|we|you) help_me_(?:understand|decide|choose)
        (?:meal|diet|workout|exercise|study|training|personali[sz]ed)_(?:plan|program|routine)s?
        """,
    ),
    Cue("is a supposition", -2.0, r"imagine suppose what_if hypothetical\w* if_i_were in_theory"),
    Cue(
        "brings its own data",
        -1.6,
        r"""
        here_(?:is|are)_(?:the|my|our)\b.{0,40}\b(?:data|numbers|text|values)
        \[\s*[{"'\[\d]\w* (?:analy[sz]e|optimi[sz]e|assess|compare|classify|detect(?!or))\w*
        """,
    ),
)
LEAST = 1.4
"""Least sum of the weights at which a request is taken to presuppose a kept world."""


@cache
def _patterns() -> tuple[tuple[Cue, re.Pattern[str]], ...]:
    return tuple((cue, _compile(cue)) for cue in CUES)


_BEFORE_COMMANDS = "and then please pls to you u just also or can could let's but"
_CLAUSE = "(?:^|(?<=[.!?:;,&-] )|" + "|".join(rf"(?<=\b{word} )" for word in _BEFORE_COMMANDS.split()) + ")"


def _compile(cue: Cue) -> re.Pattern[str]:
    expression = (_CLAUSE if cue.command else "") + _any_of(cue.wordings)
    if cue.then:
        expression += rf"(?:\W+\w+){{0,{cue.gap}}}?\W+{_any_of(cue.then)}"
    return re.compile(rf"(?<!\w){expression}(?!\w)", 0 if cue.cased else re.IGNORECASE)


def _any_of(wordings: str) -> str:
    words = wordings.replace("{records}", f"{_RECORDS} {_VAGUE_RECORDS}").replace("{own}", _RECORDS)
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


def judge(blocks: Mapping[str, str], rng: np.random.Generator, fault_rate: float) -> dict[str, Any]:
    """The answer to `tasks/judge`: the cues found in the request, weighed."""
    found = find_cues(blocks["request"])
    score = sum(cue.weight for cue, _ in found)
    stateful = score >= LEAST
    for_it = [(cue, words) for cue, words in found if (cue.weight > 0) == stateful]
    strongest = sorted(for_it, key=lambda pair: -abs(pair[0].weight))[:2]
    grounds = " and ".join(f"{cue.name} ({words!r})" for cue, words in strongest)
    point = "It presupposes a kept world" if stateful else "No kept world has to be read or changed for it"
    return {
        "reason": f"{point}: it {grounds or 'names no record and no change to one'}.",
        "stateful": stateful,
    }


def find_cues(request: str) -> list[tuple[Cue, str]]:
    """Each cue that occurs, once, with the words that show it."""
    matches = ((cue, pattern.search(request)) for cue, pattern in _patterns())
    return [(cue, " ".join(match.group().split())[:40]) for cue, match in matches if match]


# infer

_QUALIFIERS = "small regional shared family-run independent nationwide cooperative private municipal"
_OWN_QUALIFIERS = "online virtual mobile public corporate international personal digital local"
_CORE = (
    "What people say in it all day: {words}.",
    "Most of the work in it turns on {words}.",
    "Its users speak above all of {words}.",
    "The words one hears most in it are {words}.",
)
FITS = 2.0
"""Least score at which a request is taken to be about a domain; less than `ENOUGH`, as a request has few words."""
LONG = 40
"""Words of a request from which on more is asked for, as many words hit something by chance."""
MOST = 4.0
"""Least score that is asked for at most, however long a request is."""


def infer(blocks: Mapping[str, str], rng: np.random.Generator, fault_rate: float) -> dict[str, Any]:
    """The answer to `themes/infer`: the domain the words point to, worded anew, or why none does."""
    request = blocks["request"]
    ranked = ranking(request)
    if not ranked or ranked[0][0] < _least(request):
        return _unfit(request, ranked)
    score, domain = ranked[0]
    rival = next((other for other, known in ranked if known is not domain), 0.0)
    said = said_words(domain, request)
    usefulness, modelability = _scores(domain, request, score, rival, rng)
    return {
        "reason": f"{_quoted(said)} point to the world {domain.name.replace('_', ' ')!r} (score {score:.1f}, "
        f"next {rival:.1f}); its records would be looked up or changed.",
        "fits": True,
        "title": _title(domain, request, rng),
        "summary": _summary(domain, said, rng),
        "usefulness": usefulness,
        "modelability": modelability,
    }


def _least(request: str) -> float:
    """The least score that is asked for: `FITS`, and 1 more for each `LONG` words beyond the first `LONG`."""
    return min(MOST, FITS + max(0, len(request.split()) - LONG) / LONG)


def said_words(domain: Domain, request: str) -> list[str]:
    """The domain's words that occur in the request, the weightiest first."""
    text = " ".join(re.findall(r"[a-z0-9]+", request.lower()))
    words = sorted(domain.words.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, weight in words if weight > 0 and re.search(rf"\b{_opening(word)}", text)]


def _opening(word: str) -> str:
    # Without its last letter where that may change in the plural: `library`, `libraries`.
    return re.escape(word[:-1] if word[-1] in "ey" and len(word) > 4 else word)


def _unfit(request: str, ranked: list[tuple[float, Domain]]) -> dict[str, Any]:
    near = [(score, domain) for score, domain in ranked[:3] if score > 0]
    if near:
        nearest = "; ".join(
            f"{domain.name.replace('_', ' ')} ({score:.1f}, by {_quoted(said_words(domain, request))})"
            for score, domain in near
        )
        least = _least(request)
        reason = (
            f"None of the {len(ranked)} worlds I know scores {least:.2g} or more. The nearest: {nearest}."
        )
    else:
        told = sorted(set(re.findall(r"[A-Za-z]{3,}", request)), key=lambda word: (-len(word), word))
        reason = f"None of the {len(ranked)} worlds I know has words such as {_quoted(told)}."
    return {"reason": reason, "fits": False, "title": "", "summary": "", "usefulness": 1, "modelability": 1}


def _quoted(words: list[str]) -> str:
    return ", ".join(repr(word) for word in words[:5]) or "those of an empty request"


def _title(domain: Domain, request: str, rng: np.random.Generator) -> str:
    """The domain's title with the request's own adjective, or one drawn, or none."""
    title = domain.word_title(rng)
    own = [word for word in _OWN_QUALIFIERS.split() if re.search(rf"\b{word}\b", request, re.IGNORECASE)]
    qualifiers = [word for word in own or _QUALIFIERS.split() if word not in title.lower()]
    if not qualifiers or (not own and rng.random() < 0.2):
        return title
    # Only the first letter is lowered, and not that of an abbreviation.
    tail = title if title[1:2].isupper() else title[:1].lower() + title[1:]
    return f"{str(rng.choice(qualifiers)).capitalize()} {tail}"


def _summary(domain: Domain, said: list[str], rng: np.random.Generator) -> str:
    """The domain's summary, and a sentence of its words that the request uses; never the request's values."""
    summary = domain.word_summary(rng)
    core = [word for word in said if not any(word != other and word in other for other in said)][:3]
    if len(core) < 2 or rng.random() < 0.4:
        return summary
    words = f"{', '.join(core[:-1])} and {core[-1]}"
    return f"{summary} {str(rng.choice(_CORE)).format(words=words)}"


def _scores(
    domain: Domain, request: str, score: float, rival: float, rng: np.random.Generator
) -> tuple[int, int]:
    """The domain's usefulness and modelability, less where it fits by a hair or more is wanted than records."""
    doubt = int(score < ENOUGH) + int(rival > 0.75 * score)
    elsewhere = sum(cue.weight <= -2 for cue, _ in find_cues(request))
    usefulness = domain.usefulness - doubt + int(rng.choice([-1, 0, 0, 1]))
    modelability = domain.modelability - doubt - elsewhere + int(rng.integers(0, 2))
    return max(1, min(10, usefulness)), max(1, min(10, modelability))
