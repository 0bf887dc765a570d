"""Writes: how far links of a section leave; and what a rule would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef

from linker import audit
from linker.models import CandidateEdge, ChangeKind, PageAddress
from linker.projects.policies.shared import wait_for_others
from review.models import RolloutRule
from review.releases.checks import ready_in
from review.releases.rollout import Rollout, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.models import Project
    from linker.projects.policies.shared import Actor

FIELDS = ("category", "pattern", "stage", "share")
MOST = 20_000  # approved links that the effect of a rule is read from


@dataclass(frozen=True)
class Effect:
    """What a rule would change: of `links` approved ones, how many stay now, and how many would. `is_all` is false
    where there are more than were looked at."""

    links: int
    stay: int
    would_stay: int
    is_all: bool


def effect_of(rule: RolloutRule) -> Effect:
    """The effect of a rule that is not saved yet, or would be in place of one with the same category or pattern."""
    project = rule.project
    rules = rules_of(project)
    others = [one for one in rules if (one.category_id, one.pattern) != (rule.category_id, rule.pattern)]
    now, then = Rollout(project, rules), Rollout(project, [*others, rule])
    edges = CandidateEdge.objects.filter(ready_in(project), project=project).order_by()
    addresses = PageAddress.objects.filter(page=OuterRef("source")).order_by("-until", "pk").values("url")
    columns = ("source_id", "source__url", "source__category_id", ArraySubquery(addresses))
    rows = list(edges.values_list(*columns)[: MOST + 1])
    looked = rows[:MOST]
    return Effect(len(looked), _staying(now, looked), _staying(then, looked), is_all=len(rows) <= MOST)


def _staying(rollout: Rollout, donors: Iterable[tuple[int, str, int | None, list[str]]]) -> int:
    return sum(rollout.keeps(*donor) is not None for donor in donors)


@transaction.atomic
def set_rule(rule: RolloutRule, user: Actor) -> RolloutRule:
    """Saves a rule in place of the one with its category or pattern, if there is one. Holds from the next release."""
    wait_for_others(rule.project)
    former = RolloutRule.objects.filter(project=rule.project, category=rule.category, pattern=rule.pattern).first()
    before = audit.values(former, FIELDS) if former is not None else {}
    rule.pk = former.pk if former is not None else None
    rule.save()
    _record(rule, user, before=before, after=audit.values(rule, FIELDS))
    return rule


@transaction.atomic
def remove_rule(project: Project, rule_id: int, user: Actor) -> RolloutRule | None:
    """The rule that was removed; None where it is gone already."""
    wait_for_others(project)
    rule = RolloutRule.objects.select_related("category").filter(project=project, pk=rule_id).first()
    if rule is not None:
        _record(rule, user, before=audit.values(rule, FIELDS), after={})
        rule.delete()
    return rule


def _record(rule: RolloutRule, user: Actor, *, before: dict[str, object], after: dict[str, object]) -> None:
    audit.record(rule.project, ChangeKind.RELEASE, user=user, subject=f"Roll-out: {rule}", before=before, after=after)
