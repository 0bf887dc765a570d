"""Reads: what a project holds, in numbers, for its overview and the list of projects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from linker import services
from linker.errors import UserError
from linker.models import (
    Basis,
    CandidateEdge,
    Category,
    EdgeStatus,
    ExistingLink,
    Membership,
    Page,
    PageEmbedding,
    Project,
    Run,
    RunKind,
    RunStatus,
    Tier,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet

LIVE = Q(missing_since__isnull=True)
ORPHAN = LIVE & Q(indexable=True, inlinks=0)
OPEN = Q(status=EdgeStatus.SUGGESTED, stale=False)
# As the queue has it: what scores below every tier is held back too.
HELD = OPEN & (Q(tier__held=True) | Q(tier__isnull=True))
TO_REVIEW = OPEN & Q(tier__held=False)


@dataclass(frozen=True)
class SiteFigures:
    """Counts of a project. Pages are those the newest import still held; `missing` are the others."""

    pages: int
    missing: int
    indexable: int
    orphans: int
    with_vectors: int
    body_links: int
    to_review: int
    held: int
    accepted: int
    rejected: int
    exported: int

    @property
    def suggestions(self) -> int:
        return self.to_review + self.held + self.accepted + self.rejected + self.exported


def site_figures(project: Project) -> SiteFigures:
    # Names of their own: an aggregate named like a column would stand for it in the filters that follow.
    pages = Page.objects.filter(project=project).aggregate(
        live_count=Count("pk", filter=LIVE),
        missing_count=Count("pk", filter=~LIVE),
        indexable_count=Count("pk", filter=LIVE & Q(indexable=True)),
        orphan_count=Count("pk", filter=ORPHAN),
    )
    edges = CandidateEdge.objects.filter(project=project).aggregate(
        to_review=Count("pk", filter=TO_REVIEW),
        held=Count("pk", filter=HELD),
        accepted=Count("pk", filter=Q(status=EdgeStatus.ACCEPTED)),
        rejected=Count("pk", filter=Q(status=EdgeStatus.REJECTED)),
        exported=Count("pk", filter=Q(status=EdgeStatus.EXPORTED)),
    )
    body_links = ExistingLink.objects.filter(project=project, in_body=True, missing_since__isnull=True).count()
    return SiteFigures(
        pages=pages["live_count"],
        missing=pages["missing_count"],
        indexable=pages["indexable_count"],
        orphans=pages["orphan_count"],
        body_links=body_links,
        with_vectors=_with_vectors(project),
        **edges,
    )


def _with_vectors(project: Project) -> int:
    """Live pages that have a vector a match of the project would use."""
    try:
        model = services.embedding_model(project)
    except UserError:
        return 0
    return PageEmbedding.objects.filter(page__project=project, page__missing_since__isnull=True, model=model).count()


def tiers_in_use(project: Project) -> QuerySet[Tier]:
    """The tiers that suggestions are read by: those of the project's basis.

    Where that is the probability, those of the similarity too while an open suggestion has no probability.
    """
    bases = {project.tier_basis}
    if project.tier_basis == Basis.PROBABILITY:
        unread = CandidateEdge.objects.filter(OPEN, project=project, probability=None)
        if unread.exists():
            bases.add(Basis.COSINE)
            if not CandidateEdge.objects.filter(OPEN, project=project, probability__isnull=False).exists():
                bases.remove(Basis.PROBABILITY)
    return Tier.objects.filter(project=project, basis__in=bases).order_by("-basis", "-lower_bound")


def tier_counts(project: Project) -> dict[str, int]:
    """Open suggestions by tier's name, in the order of the tiers; those below every tier stand under an empty name."""
    counts = {tier.name: 0 for tier in tiers_in_use(project)}
    rows = CandidateEdge.objects.filter(OPEN, project=project).values("tier__name").annotate(links=Count("pk"))
    for row in rows.order_by():
        counts[row["tier__name"] or ""] = row["links"]
    return counts


@dataclass(frozen=True)
class TierFigures:
    """What a tier holds: suggestions of the newest match run, whatever was decided, and those still open."""

    newest: int = 0
    open: int = 0


def tier_figures(project: Project, run: Run | None) -> dict[int | None, TierFigures]:
    """By the tier's id; those below every tier stand under None. `run` is the newest that has succeeded."""
    rows = CandidateEdge.objects.filter(project=project).order_by().values_list("tier")
    counted = rows.annotate(newest=Count("pk", filter=Q(run=run)), open_count=Count("pk", filter=OPEN))
    return {tier: TierFigures(newest, still_open) for tier, newest, still_open in counted}


@dataclass(frozen=True)
class CategoryFigures:
    """A category at the top of the tree with its whole subtree's counts; None stands for pages without one."""

    category: Category | None
    pages: int
    to_review: int


def top_categories(project: Project, limit: int = 30) -> list[CategoryFigures]:
    """The top of the tree, most pages first, ties by name; suggestions are counted by their donor."""
    pages = _by_top_name(Page.objects.filter(LIVE, project=project), "category__path")
    edges = _by_top_name(CandidateEdge.objects.filter(TO_REVIEW, project=project), "source__category__path")
    tops = {category.name: category for category in Category.objects.filter(project=project, depth=1)}
    names = sorted(pages, key=lambda name: (-pages[name], name))
    return [CategoryFigures(tops.get(name), pages[name], edges.get(name, 0)) for name in names[:limit]]


def _by_top_name(rows: QuerySet, path: str) -> dict[str, int]:
    """Rows counted by the first name of a category's path; the empty name counts those without a category."""
    grouped = rows.values_list(f"{path}__0").annotate(rows=Count("pk")).order_by()
    return {name or "": count for name, count in grouped}


def project_cards(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Membership]:
    """The user's memberships with their projects, by name, each with page_count, to_review, accepted, last_run_at
    and last_run_kind."""
    last_run = Run.objects.filter(project=OuterRef("project")).order_by("-id")
    return (
        Membership.objects.filter(user_id=user.pk or 0)
        .select_related("project")
        .annotate(
            page_count=_count(Page.objects.filter(LIVE)),
            to_review=_count(CandidateEdge.objects.filter(TO_REVIEW)),
            accepted=_count(CandidateEdge.objects.filter(status=EdgeStatus.ACCEPTED)),
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


@dataclass(frozen=True)
class Step:
    """What makes sense to do next. `done` says whether the project is past it."""

    name: str
    text: str
    url_name: str
    manager_only: bool
    done: bool


def next_steps(project: Project, figures: SiteFigures) -> list[Step]:
    """The way from a crawl to a file, in order."""
    kinds = set(
        Run.objects.filter(project=project, status=RunStatus.SUCCEEDED).values_list("kind", flat=True).distinct()
    )
    return [
        Step("Import pages", "Upload the crawl's pages.", "import", True, figures.pages > 0),
        Step(
            "Import links",
            "Upload the links the site already has, so that none is suggested twice.",
            "import",
            True,
            figures.body_links > 0 or RunKind.IMPORT_LINKS in kinds,
        ),
        Step("Embed", "Turn every page's text into a vector.", "match", True, figures.with_vectors > 0),
        Step("Match", "Look for links worth proposing.", "match", True, figures.suggestions > 0),
        Step(
            "Review",
            "Accept, edit or reject what was proposed.",
            "queue",
            False,
            figures.suggestions > 0 and figures.to_review == 0,
        ),
        Step(
            "Export",
            "Hand the accepted links to the developers.",
            "releases",
            False,
            figures.exported > 0 and figures.accepted == 0,
        ),
    ]
