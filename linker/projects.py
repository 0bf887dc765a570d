"""Making a project, with the policies every project starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from linker.models import Basis, Membership, Placement, Project, Rel, Role, Tier

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

# Name, placement, rel while unreviewed, held back; and the lower bounds under each basis.
_TIERS = (
    ("Inline", Placement.INLINE, Rel.FOLLOW, False),
    ("Related", Placement.RELATED, Rel.NOFOLLOW, False),
    ("Reserve", Placement.RELATED, Rel.NOFOLLOW, True),
)
DEFAULT_BOUNDS = {
    Basis.PROBABILITY: (0.50, 0.15, 0.02),
    Basis.QUANTILE: (0.80, 0.40, 0.00),
    Basis.COSINE: (0.80, 0.65, 0.50),
}


@transaction.atomic
def create_project(
    *, slug: str, name: str, base_url: str, manager: AbstractBaseUser | AnonymousUser | None = None
) -> Project:
    """A project with the default tiers; `manager` becomes its first member.

    Raises django.core.exceptions.ValidationError where the slug is taken or a value has the wrong form.
    """
    project = Project(slug=slug, name=name, base_url=base_url.rstrip("/"))
    project.full_clean()
    project.save()
    Tier.objects.bulk_create(
        Tier(project=project, basis=basis, name=name, lower_bound=bound, placement=placement, rel=rel, held=held)
        for basis, bounds in DEFAULT_BOUNDS.items()
        for (name, placement, rel, held), bound in zip(_TIERS, bounds, strict=True)
    )
    if manager is not None and manager.pk is not None:
        Membership.objects.create(project=project, user_id=manager.pk, role=Role.MANAGER)
    return project
