"""Typed access to the values of a decoded file: a value of another type counts as missing, so that
no reader fails on a file edited by hand, or from another version."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from headstart.core.strange_json import decoded

# latest plausible time in milliseconds, with 1970 as the earliest: 2100
_LATEST = 4_102_444_800_000
# seconds have fewer digits than milliseconds until the year 5138
_SECONDS = 100_000_000_000
# dates in English text, as programs write them; this computer's locale is of no use
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_CLOCK = (
    r"(?: at)?[ @]+(?P<hour>\d{1,2})[:h] ?(?P<minutes>\d\d)(?:[:m] ?(?P<seconds>\d\d)s?)?"
    r"(?:[ .]\d{1,3}(?:ms)?)? ?(?P<half>[AaPp][Mm])?(?: (?:UTC|GMT|Z).*)?"
)
_DATES = tuple(
    re.compile(date + _CLOCK)
    for date in (
        r"(?:[A-Za-z]{3,9} )?(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}) (?P<year>\d{4})",
        r"(?:[A-Za-z]{3,9} )?(?P<day>\d{1,2}) (?P<month>[A-Za-z]{3,9})\.? (?P<year>\d{4})",
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        # two digits each: the day comes first, as in most countries
        r"(?P<day>[0-3]\d)[/.](?P<month>[01]\d)[/.](?P<year>\d{4})",
        # otherwise the month, as in the US
        r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})",
        r"(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.](?P<year>\d{4})",
    )
)
_BEGINNING = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Fields:
    """An object of a file; an empty one in place of any other value."""

    def __init__(self, value: object) -> None:
        self.all: dict[str, Any] = value if isinstance(value, dict) else {}

    def __bool__(self) -> bool:
        return bool(self.all)

    def __contains__(self, key: str) -> bool:
        return key in self.all

    def text(self, *keys: str) -> str:
        """The first non-empty text among the keys."""
        for key in keys:
            value = self.all.get(key)
            if isinstance(value, str) and value:
                return value
        return ""

    def words(self, *keys: str) -> str:
        """The same with whitespace collapsed to one line: titles and names."""
        return " ".join(self.text(*keys).split())

    def id(self, *keys: str) -> str:
        """Text, or a number as text."""
        for key in keys:
            value = self.all.get(key)
            if isinstance(value, str) and value:
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
        return ""

    def flag(self, key: str) -> bool:
        return self.all.get(key) is True

    def number(self, key: str) -> float | None:
        value = self.all.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if abs(value) < 1e300 and math.isfinite(value) else None

    def whole(self, key: str) -> int | None:
        value = self.number(key)
        return None if value is None or not fits(int(value)) else int(value)

    def time(self, *keys: str) -> int:
        """Milliseconds, from seconds, milliseconds, or a date. 0: unknown."""
        for key in keys:
            found = time_of(self.all.get(key))
            if found:
                return found
        return 0

    def inside(self, key: str) -> Fields:
        return Fields(self.all.get(key))

    def list(self, key: str) -> list[Any]:
        value = self.all.get(key)
        return value if isinstance(value, list) else []

    def each(self, key: str) -> Iterator[Fields]:
        """The objects in a list."""
        for value in self.list(key):
            if isinstance(value, dict):
                yield Fields(value)

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(value for value in self.list(key) if isinstance(value, str) and value)


def time_of(value: object) -> int:
    """Milliseconds since 1970, or 0 for an invalid time."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        if not 0 < value < _LATEST * 1000 or not math.isfinite(value):
            return 0
        found = int(value * 1000) if value < _SECONDS else int(value)
    elif isinstance(value, dict):
        # MongoDB's form
        inner = value.get("$date", value.get("$numberLong"))
        return 0 if inner is None else time_of(inner)
    elif isinstance(value, str) and value:
        if value.isascii() and value.isdigit() and len(value) < 16:
            return time_of(int(value))
        try:
            moment = _moment(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=dt.UTC)
            # integer arithmetic: a float cannot hold microseconds since 1970
            found = (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(
                milliseconds=1
            )
        except (ValueError, OverflowError):
            return 0
    else:
        return 0
    return found if 0 < found < _LATEST else 0


def _moment(text: str) -> dt.datetime:
    """A date in ISO 8601 or in English. Raises ValueError."""
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        pass
    plain = " ".join(text.replace(",", " ").split())
    for form in _DATES:
        found = form.fullmatch(plain)
        if found is None:
            continue
        name = found["month"][:3].casefold()
        month = int(name) if name.isdecimal() else _MONTHS.index(name) + 1
        hour, half = int(found["hour"]), (found["half"] or "").casefold()
        if half:
            hour = hour % 12 + (12 if half == "pm" else 0)
        try:
            return dt.datetime(
                int(found["year"]), month, int(found["day"]), hour, int(found["minutes"]),
                int(found["seconds"] or 0),
            )  # fmt: skip
        except ValueError:
            # a thirteenth month: try the other order
            continue
    raise ValueError(text)


def time_text(moment: int) -> str:
    """ISO 8601, in UTC, to the millisecond; "" for an unknown time."""
    if moment <= 0:
        return ""
    whole = _BEGINNING + dt.timedelta(milliseconds=moment)
    return whole.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def decode(data: bytes | memoryview | msgspec.Raw) -> Any:
    """JSON as builtins; raises ValueError if it is invalid or nests too deep."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    except RecursionError as error:
        raise ValueError("too deep") from error
    # half of a surrogate pair, NaN, thousands of digits
    return _clean(decoded(data))


def _clean(value: Any) -> Any:
    """Replace lone surrogates, so that texts can be encoded again."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return value


def as_object(value: object) -> dict[str, Any]:
    """An object, given as such or as JSON; an empty one in place of anything else."""
    if isinstance(value, str) and value:
        try:
            value = decode(value.encode())
        except ValueError:
            return {}
    return dict(value) if isinstance(value, dict) else {}


def one_of(kind: Any, value: object, fallback: Any) -> Any:
    """A member of an enumeration by its value."""
    try:
        return kind(value)
    except ValueError:
        return fallback


def fits(value: object) -> bool:
    """True if every integer fits a database column: foreign files hold larger ones."""
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    if isinstance(value, dict):
        return all(map(fits, value.values()))
    return all(map(fits, value)) if isinstance(value, list) else True


def compact(value: object) -> str:
    """A value as JSON in one line; "" for an empty object."""
    return msgspec.json.encode(value).decode() if value else ""
