"""Rows for tests. Plain functions; every default can be given."""

from __future__ import annotations

import itertools
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from django.contrib.auth.models import User
from django.utils import timezone
from pgvector import HalfVector

from linker.embedding.text import RECIPES
from linker.models import (
    Basis,
    Block,
    CandidateEdge,
    Category,
    EmbeddingModel,
    ExistingLink,
    Membership,
    Page,
    PageEmbedding,
    Project,
    Replacement,
    Run,
    RunKind,
    RunStatus,
    Tier,
)
from linker.projects.create import default_tiers, store_project

if TYPE_CHECKING:
    from collections.abc import Sequence

_numbers = itertools.count(1)


def make_project(slug: str = "shop", **fields: Any) -> Project:
    """A project with its default tiers, three of each basis, and no members."""
    base_url = fields.pop("base_url", f"https://{slug}.example").rstrip("/")
    defaults = {"name": slug.title(), "model_name": "test-model"}
    project = Project(slug=slug, base_url=base_url, **{**defaults, **fields})
    tiers = default_tiers(project)
    likely = next(tier for tier in tiers if (tier.basis, tier.name) == (Basis.PROBABILITY, "Likely"))
    likely.lower_bound = 0.75
    store_project(project, [*tiers, Tier(project=project, basis=Basis.PROBABILITY, name="Related", lower_bound=0.7)])
    return project


def make_user(username: str = "", **fields: Any) -> User:
    return User.objects.create_user(username or f"user-{next(_numbers)}", password="correct horse battery", **fields)


def make_member(project: Project, role: str = "editor", username: str = "") -> User:
    user = make_user(username or f"{role}-{next(_numbers)}")
    Membership.objects.create(project=project, user=user, role=role)
    return user


def make_category(project: Project, *path: str) -> Category:
    """The category at `path`, with its ancestors."""
    parent: Category | None = None
    for depth in range(1, len(path) + 1):
        names = list(path[:depth])
        key = sha256("\x1f".join(names).encode()).hexdigest()
        parent, _ = Category.objects.get_or_create(
            project=project,
            path_key=key,
            defaults={"parent": parent, "name": names[-1], "path": names, "depth": depth},
        )
    assert parent is not None
    return parent


def make_page(project: Project, path: str = "", **fields: Any) -> Page:
    path = path or f"/page-{next(_numbers)}"
    url = path if path.startswith("http") else project.base_url + path
    title = fields.pop("title", path.strip("/").replace("-", " ").title() or "Home")
    defaults = {"canonical_url": url, "title": title, "h1": title, "status_code": 200, "language": "en"}
    return Page.objects.create(project=project, url=url, **{**defaults, **fields})


def make_link(source: Page, target: Page, anchor: str = "a link", block: Block = Block.CONTENT) -> ExistingLink:
    return ExistingLink.objects.create(project=source.project, source=source, target=target, anchor=anchor, block=block)


def make_model(dimensions: int = 4, name: str = "test-model") -> EmbeddingModel:
    values = {"recipe": RECIPES["full"].key, "defaults": {"dimensions": dimensions}}
    return EmbeddingModel.objects.get_or_create(name=name, version="1", **values)[0]


def embed(page: Page, vector: Sequence[float], model: EmbeddingModel | None = None) -> PageEmbedding:
    """Stores the vector, normalised."""
    array = np.asarray(vector, dtype=np.float64)
    array = array / np.linalg.norm(array)
    return PageEmbedding.objects.create(
        page=page,
        model=model or make_model(len(array)),
        vector=HalfVector(array.tolist()),
        text_sha256=b"\0" * 32,
    )


def make_run(project: Project, kind: str = RunKind.MATCH, status: str = RunStatus.SUCCEEDED, **fields: Any) -> Run:
    fields.setdefault("model", make_model() if kind == RunKind.MATCH else None)
    return Run.objects.create(project=project, kind=kind, status=status, **fields)


def lenient_tiers(project: Project, **chosen: Any) -> None:
    """Lets tiers leave unreviewed, in a project that was looked through for what is sensitive."""
    project.tiers.filter(**chosen).update(export_unreviewed=True, held=False)
    make_run(project, RunKind.SENSITIVE, report={"sensitive_pages": 0})


def make_replacement(edge: CandidateEdge, replaced: CandidateEdge, **fields: Any) -> Replacement:
    """What a match run would have said of a suggestion that it proposes in place of a released link."""
    defaults = {"placement": edge.placement, "old": 0.5, "new": 0.75, "gain": 0.2, "proposed_at": timezone.now()}
    return Replacement.objects.create(
        project=edge.project, edge=edge, replaced=replaced, run=edge.run, **{**defaults, **fields}
    )


def make_edge(
    project: Project,
    source: Page | None = None,
    target: Page | None = None,
    *,
    score: float = 0.85,
    anchor: str = "a good anchor",
    run: Run | None = None,
    **fields: Any,
) -> CandidateEdge:
    """A suggestion as a match run would have stored it, in the tier its score reads as."""
    source = source or make_page(project)
    target = target or make_page(project)
    run = run or project.runs.filter(kind=RunKind.MATCH).first() or make_run(project)
    tier = project.tiers.filter(basis="cosine", lower_bound__lte=score).order_by("-lower_bound").first()
    defaults: dict[str, Any] = {
        "generators": ["category"],
        "ranked_by": "cosine",
        "quantile": 0.5,
        "level": 0,
        "similarity": score,
        "donor_best": score,
        "tier": tier,
        "placement": tier.placement if tier else "related",
        "rel": tier.rel if tier else "nofollow",
        "anchor_source": "h1",
    }
    return CandidateEdge.objects.create(
        project=project,
        source=source,
        target=target,
        run=run,
        score=score,
        anchor=anchor,
        **{**defaults, **fields},
    )
