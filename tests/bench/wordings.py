"""Conversations in other words than the built-in model's, for the bench of the detectors of a user's faults.

    DESKS (by hand) → a task of three or four errands → a talk in which a user says them its own way

An errand is a sentence of a task (`T`), ways in which users say it (`U`), and what the agent answers (`A`); where a
user leaves something out, the agent's question and the answer stand behind bars. What stands in braces is drawn, and
written in another form by the user than by the task: numbers in words, dates and times otherwise, names and codes cut
short. Nothing here is from the detectors, and the detectors know nothing of it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rng = np.random.Generator
Forms = tuple[list[str], list[str]]
"""In a task, and of a user."""


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


DESKS = """
T Transfer {sum1} from account {code1} to {who1}, to be executed on {day1}.
U I want to send {sum1} over to {who1}; it should come out of {code1} and go through on {day1}.
U Can you wire {who1} some money from {code1} on {day1}? | Certainly. How much should it be? | {sum1}.
A The transfer is scheduled.
T Block the debit card of {who2} because it was lost, and order {n1} new ones.
U {who2} lost the debit card. Could it be blocked, and {n1} new ones ordered?
U Please put a block on the lost card of {who2}. | Of course. How many new ones shall I order? | {n1}, please.
A The card is blocked, and the new ones are on their way.
T Raise the daily limit of account {code2} to {sum2}.
U How about the daily limit on {code2}? I'd need it at {sum2}.
U I'd like a higher daily limit, {sum2}, for {code2}.
A The limit was changed.
T Add the remark {note1} to the file of {who3} and mail a copy to {mail1}.
U In the file of {who3}, could you leave the remark {note1}? A copy should reach {mail1}.
U There's a remark to be made for {who3}: {note1}. Mail me the copy at {mail1}, would you?
A The remark was saved and the copy sent.

T Book a double room for {who1} from {day1} for {n1} nights.
U I'm after a double room, {n1} nights, starting {day1}, under the name of {who1}.
U A double room for {who1}, please, from {day1}. | With pleasure. How long is the stay? | {n1} nights.
A The room is booked.
T Reserve a table for {n2} people on {day2} at {at1}.
U Would a table for {n2} be possible at {at1} on {day2}?
U We'd love a table at your restaurant on {day2}. | For how many, and at what time? | We are {n2}, at {at1}.
A The table is reserved.
T Change the wake-up call of room {many1} to {at2}.
U Could somebody move the wake-up call in room {many1} to {at2}?
U Room {many1} wants to be woken at {at2} instead.
A The call was moved.
T Take {pct1} off the bill {code1} as compensation and note {note1} on it.
U About bill {code1}: we were promised {pct1} off, as compensation. It should carry the note {note1}.
U {code1} needs a discount of {pct1} by way of compensation, with the note {note1} on the bill.
A The bill was corrected.

T Order {many1} boxes of gloves for the ward and charge them to cost centre {code1}.
U We're running low on gloves. {many1} boxes to the ward, please, charged to {code1}.
U Could you get the ward more gloves, on cost centre {code1}? | How many boxes? | {many1} should do.
A They are ordered.
T Move the appointment of {who1} to {day1} at {at1}.
U {who1} can't make it. Would {at1} on {day1} work for the appointment?
U I have to shift the appointment for {who1}. | To when? | {day1}, {at1}.
A The appointment was moved.
T Record {n1} doses of the vaccine for {who2} in batch {code2}.
U {who2} got {n1} doses of the vaccine; the batch was {code2}. Could you put that on record?
U Batch {code2}: {n1} vaccine doses went to {who2}, please record it.
A It is recorded.
T Send the report to {mail1} and mark it {note1}.
U The report has to go out to {mail1}. It should be marked {note1}.
U Would you mind sending that report? | Not at all. To whom? | To {mail1}, and mark it {note1} please.
A The report was sent.

T Enrol {who1} in the evening course {code1} that begins on {day1}.
U I'd like to sign {who1} up for the evening course, {code1}. It's the one beginning {day1}.
U {who1} wants to enrol in {code1}, the evening course from {day1}.
A The enrolment is done.
T Refund {sum1} to {who2} for the workshop that was cancelled.
U {who2} is owed a refund of {sum1}, as the workshop was cancelled.
U The workshop got cancelled, so {who2} should have a refund. | How much was paid? | {sum1}.
A The refund was made.
T Extend the deadline of assignment {code2} by {n1} days and tell {who3}.
U Could we have {n1} more days on {code2}, the assignment? And would you let {who3} know of the deadline?
U The deadline for assignment {code2} is too tight. Please extend it, and let {who3} know. | By how much? | {n1} days.
A The deadline was extended.
T Set the capacity of the seminar to {many1} and open the waiting list at {at1}.
U The seminar may take {many1} from now on. The waiting list should open at {at1}.
U Let's have a capacity of {many1} in the seminar, with the waiting list open from {at1}.
A The seminar was changed.

T Ship parcel {code1} to {who1} with {n1} labels on it before {day1}.
U Parcel {code1} should be with {who1} before {day1}; it needs {n1} labels.
U I need parcel {code1} shipped to {who1} before {day1}. | How many labels go on it? | {n1} of them.
A The parcel is on its way.
T Insure shipment {code2} for {sum1}.
U I'd feel better with insurance on shipment {code2}, say for its value of {sum1}.
U Shipment {code2} has to be insured. | For what amount? | {sum1}.
A The shipment is insured.
T Put {many1} pallets into storage until {day2}.
U There are {many1} pallets that need storage until {day2}.
U Can you keep our pallets in storage? | How many, and until when? | {many1}, until {day2}.
A The storage is arranged.
T Let the driver know {note1} and call {who2} at {at1}.
U Please tell the driver {note1}. Someone should ring {who2} at {at1}, too.
U The driver should know {note1}. | Noted. Anything to add to that? | Yes, a call to {who2} at {at1}.
A The driver was told.

T Renew the loan of {code1} for {who1} until {day1}.
U {who1} would like to keep {code1} for longer. Could the loan be renewed until {day1}?
U I'd like to renew a loan for {who1}, {code1}. | Until when? | {day1}.
A The loan was renewed.
T Waive the fine of {sum1} that {who2} owes.
U {who2} shouldn't have to pay that fine of {sum1}. Could it be waived?
U There's a fine on the account of {who2}, {sum1}. I'd ask you to waive it.
A The fine was waived.
T Buy {many1} copies of the atlas and put {n1} of them on the shelf of new books.
U The atlas is so popular that we want {many1} copies bought. {n1} go on the shelf of new books.
U Let's buy the atlas: {many1} copies, {n1} of which belong on the shelf of new books.
A The copies are ordered.
T Invite {who3} to the reading on {day2} at {at1}.
U {who3} must not miss the reading; that's {day2}, {at1}. Could an invitation go out?
U I would like {who3} to be invited to the reading. | When is it? | On {day2} at {at1}.
A The invitation was sent.
"""
FIRST = words("Amara Bjorn Celeste Dmitri Elif Farid Greta Hiroshi Ines Jorge Katya Liam")
LAST = words(
    "Adeyemi Bergstrom Castellano Dragomir Eriksen Fontaine Grigorian Haddad Ivanova Jansen Kowalski Lind"
)
NOTES = [
    "call before noon",
    "handle with care",
    "paid in cash",
    "second reminder",
    "do not forward",
    "gate is locked",
]
MONTHS = words("January February March April May June July August September October November December")
ONES = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
ONES += ["seventeen", "eighteen", "nineteen"]
TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
OPENINGS = [
    "Hey,", "Good evening,", "Dear team,", "Sorry to bother you,", "Hi, hope you're well.", "Hello there!",
    "Quick one:", "If it isn't too much trouble:", "Good day to you.",
]  # fmt: skip
LINKS = [
    "Lovely.", "Wow, that was quick!", "Sure thing.", "Cheers.", "Hmm, okay.", "Brilliant, much appreciated.", "Ta!",
    "All right then.", "That's a relief.", "Fair enough.", "Splendid, thank you ever so much.", "",
]  # fmt: skip
NEXT = [
    "Now,",
    "What's left:",
    "While I have you:",
    "Oh, and",
    "Moving on:",
    "I nearly forgot:",
    "Lastly for today:",
    "",
]
OFFERS = [
    "What else can I do?",
    "Anything further?",
    "Is there something more you need?",
    "How else may I help?",
    "",
]
MORE = [
    "There'll be {many} of us, mind you.", "My cousin {who} put me on to you.", "It's for my neighbour, {who}.",
    "Last time I was charged {sum}.", "You have my reference, {code}.", "It was agreed on {day} with your office.",
    "Could you do it by {at} at the latest?", "A friend got {pct} off, I'd like the same.", "Copy in {mail}, too.",
    "Put {note} on it as well.", "I'm in room {many}.", "You'll find me in building {code}.", "It's {who}'s birthday.",
    "Make sure it's there by Wednesday.", "I had {many} of them last year.", "We moved here from Lisbon.",
]  # fmt: skip
"""What a user makes up."""
ENDS = [
    "That's me sorted, have a good one!", "Nope, all good. Take care!", "Nothing further, much obliged.",
    "You've been a star. Bye for now.", "No, we're done here. Cheers!",
]  # fmt: skip


def in_words(number: int) -> str:
    """A number below a hundred, spelt out."""
    if number < 20:
        return ONES[number]
    tens, rest = divmod(number, 10)
    return TENS[tens - 2] + (f"-{ONES[rest]}" if rest else "")


def nth(number: int) -> str:
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def nth_in_words(number: int) -> str:
    irregular = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
                 "twelve": "twelfth"}  # fmt: skip
    head, dash, last = in_words(number).rpartition("-")
    last = irregular.get(last, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return f"{head}{dash}{last}"


# What stands in braces: what is drawn, and the forms of a task and of a user


def _who(first: str, last: str) -> Forms:
    full = f"{first} {last}"
    return [full], [
        *[full] * 4,
        f"Mr {last}",
        f"Ms. {last}",
        first,
        f"{last}, {first}",
        full.lower(),
        f"{first[0]}. {last}",
    ]


def _day(day: int, month: int) -> Forms:
    name = MONTHS[month - 1]
    task = [f"2025-{month:02}-{day:02}", f"{day} {name} 2025", f"{name} {day}, 2025"]
    user = [
        f"{name} {nth(day)}", f"the {nth(day)} of {name}", f"{day}/{month}/2025", f"{day:02}.{month:02}.2025",
        f"{name[:3]} {day}", f"the {nth_in_words(day)} of {name}", f"{day}-{name[:3]}-2025", f"{month}/{day}/25",
        f"{name} the {nth_in_words(day)}", f"{day} {name}",
    ]  # fmt: skip
    return task, user


def _number(number: int) -> Forms:
    both = [str(number), in_words(number)]
    return both, [*both, in_words(number), *(["a dozen"] if number == 12 else [])]


def _sum(cents: int) -> Forms:
    whole, rest = divmod(cents, 100)
    exact = f"{whole:,}.{rest:02}"
    plain = f"{whole}.{rest:02}" if rest else str(whole)
    user = [f"{plain} euros", f"€{exact}", f"EUR {plain}", f"{exact} euro", f"{plain} €"]
    return [f"{exact} EUR", f"EUR {exact}"], user + (
        [f"{in_words(whole)} euros"] if not rest and whole < 100 else []
    )


def _pct(number: int) -> Forms:
    return [f"{number}%", f"{number} percent"], [
        f"{number} per cent",
        f"{in_words(number)} percent",
        f"{number} %",
    ]


def _at(hour: int, minute: int) -> Forms:
    half, twelve = "pm" if hour > 11 else "am", (hour - 1) % 12 + 1
    now, then = in_words(twelve), in_words(twelve % 12 + 1)
    spoken = {
        0: f"{now} o'clock",
        15: f"quarter past {now}",
        30: f"half past {now}",
        45: f"quarter to {then}",
    }[minute]
    short = f"{twelve} {half}" if not minute else f"{twelve}:{minute:02} {half}"
    return [f"{hour:02}:{minute:02}"], [
        short,
        short.replace("m", ".m."),
        f"{hour}.{minute:02}",
        spoken,
        f"{hour}:{minute:02}",
    ]


def _code(letters: str, number: int) -> Forms:
    code = f"{letters}-{number}"
    return [code], [
        *[code] * 4,
        code.lower(),
        f"{letters} {number}",
        f"{letters}{number}",
        f"number {number}",
        f"#{number}",
    ]


def _note(text: str) -> Forms:
    return [f'"{text}"'], [f"“{text}”", f"'{text}'", f"«{text}»", text, f'"{text}"']


def _mail(first: str, last: str) -> Forms:
    mail = f"{first}.{last}@post.example".lower()
    return [mail], [mail, mail.title().replace("Post.Example", "post.example")]


def drawn(kind: str, rng: Rng) -> Forms:
    """The forms of something new of a kind, in a task and of a user."""

    def pick(low: int, high: int) -> int:
        return int(rng.integers(low, high))

    first, last = str(rng.choice(FIRST)), str(rng.choice(LAST))
    made: dict[str, Callable[[], Forms]] = {
        "who": lambda: _who(first, last), "mail": lambda: _mail(first, last),
        "day": lambda: _day(pick(1, 29), pick(1, 13)), "n": lambda: _number(pick(2, 13)),
        "many": lambda: _number(pick(13, 100)), "sum": lambda: _sum(pick(20, 4000) * 100 + 90 * pick(0, 2)),
        "pct": lambda: _pct(5 * pick(1, 10)), "at": lambda: _at(pick(7, 22), 15 * pick(0, 4)),
        "code": lambda: _code("".join(rng.choice(list("BCDFGKLMPRS"), pick(1, 4))), pick(100, 9000)),
        "note": lambda: _note(str(rng.choice(NOTES))),
    }  # fmt: skip
    return made[kind]()


def kind_of(slot: str) -> str:
    return slot.rstrip("0123456789")


@dataclass(frozen=True)
class Errand:
    """A wish, with what was drawn for it: as the task has it, as users say it, and what is answered."""

    task: str
    user: tuple[str, ...]
    answer: str

    def slots(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.task)


def desks() -> list[list[Errand]]:
    """The errands of each desk."""
    made = []
    for block in DESKS.strip().split("\n\n"):
        errands = re.findall(r"T (.+)\n((?:U .+\n)+)A (.+)", block)
        made.append(
            [Errand(task, tuple(re.findall(r"U (.+)", ways)), answer) for task, ways, answer in errands]
        )
    return made


def filled(text: str, forms: dict[str, Forms], user: bool, rng: Rng) -> str:
    """A text with everything in braces in one of its forms; it begins with a capital."""
    text = re.sub(r"{(\w+)}", lambda slot: str(rng.choice(forms[slot[1]][user])), text)
    return text[:1].upper() + text[1:]
