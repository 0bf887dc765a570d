"""When a schedule comes: a cron expression, read in a time zone.

The expression is read on the clock on the wall. Where that clock is put forward over a time of the expression, it
comes when the clock goes on; a time that the clock shows twice comes the first time alone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, croniter
from django.utils.translation import gettext as _

from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LENGTH = 100
LONGEST_SHIFT = timedelta(hours=25)  # by which a zone has put its clocks forward: Samoa has left out a day
_FIELD = r"(?:[0-9*/,#-]|[A-Za-z]{3}|[Ll])+"  # not R and H, which croniter has for a time that is drawn by lot
FIELDS = re.compile(rf"{_FIELD}(?: {_FIELD}){{4}}")
_RANGE = re.compile(r"\b(\d+)-(\d+)\b")
BY_NAME = {"daily": "0 3 * * *", "weekly": "0 3 * * 1"}


def checked(text: str) -> str:
    """An expression as it is stored: five fields; `daily` and `weekly` are at 3 o'clock. Raises UserError for one that
    means nothing, comes more often than once an hour, or never."""
    cron = " ".join(text.split())
    cron = BY_NAME.get(cron.lower(), cron)
    if len(cron) > MAX_LENGTH or not FIELDS.fullmatch(cron):
        raise UserError(
            _(
                "“%(cron)s” is no cron expression. It has five fields: minute, hour, day of the month, month and day "
                "of the week, such as 30 2 * * 1 for Mondays at 2:30."
            )
            % {"cron": text[:MAX_LENGTH]}
        )
    [_minute, _hour, day, month, _weekday] = cron.split()
    if "0" in re.split(r"[-,]", f"{_without_steps(day)},{_without_steps(month)}"):
        raise UserError(_("“%(cron)s” is no cron expression: days and months are counted from 1.") % {"cron": cron})
    if any(int(first) > int(last) for first, last in _RANGE.findall(" ".join(cron.split()[:4]))):
        said = _("“%(cron)s” is no cron expression: a range goes from the lower number to the higher one.")
        raise UserError(said % {"cron": cron})
    try:
        [minutes, *_others] = croniter.expand(cron)[0]
    except ValueError:
        said = _("“%(cron)s” is no cron expression: one of its numbers or names is none that its field can have.")
        raise UserError(said % {"cron": cron}) from None
    if len(minutes) != 1 or minutes == ["*"]:
        raise UserError(
            _("“%(cron)s” comes more than once an hour. Write one number for the minute, such as 0.") % {"cron": cron}
        )
    next_time(cron, "UTC", datetime.now(UTC))
    return cron


def _without_steps(field: str) -> str:
    return re.sub(r"/\d+", "", field)


def next_time(cron: str, zone: str, after: datetime) -> datetime:
    """The first time of the expression after a moment, in UTC. Raises UserError where there is none in fifty years."""
    for wall in _wall_times(cron, after.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - LONGEST_SHIFT):
        moment = _moment(wall, ZoneInfo(zone))
        if moment > after:
            return moment
    raise UserError(_("“%(cron)s” never comes: no such day is in the calendar.") % {"cron": cron})


def _wall_times(cron: str, after: datetime) -> Iterator[datetime]:
    times = croniter(cron, after)
    while True:
        try:
            yield times.get_next(datetime)
        except CroniterBadDateError:
            return


def _moment(wall: datetime, zone: ZoneInfo) -> datetime:
    """When a clock in the zone shows a time first, or when it goes on after having left that time out."""
    moment = wall.replace(tzinfo=zone).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == wall:
        return moment
    # The clock was put forward between these two.
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after, offset = moment, moment.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
