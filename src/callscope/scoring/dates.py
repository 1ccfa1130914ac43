"""Which strings state the same date or instant, read only where the format leaves no doubt.

Not a parser of dates in general, and no clock or zone table: what could be read in two ways states nothing here, and
is compared as text. Used for arguments that a case declares `temporal`, and, in ISO forms only, for those whose schema
has a date's `format` (docs/decisions/0014 and 0019).

| the text                                                         | states                        |
|------------------------------------------------------------------|-------------------------------|
| `2026-03-01`, `20260301`                                         | a date                        |
| `March 1, 2026`, `Mar 1st 2026`, `1 March 2026` (English months) | a date                        |
| `2026-03-01T09:00[:00[.000]]`, `t` or a space for `T`            | a wall time, in no zone       |
| the same with `Z`, `z`, `+01:00`                                 | an instant                    |
| `03/01/2026`, `1.3.26`, `9:00`, a leap second, an impossible day | nothing: it could be misread  |

Two strings state the same when both state a thing of one kind and it is equal: a date is no midnight, a wall time no
instant; but where the case's reference time has an offset, a wall time is the instant that clocks there show it.
Eight digits that are a date both this way and day-month-year would be of a year before 1300 the other way.

Sources: ISO 8601-1:2019 (5.2.2, 5.4.2); RFC 3339 section 5.6; scoring-faults 12 (probe q09).
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

__all__ = ["Times", "offset_of", "same_time"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = "(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = "(?P<year>[0-9]{4})"
_NUMERIC = re.compile(
    f"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})"
    "(?:[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,18}))?)?"
    "(?P<zone>[Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
    "|(?P<compact>[0-9]{8})"
)
_WORDED = (
    re.compile(f"{_NAMES} {_DAY},? {_YEAR}", re.IGNORECASE),
    re.compile(f"{_DAY} {_NAMES},? {_YEAR}", re.IGNORECASE),
)
_LONGEST = 64


class _Moment(NamedTuple):
    """What a text states: the kind, seconds since the calendar's first day (UTC for an instant), digits of a second."""

    kind: str
    seconds: int
    fraction: str


class Times(NamedTuple):
    """How the times of an argument are compared. `iso_only`: not in words, and not in eight digits; `offset`: seconds
    east of UTC of the case's reference time, None where it has none."""

    iso_only: bool = False
    offset: int | None = None


ANY_SPELLING = Times()


def same_time(left: str, right: str, times: Times = ANY_SPELLING) -> bool:
    """Whether both texts state the same date, wall time or instant in formats of the table. Never raises."""
    stated = _stated(left, times)
    return stated is not None and stated == _stated(right, times)


def offset_of(reference_time: str | None) -> int | None:
    """Seconds east of UTC of an ISO 8601 moment that states its zone; None for any other text, and for None."""
    found = _NUMERIC.fullmatch(reference_time or "")
    return _offset(found["zone"]) if found is not None and found["zone"] else None


def _stated(text: str, times: Times) -> _Moment | None:
    if len(text) > _LONGEST:
        return None
    found = _NUMERIC.fullmatch(text)
    if times.iso_only and (found is None or found["compact"] is not None):
        return None
    if found is None:
        for worded in _WORDED:
            named = worded.fullmatch(text)
            if named is not None:
                month = _MONTHS.index(named["name"][:3].lower()) + 1
                return _date(int(named["year"]), month, int(named["day"]))
        return None
    if found["compact"] is not None:
        digits = found["compact"]
        return _date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    day = _date(int(found["year"]), int(found["month"]), int(found["day"]))
    if day is None or found["hour"] is None:
        return day
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    offset = _offset(found["zone"])
    if hour > 23 or minute > 59 or second > 59 or offset is None:
        return None
    zoned = found["zone"] is not None
    if not zoned and times.offset is not None:
        zoned, offset = True, times.offset
    seconds = day.seconds + 3600 * hour + 60 * minute + second - offset
    return _Moment("instant" if zoned else "wall", seconds, (found["fraction"] or "").rstrip("0"))


def _date(year: int, month: int, day: int) -> _Moment | None:
    try:
        return _Moment("date", 86_400 * date(year, month, day).toordinal(), "")
    except ValueError:
        return None


def _offset(zone: str | None) -> int | None:
    """Seconds east of UTC, 0 for no zone; None for an offset that no clock has."""
    if zone is None or zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 23 or minutes > 59:
        return None
    return (3600 * hours + 60 * minutes) * (-1 if zone[0] == "-" else 1)
