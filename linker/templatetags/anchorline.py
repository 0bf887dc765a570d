"""Small filters for the project's pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils import timezone

from linker.models import RunKind

if TYPE_CHECKING:
    from typing import Any

    from linker.models import Project, Run

register = template.Library()


@register.filter
def lookup(values: dict[str, Any], key: str) -> Any:
    """`values[key]`, or None where there is no such key."""
    return values.get(key)


@register.filter
def on_site(url: str, project: Project) -> str:
    """The address without the start that every address of the project shares."""
    short = url.removeprefix(project.base_url)
    return short if short.startswith("/") else url


@register.filter
def kind_label(kind: str) -> str:
    """The words for a run's kind, where the run itself is not at hand."""
    return str(RunKind(kind).label)


@register.filter
def duration(run: Run) -> str:
    """How long a run has worked so far, or worked in all; empty while it waits."""
    if run.started_at is None:
        return ""
    seconds = int(((run.finished_at or timezone.now()) - run.started_at).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
