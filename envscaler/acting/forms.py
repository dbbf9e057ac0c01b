"""The same fact in other forms: numbers in words, times by the clock, months and dates, codes; for `user_faults`.

A user who writes "the twenty-seventh of March, half past nine" for `2025-03-27 09:30` has invented nothing, and has
told it. Forms are English, as the prompts are. Nothing is judged here.
"""

import re
from dataclasses import dataclass
from typing import Self

_ONES = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)
_NTHS = re.findall(
    r"\w+",
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth",
)
_STEMS = re.findall(r"\w+", "twen thir for fif six seven eigh nine")
_TENS = {f"{stem}ty": 10 * n for n, stem in enumerate(_STEMS, start=2)}
_SMALL = {word: n for words in (_ONES, _NTHS) for n, word in enumerate(words)} | {"dozen": 12}
_DIGIT = "|".join([*_ONES[1:10], *_NTHS[1:10]])
_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<one>{_DIGIT}))?|(?P<nth>{'|'.join(t[:-1] for t in _TENS)})ieth"
    rf"|(?P<small>{'|'.join(_SMALL)}))\b",
    re.IGNORECASE,
)
_MANY = re.compile(r"\b(?:(\d+)|an?) (hundred|thousand)(?:(?: and)? (\d+)\b)?", re.IGNORECASE)
LARGE = re.compile(
    rf"\b(?:(?:(?:an?|{'|'.join(_ONES)}) )?(?:hundreds?|thousands?)(?:(?: and)? (?:(?:{'|'.join(_TENS)})"
    rf"(?:-(?:{_DIGIT}))?|{'|'.join(_ONES)})\b)?|\w{{3,5}}teen(?:th)?|(?:{'|'.join(_STEMS)})t(?:y|ieth)(?:-\w+)?)\b",
    re.IGNORECASE,
)
"""Numbers in words that nobody uses to count their own wishes."""
PERCENT = re.compile(
    rf"(?<!\w)(?:\d+(?:\.\d+)?|{'|'.join(_SMALL)}|(?:{'|'.join(_TENS)})(?:[- ](?:{_DIGIT}))?) ?(?:%|per ?cent\b)",
    re.IGNORECASE,
)
_HOUR = rf"(\d{{1,2}}|{'|'.join(_ONES[1:13])})"
_CLOCK = re.compile(
    rf"\b(?:(half|quarter) (past|to) {_HOUR}|{_HOUR} o['’]clock|(\d{{1,2}})(?:[:.](\d\d))? ?([ap])\.?m)\b",
    re.IGNORECASE,
)
_MONTHS = re.findall(
    r"\w+", "january february march april may june july august september october november december"
)
MONTH = {name[:length]: n for n, name in enumerate(_MONTHS, start=1) for length in (3, len(name))}
"""A month's name or its first three letters → its number."""
_YEARS = range(1900, 2100)


def clocked(text: str) -> str:
    """The text with times in digits: `half past nine` is 9:30, `2 pm` is 14:00."""
    return _CLOCK.sub(_time, text)


def _time(found: re.Match[str]) -> str:
    part, way, hour, sharp, number, minutes, half = found.groups()
    if part:
        past = {"half": 30, "quarter": 15}[part.lower()]
        at = 60 * int(digits(hour)) + (past if way.lower() == "past" else -past)
    else:
        at = 60 * int(digits(sharp or number)) + int(minutes or 0)
        if half:
            at = at % 720 + (720 if half.lower() == "p" else 0)
    return f"{at // 60 % 24}:{at % 60:02}"


def digits(text: str) -> str:
    """The text with numbers in digits: `twenty-seventh` is 27, `two hundred` is 200."""
    return _MANY.sub(_large, _WORDS.sub(_number, text))


def _number(found: re.Match[str]) -> str:
    if found["small"]:
        return str(_SMALL[found["small"].lower()])
    tens = _TENS[(found["tens"] or f"{found['nth']}y").lower()]
    return str(tens + _SMALL.get((found["one"] or "").lower(), 0))


def _large(found: re.Match[str]) -> str:
    return str(int(found[1] or 1) * {"hundred": 100, "thousand": 1000}[found[2].lower()] + int(found[3] or 0))


def numbers(text: str) -> set[float]:
    """The numbers in a text, thousands with a comma or without."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return {float(number) for number in re.findall(r"\d+(?:\.\d+)?", plain)}


def parts(text: str) -> set[float]:
    """The numbers a date, a time or a telephone number is made of."""
    return {float(part) for part in re.findall(r"\d+", text)}


def squeezed(text: str) -> str:
    """The text in small letters, with one space where there is any."""
    return " ".join(text.casefold().split())


def stem(word: str) -> str:
    """A word without its ending."""
    return re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 4 and word.isalpha() else word


@dataclass(frozen=True)
class Heard:
    """What was said, to look facts up in."""

    text: str
    words: frozenset[str]
    """Stems."""
    numbers: frozenset[float]
    """All that a number of it may be written as; of times the hours."""
    minutes: frozenset[float]
    """Of times; thirty of something are no half past nine."""
    percents: frozenset[float]
    codes: str
    """The text with what parts the letters of a code from its digits left out."""

    @classmethod
    def of(cls, said: str) -> Self:
        """What can be looked up in a text."""
        text = squeezed(said)
        words = re.findall(r"\w+", text)
        plain = digits(clocked(text))
        times = re.findall(r"\b(\d{1,2})[:.h](\d\d)\b", plain)
        hours = {int(hour) for hour, _ in times}
        plain = re.sub(r"\b\d{1,2}[:h]\d\d\b", " ", plain)
        found = numbers(plain) | parts(plain) | {float(MONTH[word]) for word in words if word in MONTH}
        found |= {number % 100 for number in found if number in _YEARS}
        found |= {float(other) for hour in hours for other in (hour, hour + 12 if hour < 12 else hour - 12)}
        return cls(
            text=text,
            words=frozenset(map(stem, words)),
            numbers=frozenset(found),
            minutes=frozenset(float(minutes) for _, minutes in times),
            percents=frozenset(numbers(digits(" ".join(PERCENT.findall(text))))),
            codes=_joined(text),
        )

    def knows(self, fact: str, *, loosely: bool = False) -> bool:
        """Whether the text has a fact; another way to write a number, a date, a code or a name does not make it new.

        Args:
            fact: as `facts` finds it.
            loosely: whether a date may go without its year, and a code without its letters.
        """
        wanted = squeezed(fact).strip(" .,!?")
        if re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", self.text):
            return True
        if "@" in wanted or "://" in wanted:
            return False
        if wanted in MONTH:
            return float(MONTH[wanted]) in self.numbers
        plain = digits(clocked(wanted))
        if PERCENT.fullmatch(wanted):
            return numbers(plain) <= self.percents
        if not any(sign.isdigit() for sign in plain):
            return all(stem(word) in self.words for word in re.findall(r"\w+", wanted))
        plain = re.sub(r"[^\W\d_]+", lambda word: str(MONTH.get(word[0], word[0])), plain)
        if re.search(r"[^\W\d_]{3,}|[^\W\d_].*\d", plain):
            return self._knows_code(plain, loosely)
        known = self.numbers | self.minutes if re.fullmatch(r"\d+[:.h]\d\d", plain) else self.numbers
        for wanted_numbers in (numbers(plain), parts(plain)):
            needed = {n for n in wanted_numbers if n and n not in _YEARS} if loosely else wanted_numbers
            if (needed or wanted_numbers) <= known:
                return True
        return False

    def _knows_code(self, code: str, loosely: bool) -> bool:
        if re.search(rf"(?<!\w){re.escape(_joined(code))}(?!\w)", self.codes):
            return True
        number = re.findall(r"\d{3,}", code) if loosely else []
        return len(number) == 1 and bool(re.search(rf"(?<!\w){number[0]}(?!\w)", self.text))


def _joined(text: str) -> str:
    return re.sub(r"(?<=[^\W\d_])[-_/. ](?=\d)", "", text)
