"""Writes: what makes pages sensitive, with the marks on their suggestions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from linker import audit
from linker.engine.sensitivity.words import word_key
from linker.models import ChangeKind, Project, SensitiveRule, SensitiveState
from linker.pages.sensitivity import find_pages_of, mark_pages_of, mark_sensitive
from linker.projects.policies.shared import wait_for_others

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.projects.policies.shared import Actor


SENSITIVE_FIELDS = ("kind", "category", "word", "url_pattern", "whole_site", "state")


@transaction.atomic
def add_sensitive(rule: SensitiveRule, user: Actor = None) -> int:
    """Saves a manager's rule, looks for its pages and marks the suggestions; returns how many need a person now.

    A word, or the whole site, that there is a rule about is decided on instead.
    """
    wait_for_others(rule.project)
    rule.word_key = _key(rule.word)
    known = same_rule(rule)
    if known is not None:
        return decide_sensitive(rule.project, [known.pk], SensitiveState.CONFIRMED, user).marked
    before = audit.values(SensitiveRule.objects.get(pk=rule.pk), SENSITIVE_FIELDS) if rule.pk else {}
    rule.state, rule.decided_by_id, rule.decided_at = SensitiveState.CONFIRMED, _id(user), timezone.now()
    rule.save()
    after = audit.values(rule, SENSITIVE_FIELDS)
    audit.record(rule.project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before, after=after)
    find_pages_of(rule)
    # A rule that was there may have taken other pages before.
    return mark_sensitive(rule.project) if before else mark_pages_of(rule.project, [rule.pk])


def _key(word: str) -> str:
    """Of a rule's word with its other forms: that of the first, which stands for all."""
    return word_key(word.split(",")[0])[:200]


def same_rule(rule: SensitiveRule) -> SensitiveRule | None:
    """The rule that is there already about the same word, or the whole site."""
    if not rule.word and not rule.whole_site:
        return None
    others = SensitiveRule.objects.filter(project=rule.project, kind=rule.kind).exclude(pk=rule.pk)
    return (
        others.filter(word_key=_key(rule.word), whole_site=rule.whole_site).exclude(word="", whole_site=False).first()
    )


@transaction.atomic
def leave_out_word(project: Project, kind: str, word: str, user: Actor = None) -> int:
    """A word of the lists that never makes a page of this project sensitive. Returns how many suggestions need a person
    now."""
    wait_for_others(project)
    rule = SensitiveRule(project=project, kind=kind, word=word, word_key=word_key(word)[:200], proposed=True)
    known = same_rule(rule)
    if known is None:
        rule.state, rule.pages = SensitiveState.PROPOSED, 0
        rule.save()
        known = rule
    return decide_sensitive(project, [known.pk], SensitiveState.DISMISSED, user).marked


@dataclass(frozen=True)
class SensitiveChange:
    """How many of the rules are there, how many were decided otherwise than before, and how many suggestions need a
    person now."""

    found: int
    decided: int
    marked: int


@transaction.atomic
def decide_sensitive(
    project: Project, rule_ids: Iterable[int], state: SensitiveState, user: Actor = None
) -> SensitiveChange:
    """Confirms or dismisses rules; dismissed ones stay, so that no import proposes them again."""
    wait_for_others(project)
    rules = SensitiveRule.objects.filter(project=project, pk__in=list(rule_ids))
    found = list(rules.select_related("category").order_by("pk"))
    changed = [rule for rule in found if rule.state != state]
    # A proposal that is confirmed counted before.
    turned = [rule.pk for rule in changed if SensitiveState.DISMISSED in (rule.state, state)]
    for rule in changed:
        before = audit.values(rule, SENSITIVE_FIELDS)
        rule.state, rule.decided_by_id, rule.decided_at = state, _id(user), timezone.now()
        after = audit.values(rule, SENSITIVE_FIELDS)
        audit.record(project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before, after=after)
    SensitiveRule.objects.bulk_update(changed, ["state", "decided_by", "decided_at"])
    return SensitiveChange(len(found), len(changed), mark_pages_of(project, turned))


def _id(user: Actor) -> int | None:
    return user.pk if user is not None else None


@transaction.atomic
def remove_sensitive(project: Project, rule_id: int, user: Actor = None) -> int | None:
    """Removes a manager's rule, and dismisses one that an import proposed, which would come back otherwise.

    Returns how many suggestions need a person now; None where the rule is gone already.
    """
    wait_for_others(project)
    rule = SensitiveRule.objects.filter(project=project, pk=rule_id).select_related("category").first()
    if rule is None:
        return None
    if rule.proposed:
        return decide_sensitive(project, [rule.pk], SensitiveState.DISMISSED, user).marked
    before = audit.values(rule, SENSITIVE_FIELDS)
    audit.record(project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before)
    # Which pages it took is known only while it is there.
    SensitiveRule.objects.filter(pk=rule.pk).update(state=SensitiveState.DISMISSED)
    marked = mark_pages_of(project, [rule.pk])
    rule.delete()
    return marked
