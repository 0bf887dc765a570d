"""A cron expression as people choose it, and back."""

from __future__ import annotations

import re
from datetime import time
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from ingest.schedules.times import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.models import Schedule

PLAIN = re.compile(r"(\d+) (\d+) \* \* (\*|[0-6])")


class Rhythm(models.TextChoices):
    OFF = "off", _("Not by itself")
    DAILY = "daily", _("Daily")
    WEEKLY = "weekly", _("Weekly")
    CRON = "cron", _("By a cron expression")


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
    at = chosen.get("time") or time(3)
    weekday = chosen.get("weekday")
    day = "1" if weekday in ("", None) else str(weekday)
    return f"{at.minute} {at.hour} * * {day if chosen['rhythm'] == Rhythm.WEEKLY else '*'}"
