"""Reads: what a project holds, in numbers, for its overview and the list of projects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, F, IntegerField, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.embedding.service import embedding_model
from linker.errors import UserError
from linker.models import (
    Basis,
    CandidateEdge,
    Category,
    EdgeCount,
    EdgeStatus,
    KeptFigures,
    Membership,
    Page,
    Project,
    Run,
    RunKind,
    RunStatus,
    SensitiveDue,
    SensitiveRule,
    SensitiveState,
    Tier,
)
from linker.models.edge_bands import open_by_probability
from linker.models.edge_counts import kept_counts, total
from linker.models.placements import Stands, standing
from linker.models.policy import Sensitivity
from linker.models.project import VectorSource
from linker.models.querysets import ACCEPTED, HELD, LIVE, OPEN, REOPENED, TO_REVIEW
from linker.models.run import IMPORT_PREFIX
from linker.runs import sensitivity_checks
from linker.runs.reports import report_of
from linker.storage import site_figures as storage
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet


@dataclass(frozen=True)
class SiteFigures:
    """Counts of a project. Pages are live ones; `missing` are those that the newest import no longer held, `left` those
    that it held as merged, redirected or removed. `out`: released, and not taken off the site since, also where the
    link is back in the queue."""

    pages: int
    missing: int
    left: int
    indexable: int
    orphans: int
    with_vectors: int
    body_links: int
    to_review: int
    held: int
    accepted: int
    rejected: int
    exported: int
    out: int

    @property
    def back(self) -> int:
        """Those of `out` that are back in the queue, to be decided on again."""
        return self.out - self.exported

    @property
    def suggestions(self) -> int:
        return self.to_review + self.held + self.accepted + self.rejected + self.exported


def site_figures(project: Project, kept: KeptFigures | None = None) -> SiteFigures:
    """`kept`: the figures of the project's pages and links, where they are known already."""
    kept = storage.site_figures(project) if kept is None else kept
    edges = kept_counts(project).aggregate(
        to_review=total(TO_REVIEW),
        held=total(HELD),
        accepted=total(ACCEPTED),
        rejected=total(Q(status=EdgeStatus.REJECTED)),
        exported=total(Q(status=EdgeStatus.EXPORTED)),
    )
    return SiteFigures(
        pages=kept.pages,
        missing=kept.missing,
        left=kept.left,
        indexable=kept.indexable,
        orphans=kept.orphans,
        body_links=kept.body_links,
        with_vectors=_with_vectors(project, kept),
        out=edges["exported"] + CandidateEdge.objects.filter(REOPENED, project=project).count(),
        **edges,
    )


def _with_vectors(project: Project, kept: KeptFigures) -> int:
    """Live pages that have a vector a match of the project would use."""
    vectors = kept.live_by_set
    try:
        return vectors[embedding_model(project, vectors).pk]
    except UserError:
        return 0


def tiers_in_use(project: Project) -> QuerySet[Tier]:
    """The tiers that suggestions are read by: those of the project's basis.

    Where that is the probability, those of the similarity too while an open suggestion has no probability.
    """
    bases = {project.tier_basis}
    if project.tier_basis == Basis.PROBABILITY:
        known = open_by_probability(project)
        if known[False]:
            bases.add(Basis.COSINE)
            if not known[True]:
                bases.remove(Basis.PROBABILITY)
    return Tier.objects.filter(project=project, basis__in=bases).order_by("-basis", "-lower_bound")


def tier_counts(project: Project) -> dict[str, int]:
    """Open suggestions by tier's name, in the order of the tiers; those below every tier stand under an empty name."""
    counts = {tier.name: 0 for tier in tiers_in_use(project)}
    rows = kept_counts(project).filter(OPEN).values("tier__name").annotate(links=total())
    for row in rows.exclude(links=0).order_by():
        counts[row["tier__name"] or ""] = row["links"]
    return counts


def open_by_tier(project: Project) -> dict[int | None, int]:
    """Open suggestions by the tier's id; those below every tier stand under None."""
    kept = kept_counts(project).filter(OPEN).order_by().values_list("tier").annotate(links=total())
    return dict(kept)


def open_by_place(project: Project) -> dict[int | None, dict[str, int]]:
    """Open suggestions by the tier's id and by where they stand, the values of Stands: that follows what the text of
    the donor has words and room for, so a tier of links in the text has others, too. Those below every tier stand under
    None."""
    each = {place.value: total(standing(project, place, counted=True)) for place in Stands}
    rows = kept_counts(project).filter(OPEN).order_by().values("tier").annotate(**each).values_list("tier", *each)
    return {tier: dict(zip(each, links, strict=True)) for tier, *links in rows}


def open_by_ranking(project: Project) -> dict[str, int]:
    """Open suggestions by what ranked them (linker.models.RankedBy)."""
    kept = kept_counts(project).filter(OPEN).order_by().values_list("ranked_by").annotate(links=total())
    return dict(kept)


@dataclass(frozen=True)
class CategoryFigures:
    """A category at the top of the tree with its whole subtree's counts; None stands for pages without one."""

    category: Category | None
    pages: int
    to_review: int


CATEGORIES_SHOWN = 30


def top_categories(project: Project, kept: KeptFigures) -> list[CategoryFigures]:
    """The top of the tree, most pages first, ties by name; suggestions are counted by their donor."""
    pages = _pages_by_top_name(project, kept)
    counts = kept_counts(project).filter(TO_REVIEW).values_list("category__path__0").annotate(edges=total()).order_by()
    edges = {name or "": waiting for name, waiting in counts}
    tops = {category.name: category for category in Category.objects.filter(project=project, depth=1)}
    names = sorted(pages, key=lambda name: (-pages[name], name))
    return [CategoryFigures(tops.get(name), pages[name], edges.get(name, 0)) for name in names[:CATEGORIES_SHOWN]]


def _pages_by_top_name(project: Project, kept: KeptFigures) -> dict[str, int]:
    """Pages counted by the first name of their category's path; the empty name counts those without a category."""
    tops: dict[int | None, str] = dict(Category.objects.filter(project=project).values_list("pk", "path__0"))
    found: Counter[str] = Counter()
    for category, number_of_pages, _indexable, _orphans in kept.by_category:
        found[tops.get(category, "")] += number_of_pages
    return found


def project_cards(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Membership]:
    """The user's memberships with their projects, by name, each with page_count, to_review, accepted, last_run_at
    and last_run_kind."""
    last_run = Run.objects.filter(project=OuterRef("project")).order_by("-id")
    return (
        Membership.objects.filter(user_id=user.pk or 0)
        .select_related("project")
        .annotate(
            page_count=Coalesce("project__kept_figures__pages", _count(Page.objects.filter(LIVE))),
            to_review=_kept(TO_REVIEW),
            accepted=_kept(ACCEPTED),
            last_run_at=Subquery(last_run.values("created_at")[:1]),
            last_run_id=Subquery(last_run.values("pk")[:1]),
            last_run_kind=Subquery(last_run.values("kind")[:1]),
            last_run_status=Subquery(last_run.values("status")[:1]),
        )
        .order_by("project__name", "project_id")
    )


def _count(rows: QuerySet) -> Coalesce:
    counted = rows.filter(project=OuterRef("project")).order_by().values("project").annotate(rows=Count("pk"))
    return Coalesce(Subquery(counted.values("rows"), output_field=IntegerField()), 0)


def _kept(rule: Q) -> Coalesce:
    kept = EdgeCount.objects.filter(rule, project=OuterRef("project")).order_by().values("project")
    return Coalesce(Subquery(kept.annotate(edges=total()).values("edges"), output_field=IntegerField()), 0)


# ------------------------------------------------------------------------------------------------ what is sensitive

SHOWN_RULES = 200  # of a kind; the others are counted


def sensitive_to_check(project: Project) -> QuerySet[SensitiveRule]:
    """Proposals without a decision, except those that a confirmed rule on the whole site covers anyway."""
    rules = SensitiveRule.objects.filter(project=project)
    settled = rules.filter(whole_site=True, state=SensitiveState.CONFIRMED).values("kind")
    return rules.filter(state=SensitiveState.PROPOSED).exclude(kind__in=settled)


@dataclass(frozen=True)
class SensitiveGroup:
    """Rules of one kind, those that take most pages first: the first SHOWN_RULES, and how many in all.

    `newest` is the highest id of them all: a rule with a higher one came later."""

    kind: str
    label: str
    rules: list[SensitiveRule]
    count: int
    newest: int

    @property
    def more(self) -> int:
        return self.count - len(self.rules)


def sensitive_groups(project: Project) -> list[SensitiveGroup]:
    """What is to be checked, by kind."""
    return _by_kind(sensitive_to_check(project))


def sensitive_decided(project: Project) -> list[tuple[SensitiveState, int, list[SensitiveGroup]]]:
    """Rules that were confirmed, then those dismissed: how many, and by kind."""
    rules = SensitiveRule.objects.filter(project=project).exclude(due=SensitiveDue.REMOVE)
    states = (SensitiveState.CONFIRMED, SensitiveState.DISMISSED)
    found = [(state, _by_kind(rules.filter(state=state))) for state in states]
    return [(state, sum(group.count for group in groups), groups) for state, groups in found]


def _by_kind(rules: QuerySet[SensitiveRule]) -> list[SensitiveGroup]:
    sums = rules.order_by().values("kind").annotate(rules=Count("pk"), newest=Max("pk"))
    known = {row["kind"]: (row["rules"], row["newest"]) for row in sums}
    chosen = rules.select_related("category", "decided_by")
    order = ("-whole_site", F("pages").desc(nulls_last=True), "pk")
    return [
        SensitiveGroup(kind, str(label), list(chosen.filter(kind=kind).order_by(*order)[:SHOWN_RULES]), *known[kind])
        for kind, label in Sensitivity.choices
        if kind in known
    ]


# ---------------------------------------------------------------------------------------------------- what comes next

# The runs that a match rests on, by their kinds: imports of every kind, also of those that only ingest knows.
MATCH_RESTS_ON = Q(kind__startswith=IMPORT_PREFIX) | Q(kind=RunKind.EMBED)


@dataclass(frozen=True)
class Step:
    """What makes sense to do next. `done` says whether the project is past it; an optional step can be left out.
    `waits` says whether there is something to do it with. `instead`: another way to do it, its name and address.
    `command`: what does it on the command line, with a place for the project's slug; empty where only a page does."""

    name: str
    text: str
    url_name: str
    manager_only: bool
    done: bool
    optional: bool = False
    waits: bool = True
    instead: tuple[str, str] | None = None
    command: str = ""


def next_steps(project: Project, figures: SiteFigures) -> list[Step]:
    """The way from a crawl to a file, in order."""
    last = _Last(project)
    return [
        Step(
            _("Import pages"),
            _("Upload the crawl’s pages, or have the site fetched."),
            "import",
            True,
            figures.pages > 0,
            instead=(_("Fetch the site"), "sources"),
            command="import_pages {slug} FILE",
        ),
        Step(
            _("Import links"),
            _("Upload the site’s existing links, so that none is suggested again."),
            "import",
            True,
            figures.body_links > 0 or RunKind.IMPORT_LINKS in last.asked,
            command="import_links {slug} FILE",
        ),
        Step(
            _("Import queries"),
            _("Optional: search queries make better anchors."),
            "import",
            True,
            RunKind.IMPORT_QUERIES in last.asked,
            optional=True,
        ),
        _check_step(project, figures),
        _embed_step(project, figures, last),
        _match_step(last),
        Step(
            _("Review"),
            ngettext(
                "%(number)s suggestion waits for a decision.",
                "%(number)s suggestions wait for a decision.",
                figures.to_review,
            )
            % {"number": number(figures.to_review)}
            if figures.to_review
            else _("Accept, edit or reject the suggestions."),
            "queue",
            False,
            figures.suggestions > 0 and figures.to_review == 0,
            waits=figures.to_review > 0,
            command="runserver",
        ),
        Step(
            _("Export"),
            ngettext(
                "%(number)s accepted link has not been exported yet.",
                "%(number)s accepted links have not been exported yet.",
                figures.accepted,
            )
            % {"number": number(figures.accepted)}
            if figures.accepted
            else _("Export the accepted links for the developers."),
            "releases",
            False,
            figures.out > 0 and figures.accepted == 0,
            waits=figures.accepted > 0,
            command="export_links {slug} links.csv",
        ),
    ]


def next_step(steps: Iterable[Step]) -> Step | None:
    """The first that is not done and has to be."""
    return next((step for step in steps if not (step.done or step.optional)), None)


def own_steps(steps: Iterable[Step]) -> list[Step]:
    """Those with which somebody who is no manager can go on now."""
    return [step for step in steps if not step.manager_only and step.waits]


class _Last:
    """When the last run of each kind that ended well was asked for."""

    def __init__(self, project: Project) -> None:
        self._done = Run.objects.filter(project=project, status=RunStatus.SUCCEEDED)
        newest = self._done.order_by("kind", "-pk").distinct("kind")
        self.asked = dict(newest.values_list("kind", "created_at"))
        # A run over what changed is as good as a match, unless it said that one over the whole site is due.
        changes = self._done.filter(kind=RunKind.CHANGES).exclude(report__has_key="whole").order_by("-pk")
        matched = changes.values_list("created_at", flat=True).first() if RunKind.CHANGES in self.asked else None
        if matched is not None and RunKind.MATCH in self.asked:
            self.asked[RunKind.MATCH] = max(self.asked[RunKind.MATCH], matched)

    def is_behind(self, kind: RunKind, others: Q) -> bool:
        """Whether other runs have changed something since the last of this kind was asked for."""
        later = self._done.filter(others, finished_at__gt=self.asked[kind])
        return any(report_of(run).brought_news for run in later.only("kind", "report").order_by("-pk").iterator(20))


def _check_step(project: Project, figures: SiteFigures) -> Step:
    rules = sensitive_to_check(project).count()
    text = _("Pages about medicine, law and money always need human review. Check what was found.")
    if rules:
        text = ngettext(
            "%(number)s rule proposed. It applies unless a manager dismisses it.",
            "%(number)s rules proposed. Each applies unless a manager dismisses it.",
            rules,
        ) % {"number": number(rules)}
    done = figures.pages > 0 and not rules and sensitivity_checks.was_looked_through(project)
    return Step(_("Check what is sensitive"), text, "settings_sensitive", True, done)


def _embed_step(project: Project, figures: SiteFigures, last: _Last) -> Step:
    text, done = _("Turn every page’s text into a vector."), figures.with_vectors > 0
    comes_along = project.vector_source == VectorSource.IMPORTED
    if done and not comes_along and RunKind.EMBED in last.asked:
        done = not last.is_behind(RunKind.EMBED, Q(kind=RunKind.IMPORT_PAGES))
        text = text if done else _("Pages have been imported since. New and changed pages need a vector.")
    return Step(_("Embed"), text, "match", True, done, command="embed_pages {slug}")


def _match_step(last: _Last) -> Step:
    matched = RunKind.MATCH in last.asked
    done = matched and not last.is_behind(RunKind.MATCH, MATCH_RESTS_ON)
    text = _("Find links worth suggesting.")
    if matched and not done:
        text = _("Pages or links have changed since the last match. Match again.")
    return Step(_("Match"), text, "match", True, done, command="match_project {slug}")
