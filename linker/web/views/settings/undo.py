"""Taking back the last change of a tab: a form that sends what was there before, to the address that takes it. Like the
forms that hold all values of a tab, it also sends what the tab's newest change was when it was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linker.models import Change, ChangeKind, Run, RunStatus

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from linker.models import Project

Fields = Sequence[tuple[str, str]]
KINDS = {
    "settings": (ChangeKind.SETTINGS,),
    "settings_tiers": (ChangeKind.TIERS,),
    "settings_ranking": (ChangeKind.RANKING,),
    "settings_sensitive": (ChangeKind.SENSITIVE,),
    "settings_exclusions": (ChangeKind.EXCLUSIONS,),
    "settings_safety": (ChangeKind.SAFETY, ChangeKind.GATES),
    "settings_links": (ChangeKind.LINKS,),
    "settings_caps": (ChangeKind.CAPS,),
    "settings_rollout": (ChangeKind.RELEASE,),
    "sources": (ChangeKind.SOURCES,),
}

# Where a kind of change is not of one tab alone: how the log's subjects of the tab begin.
SUBJECTS = {"settings_rollout": "Roll-out: "}


@dataclass(frozen=True)
class Undo:
    """A form: where it is sent, and its fields."""

    action: str
    fields: Fields


def offer_undo(
    request: HttpRequest,
    project: Project,
    tab: str,
    action: str,
    fields: Sequence[tuple[str, str]],
    run: Run | None = None,
) -> None:
    """Offers the tab's last change to be undone, until somebody makes another. What was sent twice has changed nothing
    the second time: the first offer holds. `run`: what makes the change, of which nothing stands in the log yet."""
    newest, known = _newest(project, tab), request.session.get(_key(project, tab))
    if run is None and known is not None and known["change"] == newest:
        return
    offer = {"change": newest, "action": action, "fields": [list(field) for field in fields]}
    request.session[_key(project, tab)] = offer | ({"run": run.pk} if run is not None else {})


def offered_undo(request: HttpRequest, project: Project, tab: str) -> Undo | None:
    """What was offered in this session, where nothing was changed since."""
    known = request.session.get(_key(project, tab))
    if tab not in KINDS or known is None or not _is_newest(project, tab, known):
        return None
    return Undo(known["action"], [(name, value) for name, value in known["fields"]])


def _is_newest(project: Project, tab: str, known: Mapping[str, Any]) -> bool:
    """Whether the change that an offer is about is the tab's newest: by a run, the one change since it was started."""
    if "run" not in known:
        return known["change"] == _newest(project, tab)
    is_made = Run.objects.filter(pk=known["run"], status=RunStatus.SUCCEEDED).exists()
    return is_made and _changes(project, tab, None).filter(pk__gt=known["change"] or 0)[:2].count() == 1


def seen(project: Project, tab: str, subject: str | None = None) -> str:
    """What a form of the tab sends as `seen`: the tab and its newest change. Empty for a tab without. `subject`: of
    several things that a tab has, the one that the form holds, as the log calls it now."""
    return f"{tab}:{_newest(project, tab, subject) or 0}" if tab in KINDS else ""


def changed_since(project: Project, seen: str, subject: str | None = None) -> Change | None:
    """The newest change of a tab, or of a thing in it, where a form of it was shown before it was made."""
    tab, _colon, number = seen.partition(":")
    if tab not in KINDS or number == str(_newest(project, tab, subject) or 0):
        return None
    return _changes(project, tab, subject).select_related("user").first()


def _key(project: Project, tab: str) -> str:
    return f"undo-{tab}-{project.pk}"


def _newest(project: Project, tab: str, subject: str | None = None) -> int | None:
    return _changes(project, tab, subject).values_list("pk", flat=True).first()


def _changes(project: Project, tab: str, subject: str | None) -> QuerySet[Change]:
    """The newest first."""
    changes = Change.objects.filter(project=project, kind__in=KINDS[tab]).order_by("-pk")
    if tab in SUBJECTS:
        changes = changes.filter(subject__startswith=SUBJECTS[tab])
    return changes if subject is None else changes.filter(subject=subject)
