"""A cron expression as people choose it, and back."""

from __future__ import annotations

import re
from datetime import time
from typing import TYPE_CHECKING, Any

from croniter import croniter
from django.db import models
from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ingest.schedules.times import BY_NAME
from linker.matching.changes_since import WHOLE_SITE_EVERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.models import Schedule

MOST_TIMES = 4  # of a day that are named
PLAIN = re.compile(r"(\d+) (\d+) \* \* (\*|[0-6])")


class Rhythm(models.TextChoices):
    OFF = "off", gettext_lazy("Not by itself")
    DAILY = "daily", gettext_lazy("Daily")
    WEEKLY = "weekly", gettext_lazy("Weekly")
    CRON = "cron", gettext_lazy("By a cron expression")


def rhythm_of(schedule: Schedule | None) -> dict[str, Any]:
    """What the form shows of a schedule: `rhythm`, `time`, `weekday` (0 is Sunday) and `cron`."""
    cron = schedule.cron if schedule is not None else BY_NAME["daily"]
    plain = PLAIN.fullmatch(cron)
    shown: dict[str, Any] = {"rhythm": Rhythm.CRON, "time": time(3), "weekday": 1, "cron": cron}
    if plain:
        minute, hour, weekday = plain.groups()
        shown |= {"rhythm": Rhythm.DAILY, "time": time(int(hour), int(minute)), "cron": ""}
        if weekday != "*":
            shown |= {"rhythm": Rhythm.WEEKLY, "weekday": int(weekday)}
    if schedule is None or not schedule.enabled:
        shown["rhythm"] = Rhythm.OFF
    return shown


def cron_of(chosen: Mapping[str, Any], schedule: Schedule | None) -> str:
    """The expression for what was chosen in the form; for a schedule that is switched off, the one that it had."""
    if chosen["rhythm"] == Rhythm.OFF:
        return schedule.cron if schedule is not None else BY_NAME["daily"]
    if chosen["rhythm"] == Rhythm.CRON:
        return str(chosen.get("cron") or "")
    at, day = chosen["time"], chosen["weekday"] if chosen["rhythm"] == Rhythm.WEEKLY else "*"
    return f"{at.minute} {at.hour} * * {day}"


def said(schedule: Schedule) -> tuple[str, bool]:
    """When a schedule comes, in words, and whether its expression says more than they do."""
    words = in_words(schedule.cron)
    return words or str(Rhythm.CRON.label), PLAIN.fullmatch(schedule.cron) is None


def matched(schedule: Schedule) -> str:
    """What a scheduled match goes over; empty for a source's schedule."""
    if schedule.source_id is not None:
        return ""
    if schedule.whole_site:
        return _("The whole site each time")
    return _("What has changed; the whole site where too much has, and every %(days)d days") % {
        "days": WHOLE_SITE_EVERY.days
    }


def in_words(cron: str) -> str:
    """“Every Monday at 03:00”; empty for an expression that no short sentence says."""
    [minutes, hours, days, months, weekdays], nth = croniter.expand(cron)
    plain = [part for part in (days, weekdays) if part != ["*"]]
    if nth or len(plain) > 1 or not all(isinstance(n, int) for part in plain for n in part):
        return ""
    if hours == ["*"]:
        return "" if plain or months != ["*"] else _("Every hour at minute %(minute)02d") % {"minute": minutes[0]}
    if len(hours) > MOST_TIMES:
        return ""
    about = {
        "times": ", ".join(f"{hour:02d}:{minutes[0]:02d}" for hour in hours),
        "months": ", ".join(str(MONTHS[month]) for month in months if month != "*"),
        "days": ", ".join(map(str, days)),
    }
    if days != ["*"]:
        if about["months"]:
            return _("On day %(days)s of %(months)s at %(times)s") % about
        return _("Each month on day %(days)s at %(times)s") % about
    if weekdays != ["*"]:
        ordered = sorted(weekdays, key=lambda number: (number - 1) % 7)
        about["days"] = ", ".join(str(WEEKDAYS[(number - 1) % 7]) for number in ordered)
        said = _("Every %(days)s at %(times)s") % about
    else:
        said = _("Every day at %(times)s") % about
    return _("%(said)s, in %(months)s") % {"said": said, "months": about["months"]} if about["months"] else said
