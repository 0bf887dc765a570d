"""Writes: the caps on the links of sections. Each change starts a run that brings the queue in line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.matching.section_caps import CAPS
from linker.models import ChangeKind, Project, RunKind, SectionCap
from linker.projects.policies.shared import wait_for_others
from linker.runs.due import start_unless_active

if TYPE_CHECKING:
    from linker.projects.policies.shared import Actor

MOST_CAPS = 50


@transaction.atomic
def set_cap(cap: SectionCap, user: Actor) -> SectionCap | None:
    """Saves new caps of a section, in place of those that it had, which are returned. Raises UserError where there are
    too many."""
    project = cap.project
    wait_for_others(project)
    known = SectionCap.objects.filter(project=project, ended_at=None)
    former = known.filter(category=cap.category).first()
    if former is None and known.count() >= MOST_CAPS:
        raise UserError(_("At most %(most)d sections have caps. Remove those of one first.") % {"most": MOST_CAPS})
    if former is not None:
        _end(former)
    cap.made_by_id = user.pk if user is not None else None
    cap.save()
    audit.record(
        project,
        ChangeKind.CAPS,
        user=user,
        subject=str(cap),
        before=audit.values(former, CAPS) if former is not None else {},
        after=audit.values(cap, CAPS),
    )
    start_unless_active(project, RunKind.CAPS, user)
    return former


@transaction.atomic
def end_cap(project: Project, cap_id: int, user: Actor) -> SectionCap | None:
    """The section has no caps of its own any more; None where that is so already."""
    wait_for_others(project)
    found = SectionCap.objects.filter(project=project, pk=cap_id, ended_at=None).select_related("category")
    cap = found.first()
    if cap is None:
        return None
    _end(cap)
    audit.record(project, ChangeKind.CAPS, user=user, subject=str(cap), before=audit.values(cap, CAPS))
    start_unless_active(project, RunKind.CAPS, user)
    return cap


def _end(cap: SectionCap) -> None:
    cap.ended_at = timezone.now()
    cap.save(update_fields=["ended_at"])
