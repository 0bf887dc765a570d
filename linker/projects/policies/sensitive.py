"""Writes: what makes pages sensitive, with the marks on their suggestions.

What would take long is left to a run: to look for the pages of a rule where the project has more than AT_ONCE, and to
mark more suggestions than that. The rule is saved at once and says what is due (`SensitiveRule.due`), so that whichever
run of the kind holds the project next does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from linker import audit
from linker.engine.sensitivity.words import word_key
from linker.models import ChangeKind, Page, Project, Run, RunKind, SensitiveDue, SensitiveRule, SensitiveState
from linker.pages.sensitive_marks import mark_pages_of, mark_sensitive, touches_more_than
from linker.pages.sensitivity import find_pages_of
from linker.projects.policies.shared import wait_for_others
from linker.runs import lifecycle
from linker.runs.sensitivity_checks import CHANGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.models import QuerySet

    from linker.projects.policies.shared import Actor


# Pages that are looked through, or suggestions that are marked, while somebody waits; of more, by a run.
AT_ONCE = 5_000
SENSITIVE_FIELDS = ("kind", "category", "word", "url_pattern", "whole_site", "state")


@transaction.atomic
def add_sensitive(rule: SensitiveRule, user: Actor = None) -> int | Run:
    """Saves a manager's rule, looks for its pages and marks the suggestions; returns how many need a person now, or the
    run that does it.

    A word, or the whole site, that there is a rule about is decided on instead.
    """
    project = rule.project
    wait_for_others(project)
    rule.word_key = _key(rule.word)
    known = same_rule(rule)
    if known is not None:
        return _decide(project, [known], SensitiveState.CONFIRMED, user).outcome
    before = audit.values(SensitiveRule.objects.get(pk=rule.pk), SENSITIVE_FIELDS) if rule.pk else {}
    by_run = _more(Page.objects.filter(project=project)) or (bool(before) and _more(project.edges.all()))
    rule.state, rule.decided_by_id, rule.decided_at = SensitiveState.CONFIRMED, _id(user), timezone.now()
    rule.due = SensitiveDue.LOOK if by_run else ""
    rule.save()
    after = audit.values(rule, SENSITIVE_FIELDS)
    audit.record(project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before, after=after)
    if by_run:
        return _start_run(project, user)
    find_pages_of(project, [rule])
    if before:  # it may have taken other pages
        return mark_sensitive(project)
    if touches_more_than([rule.pk], AT_ONCE):
        SensitiveRule.objects.filter(pk=rule.pk).update(due=SensitiveDue.MARK)
        return _start_run(project, user)
    return mark_pages_of(project, [rule.pk])


def _more(rows: QuerySet[Any]) -> bool:
    return rows.order_by()[AT_ONCE : AT_ONCE + 1].exists()


def _is_much(project: Project, rules: Sequence[SensitiveRule]) -> bool:
    """Whether it takes long to mark the suggestions of the pages that rules take."""
    if sum(rule.pages or 0 for rule in rules) > AT_ONCE:
        return True
    return touches_more_than([rule.pk for rule in rules], AT_ONCE)


def _start_run(project: Project, user: Actor) -> Run:
    """The run that does what rules are due, which are saved by now."""
    try:
        return lifecycle.start_run(project, RunKind.SENSITIVE, {CHANGED_ONLY: True}, user)
    except lifecycle.RunIsActive as active:
        return active.run  # which does it once it has the project's row, for these rules too


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
def leave_out_word(project: Project, kind: str, word: str, user: Actor = None) -> int | Run:
    """A word of the lists that never makes a page of this project sensitive. Returns how many suggestions need a person
    now, or the run that marks them."""
    wait_for_others(project)
    rule = SensitiveRule(project=project, kind=kind, word=word, word_key=word_key(word)[:200], proposed=True)
    known = same_rule(rule)
    if known is None:
        rule.state, rule.pages = SensitiveState.PROPOSED, 0
        rule.save()
        known = rule
    if known.due == SensitiveDue.REMOVE:  # it stays, now that it says what does not count
        SensitiveRule.objects.filter(pk=known.pk).update(due=SensitiveDue.MARK, proposed=True)
    return _decide(project, [known], SensitiveState.DISMISSED, user).outcome


@dataclass(frozen=True)
class SensitiveChange:
    """How many of the rules are there, how many were decided otherwise than before, and how many suggestions need a
    person now, or the run that marks them."""

    found: int
    decided: int
    outcome: int | Run


@transaction.atomic
def decide_sensitive(
    project: Project, rule_ids: Iterable[int], state: SensitiveState, user: Actor = None
) -> SensitiveChange:
    """Confirms or dismisses rules; dismissed ones stay, so that no import proposes them again."""
    wait_for_others(project)
    rules = _rules(project).filter(pk__in=list(rule_ids))
    return _decide(project, list(rules.select_related("category").order_by("pk")), state, user)


def _rules(project: Project) -> QuerySet[SensitiveRule]:
    """All but those that were removed, and that a run has yet to delete."""
    return SensitiveRule.objects.filter(project=project).exclude(due=SensitiveDue.REMOVE)


def _decide(project: Project, found: Sequence[SensitiveRule], state: SensitiveState, user: Actor) -> SensitiveChange:
    changed = [rule for rule in found if rule.state != state]
    # A proposal that is confirmed counted before.
    turned = [rule for rule in changed if SensitiveState.DISMISSED in (rule.state, state)]
    by_run = any(rule.due for rule in turned) or _is_much(project, turned)
    for rule in changed:
        before = audit.values(rule, SENSITIVE_FIELDS)
        rule.state, rule.decided_by_id, rule.decided_at = state, _id(user), timezone.now()
        after = audit.values(rule, SENSITIVE_FIELDS)
        audit.record(project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before, after=after)
    for rule in turned if by_run else ():
        rule.due = rule.due if rule.due == SensitiveDue.LOOK else SensitiveDue.MARK
    SensitiveRule.objects.bulk_update(changed, ["state", "decided_by", "decided_at", "due"])
    outcome = _start_run(project, user) if by_run else mark_pages_of(project, [rule.pk for rule in turned])
    return SensitiveChange(len(found), len(changed), outcome)


def _id(user: Actor) -> int | None:
    return user.pk if user is not None else None


@transaction.atomic
def remove_sensitive(project: Project, rule_id: int, user: Actor = None) -> int | Run | None:
    """Removes a manager's rule, and dismisses one that an import proposed, which would come back otherwise.

    Returns how many suggestions need a person now, or the run that marks them and deletes the rule, which counts as
    dismissed until then; None where the rule is gone already.
    """
    wait_for_others(project)
    rule = _rules(project).filter(pk=rule_id).select_related("category").first()
    if rule is None:
        return None
    if rule.proposed:
        return _decide(project, [rule], SensitiveState.DISMISSED, user).outcome
    before = audit.values(rule, SENSITIVE_FIELDS)
    audit.record(project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before)
    # Which pages it took is known only while it is there.
    by_run = bool(rule.due) or _is_much(project, [rule])
    due = SensitiveDue.REMOVE if by_run else ""
    SensitiveRule.objects.filter(pk=rule.pk).update(state=SensitiveState.DISMISSED, due=due)
    if by_run:
        return _start_run(project, user)
    marked = mark_pages_of(project, [rule.pk])
    rule.delete()
    return marked
