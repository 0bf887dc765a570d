"""Writes: a project's tiers, sensitive pages, exclusions and roles, each with what it changes on the suggestions."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from linker import audit
from linker.engine.patterns import compile_pattern
from linker.engine.ranking.formula import FormulaWeights
from linker.engine.roles.policy import LABELS, USUAL, differing, role_links
from linker.engine.sensitivity.words import word_key
from linker.matching.report_types import RetierReport, TierCount
from linker.matching.tiers import retier
from linker.models import (
    Basis,
    CandidateEdge,
    ChangeKind,
    ExclusionRule,
    Page,
    Project,
    RoleRule,
    RunKind,
    SensitiveRule,
    SensitiveState,
    Tier,
)
from linker.models.querysets import PRESENT, UNDECIDED
from linker.pages.listing import addresses
from linker.pages.roles import apply_role_rules
from linker.pages.sensitivity import find_pages_of, mark_pages_of, mark_sensitive
from linker.projects.overview import tier_counts
from linker.runs import lifecycle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from linker.engine.roles.policy import PageRole, RoleLinks
    from linker.models import Run

    Actor = AbstractBaseUser | AnonymousUser | None


SENSITIVE_FIELDS = ("kind", "category", "word", "url_pattern", "whole_site", "state")
EXCLUSION_FIELDS = ("pattern", "side", "note")
TIER_FIELDS = ("lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held")


@dataclass(frozen=True)
class TierChange:
    """Open suggestions by tier's name, before and after."""

    before: dict[str, int]
    after: dict[str, int]


@transaction.atomic
def change_tiers(
    project: Project,
    kept: Sequence[Tier],
    deleted: Sequence[Tier] = (),
    user: Actor = None,
    *,
    basis: Basis | None = None,
    use: Basis | None = None,
) -> TierChange:
    """Saves changed and new tiers, deletes others, and reads every suggestion's tier anew, without a new match.

    `basis`: whose bounds were looked at, changed or not. Tiers of other bases stay as they are. `use` makes a basis the
    one that tiers are read by. The change stands among the project's runs: who moved which bound, and what that did.
    """
    _wait_for_others(project)
    before = tier_counts(project)
    changed = {tier.basis for tier in (*kept, *deleted)} | ({basis} if basis else set())
    bounds, rows = _bounds(project, changed), _tiers(project, changed, project.tier_basis)
    if deleted:
        _lock_edges(project, deleted)
    Tier.objects.filter(project=project, pk__in=[tier.pk for tier in deleted]).delete()
    _step_aside(project, kept)
    for tier in kept:
        tier.project = project
        tier.save()
    read_by = {"before": Basis(project.tier_basis).label, "after": Basis(use or project.tier_basis).label}
    if use is not None:
        project.tier_basis = use
        project.save(update_fields=["tier_basis"])
    retier(project)
    change = TierChange(before, tier_counts(project))
    after = _tiers(project, changed, use or project.tier_basis)
    audit.record(project, ChangeKind.TIERS, user=user, before=rows, after=after)
    lifecycle.record_run(
        project,
        RunKind.RETIER,
        params={
            "basis": sorted(changed),
            "before": bounds,
            "after": _bounds(project, changed),
            **({"read_by": read_by} if use is not None else {}),
        },
        report=RetierReport(
            before=_tier_counts(change.before),
            below_before=change.before.get(""),
            after=_tier_counts(change.after),
            below_after=change.after.get(""),
        ),
        user=user,
    )
    return change


@transaction.atomic
def set_formula_weights(project: Project, weights: dict[str, float], user: Actor) -> None:
    """From the next match run on; what was suggested stays."""
    before = Project.objects.select_for_update(no_key=True).get(pk=project.pk).formula_weights
    project.formula_weights = weights
    project.save(update_fields=["formula_weights"])
    usual = asdict(FormulaWeights())
    audit.record(
        project,
        ChangeKind.RANKING,
        user=user,
        subject="Weights of the formula",
        before=usual | before,
        after=usual | weights,
    )


def _wait_for_others(project: Project) -> None:
    """Releases, undos and other changes of what is read into the edges wait until this transaction ends.

    "No key": a decision's row names its project, and its editor, who holds the edge that we may want, must not wait.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _lock_edges(project: Project, tiers: Sequence[Tier]) -> None:
    """Locks, in the order of their ids, what the deletion of the tiers writes and what is read anew after it."""
    edges = CandidateEdge.objects.filter(Q(tier__in=tiers) | UNDECIDED, project=project)
    list(edges.order_by("pk").select_for_update(of=("self",), no_key=True).values_list("pk"))


def _bounds(project: Project, bases: Iterable[str]) -> dict[str, str]:
    return {
        tier.name: f"from {tier.lower_bound:g}, {tier.placement}, {tier.rel}, {tier.confirmed_rel} once accepted"
        f"{', leaves unreviewed' if tier.export_unreviewed else ''}{', held back' if tier.held else ''}"
        for tier in Tier.objects.filter(project=project, basis__in=bases)
    }


def _tiers(project: Project, bases: Iterable[str], in_use: str) -> dict[str, Any]:
    """Every tier of some bases, and the basis in use, for the log of changes."""
    tiers = Tier.objects.filter(project=project, basis__in=bases)
    return {"read by": Basis(in_use).label} | {
        f"{tier.get_basis_display()}, {tier.name}": audit.values(tier, TIER_FIELDS) for tier in tiers
    }


def _tier_counts(counts: dict[str, int]) -> tuple[TierCount, ...]:
    return tuple(TierCount(name=name, links=links) for name, links in counts.items() if name)


def _step_aside(project: Project, kept: Sequence[Tier]) -> None:
    """Gives the rows about to be saved names and bounds that nothing uses, so that two tiers may swap theirs."""
    taken = set(Tier.objects.filter(project=project).values_list("lower_bound", flat=True))
    taken |= {tier.lower_bound for tier in kept}
    # Between 0 and 1, which every basis allows.
    free = (bound for bound in (step / 2**20 for step in itertools.count()) if bound not in taken)
    for tier in kept:
        if tier.pk is not None:
            Tier.objects.filter(pk=tier.pk).update(name=f"\N{MIDDLE DOT}{tier.pk}", lower_bound=next(free))


@transaction.atomic
def add_sensitive(rule: SensitiveRule, user: Actor = None) -> int:
    """Saves a manager's rule, looks for its pages and marks the suggestions; returns how many need a person now.

    A word, or the whole site, that there is a rule about is decided on instead.
    """
    _wait_for_others(rule.project)
    rule.word_key = _key(rule.word)
    known = same_rule(rule)
    if known is not None:
        return decide_sensitive(rule.project, [known.pk], SensitiveState.CONFIRMED, user).marked
    before = _told(SensitiveRule.objects.get(pk=rule.pk)) if rule.pk else {}
    rule.state, rule.decided_by_id, rule.decided_at = SensitiveState.CONFIRMED, _id(user), timezone.now()
    rule.save()
    after = _told(rule)
    audit.record(rule.project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before, after=after)
    find_pages_of(rule)
    # A rule that was there may have taken other pages before.
    return mark_sensitive(rule.project) if before else mark_pages_of(rule.project, [rule.pk])


def _told(rule: SensitiveRule) -> dict[str, Any]:
    """A rule as the log of changes has it: its category by its path, since a number says nothing once it is gone."""
    category = str(rule.category) if rule.category is not None else None
    return audit.values(rule, SENSITIVE_FIELDS) | {"category": category}


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
    _wait_for_others(project)
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
    _wait_for_others(project)
    rules = SensitiveRule.objects.filter(project=project, pk__in=list(rule_ids))
    found = list(rules.select_related("category").order_by("pk"))
    changed = [rule for rule in found if rule.state != state]
    # A proposal that is confirmed counted before.
    turned = [rule.pk for rule in changed if SensitiveState.DISMISSED in (rule.state, state)]
    for rule in changed:
        before = _told(rule)
        rule.state, rule.decided_by_id, rule.decided_at = state, _id(user), timezone.now()
        after = _told(rule)
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
    _wait_for_others(project)
    rule = SensitiveRule.objects.filter(project=project, pk=rule_id).select_related("category").first()
    if rule is None:
        return None
    if rule.proposed:
        return decide_sensitive(project, [rule.pk], SensitiveState.DISMISSED, user).marked
    before = _told(rule)
    audit.record(project, ChangeKind.SENSITIVE, user=user, subject=str(rule), before=before)
    # Which pages it took is known only while it is there.
    SensitiveRule.objects.filter(pk=rule.pk).update(state=SensitiveState.DISMISSED)
    marked = mark_pages_of(project, [rule.pk])
    rule.delete()
    return marked


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


ROLE_FIELDS = ("pattern", "role", "note")
ROLES_AT_ONCE = 200_000  # pages whose addresses are looked through while somebody waits; of more, by a run


@transaction.atomic
def add_role_rule(rule: RoleRule, user: Actor) -> Run | None:
    """Saves a new rule, or a changed one, and gives the pages their roles: at once, or by the run that is returned."""
    _wait_for_others(rule.project)
    before = audit.values(RoleRule.objects.get(pk=rule.pk), ROLE_FIELDS) if rule.pk else {}
    rule.save()
    after = audit.values(rule, ROLE_FIELDS)
    audit.record(rule.project, ChangeKind.ROLES, user=user, subject=rule.pattern, before=before, after=after)
    return _apply_role_rules(rule.project, user)


@transaction.atomic
def remove_role_rule(project: Project, rule_id: int, user: Actor) -> bool:
    """Removes a rule; its pages have the roles again that were found. False where the rule is gone already."""
    _wait_for_others(project)
    rule = RoleRule.objects.filter(project=project, pk=rule_id).first()
    if rule is None:
        return False
    before = audit.values(rule, ROLE_FIELDS)
    audit.record(project, ChangeKind.ROLES, user=user, subject=rule.pattern, before=before)
    rule.delete()
    _apply_role_rules(project, user)
    return True


def _apply_role_rules(project: Project, user: Actor) -> Run | None:
    if Page.objects.filter(project=project)[ROLES_AT_ONCE : ROLES_AT_ONCE + 1].exists():
        try:
            return lifecycle.start_run(project, RunKind.ROLES, {}, user)
        except lifecycle.RunIsActive:
            pass  # it may have read the rules before this one was there
    apply_role_rules(project)
    return None


@transaction.atomic
def set_page_role(page: Page, role: PageRole | None, user: Actor) -> None:
    """Gives a page a role by hand; None takes it back, so that rules and what was found count again."""
    Page.objects.select_for_update(no_key=True).only("pk").get(pk=page.pk)
    before = Page.objects.values_list("role_by_hand", flat=True).get(pk=page.pk)
    chosen = role.value if role is not None else ""
    Page.objects.filter(pk=page.pk).update(role_by_hand=chosen)
    audit.record(
        page.project,
        ChangeKind.ROLES,
        user=user,
        subject=page.url,
        before={"role by hand": before},
        after={"role by hand": chosen},
    )


@transaction.atomic
def set_role_links(project: Project, chosen: Mapping[PageRole, RoleLinks], user: Actor) -> None:
    """What pages of each role give and receive, from the next match run on; what was suggested stays."""
    before = Project.objects.select_for_update(no_key=True).get(pk=project.pk).role_links
    project.role_links = differing(chosen)
    project.save(update_fields=["role_links"])
    audit.record(
        project,
        ChangeKind.ROLES,
        user=user,
        subject="What roles give and receive",
        before=_told_links(role_links(before)),
        after=_told_links(chosen),
    )


def reset_role_links(project: Project, user: Actor) -> None:
    """Pages of each role give and receive again what they usually do."""
    set_role_links(project, USUAL, user)


def _told_links(links: Mapping[PageRole, RoleLinks]) -> dict[str, Any]:
    return {
        f"{LABELS[role]} {name}": str(value) for role, one in links.items() for name, value in one._asdict().items()
    }


@dataclass(frozen=True)
class Matches:
    """The live pages a pattern finds: how many, the first few addresses, and among how many pages they were sought."""

    count: int
    examples: list[str]
    searched: int


SAMPLE = 200_000


def pattern_matches(project: Project, patterns: Sequence[str], examples: int = 3) -> list[Matches]:
    """What each pattern finds, in one pass over the first SAMPLE addresses by id. Raises PatternError."""
    compiled = [compile_pattern(pattern) for pattern in patterns]
    found: list[list[str]] = [[] for _ in compiled]
    counts = [0] * len(compiled)
    searched = 0
    if compiled:
        for url in itertools.islice(addresses(Page.objects.filter(PRESENT, project=project)), SAMPLE):
            searched += 1
            for index, pattern in enumerate(compiled):
                if pattern.search(url):
                    counts[index] += 1
                    if len(found[index]) < examples:
                        found[index].append(url)
    return [Matches(count, urls, searched) for count, urls in zip(counts, found, strict=True)]
