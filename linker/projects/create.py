"""Making a project, with the policies every project starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from linker import audit
from linker.models import Basis, ChangeKind, Membership, Placement, Project, Rel, Role, Tier
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

# Name, placement, rel while unreviewed, held back; and the lower bounds under each basis, None where it has no such
# tier: what is likely enough to be shown at all stands in the text where that has words for it, else beside it.
_TIERS = (
    ("Likely", Placement.INLINE, Rel.FOLLOW, False),
    ("Related", Placement.RELATED, Rel.NOFOLLOW, False),
    ("Reserve", Placement.RELATED, Rel.NOFOLLOW, True),
)
DEFAULT_BOUNDS = {
    Basis.PROBABILITY: (0.74, None, 0.30),
    Basis.QUANTILE: (0.80, 0.40, 0.00),
    Basis.COSINE: (0.80, 0.65, 0.50),
}

# What a manager sets on the project's own page; tiers and weights are set by linker.projects.policies.
SETTINGS = (
    "name",
    "base_url",
    "trailing_slash",
    "www",
    "parameter_urls",
    "vector_source",
    "model_name",
    "text_recipe",
    "link_languages",
    "title_patterns",
    "banned_anchors",
    "anchor_max_length",
    "identical_anchor_limit",
    "anchor_repeats",
    "query_blend",
    "queue_order",
    "gap_links",
    "line_wording",
    "replacing",
    "replace_gain",
    "replace_of_page",
    "replace_of_site",
    "replace_after",
    "time_zone",
)


@transaction.atomic
def create_project(
    *, slug: str, name: str, base_url: str, manager: AbstractBaseUser | AnonymousUser | None = None
) -> Project:
    """A project with the default tiers; `manager` becomes its first member.

    Raises django.core.exceptions.ValidationError where the slug is taken or a value has the wrong form.
    """
    project = Project(slug=slug, name=name, base_url=base_url.rstrip("/"))
    project.full_clean()
    store_project(project, default_tiers(project), manager)
    return project


def default_tiers(project: Project) -> list[Tier]:
    """Not saved yet, and neither need the project be."""
    return [
        Tier(project=project, basis=basis, name=name, lower_bound=bound, placement=placement, rel=rel, held=held)
        for basis, bounds in DEFAULT_BOUNDS.items()
        for (name, placement, rel, held), bound in zip(_TIERS, bounds, strict=True)
        if bound is not None
    ]


@transaction.atomic
def store_project(project: Project, tiers: list[Tier], manager: AbstractBaseUser | AnonymousUser | None = None) -> None:
    """Stores a new project, which is known to be valid, with these tiers."""
    project.save()
    Tier.objects.bulk_create(tiers)
    after: dict[str, Any] = audit.values(project, SETTINGS)
    if manager is not None and manager.pk is not None:
        Membership.objects.create(project=project, user_id=manager.pk, role=Role.MANAGER)
        after["manager"] = str(manager)
    audit.record(project, ChangeKind.PROJECT, user=manager, subject=project.name, after=after)


@transaction.atomic
def save_project(project: Project, user: AbstractBaseUser | AnonymousUser | None, fields: Collection[str]) -> None:
    """Saves these fields, and leaves the others as somebody else may have saved them since the project was read.

    What they do to vectors and suggestions shows after the next embed and match.
    """
    stored = lock_project(project.pk)
    project.save(update_fields=fields)
    logged = [name for name in SETTINGS if name in fields]
    before, after = audit.values(stored, logged), audit.values(project, logged)
    audit.record(project, ChangeKind.SETTINGS, user=user, before=before, after=after)
