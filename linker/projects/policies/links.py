"""Writes: rules on what links count as. Saving and removing one starts the run that reads all links again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from linker import audit
from linker.models import ChangeKind, LinkRule, RunKind
from linker.projects.policies.shared import wait_for_others
from linker.runs import lifecycle

if TYPE_CHECKING:
    from linker.models import Project, Run
    from linker.projects.policies.shared import Actor

LINK_RULE_FIELDS = ("source_pattern", "target_pattern", "words", "read_as", "counts_as", "note")


@transaction.atomic
def add_link_rule(rule: LinkRule, user: Actor) -> Run:
    """Saves a new rule, or a changed one; the run that is returned applies it."""
    wait_for_others(rule.project)
    before = audit.values(LinkRule.objects.get(pk=rule.pk), LINK_RULE_FIELDS) if rule.pk else {}
    rule.save()
    after = audit.values(rule, LINK_RULE_FIELDS)
    audit.record(rule.project, ChangeKind.LINKS, user=user, subject=str(rule), before=before, after=after)
    return _read_again(rule.project, user)


@transaction.atomic
def remove_link_rule(project: Project, rule_id: int, user: Actor) -> Run | None:
    """Removes a rule; by the run that is returned, its links count again as they were read, or as later rules have it.
    None where the rule is gone already."""
    wait_for_others(project)
    rule = LinkRule.objects.filter(project=project, pk=rule_id).first()
    if rule is None:
        return None
    audit.record(project, ChangeKind.LINKS, user=user, subject=str(rule), before=audit.values(rule, LINK_RULE_FIELDS))
    rule.delete()
    return _read_again(project, user)


def _read_again(project: Project, user: Actor) -> Run:
    try:
        return lifecycle.start_run(project, RunKind.LINKS, {}, user)
    except lifecycle.RunIsActive as active:
        return active.run  # which reads the rules once it has the project's row, so these too
