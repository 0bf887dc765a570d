"""Writes: addresses that neither give nor receive links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from linker import audit
from linker.models import ChangeKind, ExclusionRule, Project

if TYPE_CHECKING:
    from linker.projects.policies.shared import Actor


EXCLUSION_FIELDS = ("pattern", "side", "note")


@transaction.atomic
def add_exclusion(rule: ExclusionRule, user: Actor) -> None:
    """Saves a new rule, or a changed one. It applies from the next match run on."""
    before = audit.values(ExclusionRule.objects.get(pk=rule.pk), EXCLUSION_FIELDS) if rule.pk else {}
    rule.save()
    after = audit.values(rule, EXCLUSION_FIELDS)
    audit.record(rule.project, ChangeKind.EXCLUSIONS, user=user, subject=rule.pattern, before=before, after=after)


@transaction.atomic
def remove_exclusion(project: Project, rule_id: int, user: Actor) -> bool:
    """False where the rule is gone already."""
    rule = ExclusionRule.objects.select_for_update().filter(project=project, pk=rule_id).first()
    if rule is None:
        return False
    before = audit.values(rule, EXCLUSION_FIELDS)
    audit.record(project, ChangeKind.EXCLUSIONS, user=user, subject=rule.pattern, before=before)
    rule.delete()
    return True
