"""Writes: safety classes, and the pairs of them that may never be linked.

Each change starts a run that brings the queue in line (linker.matching.safety_run). Nothing is deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import BarredPair, ChangeKind, Gate, Project, RunKind, SafetyClass
from linker.pages.safety import barred_pairs
from linker.projects.policies.shared import wait_for_others
from linker.runs.due import start_unless_active

if TYPE_CHECKING:
    from linker.projects.policies.shared import Actor

CLASS_FIELDS = ("name", "category", "url_pattern", "page_list", "disclaimer")
MOST_CLASSES, MOST_PAIRS = 50, 200


def classes_in_use(project: Project) -> list[SafetyClass]:
    """The project's classes, by name."""
    found = SafetyClass.objects.filter(project=project, ended_at=None).select_related("category", "page_list")
    return list(found.defer("page_list__pages").order_by("name"))


@transaction.atomic
def save_class(one: SafetyClass, user: Actor) -> None:
    """Saves a new class, or a changed one. Raises UserError where another has its name, or there are too many."""
    project = one.project
    wait_for_others(project)
    others = SafetyClass.objects.filter(project=project, ended_at=None).exclude(pk=one.pk)
    if others.filter(name=one.name).exists():
        raise UserError(_("There is a class named “%(name)s” already. Choose another name.") % {"name": one.name})
    if others.count() >= MOST_CLASSES:
        raise UserError(_("A project has at most %(most)d classes. Remove one first.") % {"most": MOST_CLASSES})
    before = audit.values(SafetyClass.objects.get(pk=one.pk), CLASS_FIELDS) if one.pk else {}
    one.save()
    after = audit.values(one, CLASS_FIELDS)
    audit.record(project, ChangeKind.SAFETY, user=user, subject=one.name, before=before, after=after)
    if barred_pairs(project) or Gate.objects.filter(safety_class=one, ended_at=None).exists():
        start_unless_active(project, RunKind.SAFETY, user)


@transaction.atomic
def end_class(project: Project, class_id: int, user: Actor) -> SafetyClass | None:
    """None where it is gone already. Raises UserError while a pair or a gate names it."""
    wait_for_others(project)
    one = SafetyClass.objects.filter(project=project, pk=class_id, ended_at=None).first()
    if one is None:
        return None
    pairs = BarredPair.objects.filter(Q(source=one) | Q(target=one), ended_at=None)
    if pairs.exists():
        raise UserError(
            _("“%(name)s” is part of a pair that may not be linked. Remove the pair first.") % {"name": one.name}
        )
    if Gate.objects.filter(safety_class=one, ended_at=None).exists():
        said = _("Links of “%(name)s” need a second person. Remove that rule under “Second person” first.")
        raise UserError(said % {"name": one.name})
    one.ended_at = timezone.now()
    one.save(update_fields=["ended_at"])
    audit.record(project, ChangeKind.SAFETY, user=user, subject=one.name, before=audit.values(one, CLASS_FIELDS))
    return one


@transaction.atomic
def bar_pair(pair: BarredPair, user: Actor) -> None:
    """Saves a new pair. Raises UserError where the project has it already, or too many."""
    project = pair.project
    wait_for_others(project)
    if BarredPair.objects.filter(project=project, ended_at=None).count() >= MOST_PAIRS:
        raise UserError(_("A project has at most %(most)d such pairs. Remove one first.") % {"most": MOST_PAIRS})
    try:
        with transaction.atomic():
            pair.made_by_id = user.pk if user is not None else None
            pair.save()
    except IntegrityError:
        raise UserError(_("This pair is in the list already. Remove it there to change it.")) from None
    audit.record(project, ChangeKind.SAFETY, user=user, subject=str(pair), after=_said_of(pair))
    start_unless_active(project, RunKind.SAFETY, user)


@transaction.atomic
def allow_pair(project: Project, pair_id: int, user: Actor) -> BarredPair | None:
    """The pair may be linked again; None where it might already."""
    wait_for_others(project)
    found = BarredPair.objects.filter(project=project, pk=pair_id, ended_at=None).select_related("source", "target")
    pair = found.first()
    if pair is None:
        return None
    pair.ended_at = timezone.now()
    pair.save(update_fields=["ended_at"])
    audit.record(project, ChangeKind.SAFETY, user=user, subject=str(pair), before=_said_of(pair))
    start_unless_active(project, RunKind.SAFETY, user)
    return pair


def _said_of(pair: BarredPair) -> dict[str, str]:
    between = f"between {pair.source} and {pair.target}" if pair.either else f"from {pair.source} to {pair.target}"
    return {"links": between, "reason": pair.reason}
