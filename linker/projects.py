"""Making a project, with the policies every project starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from linker.models import Membership, Placement, Project, Rel, Role, Tier

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

DEFAULT_TIERS = (
    {"name": "Inline", "lower_bound": 0.80, "placement": Placement.INLINE, "rel": Rel.FOLLOW},
    {"name": "Related", "lower_bound": 0.65, "placement": Placement.RELATED, "rel": Rel.NOFOLLOW},
    {
        "name": "Reserve",
        "lower_bound": 0.50,
        "placement": Placement.RELATED,
        "rel": Rel.NOFOLLOW,
        "held": True,
    },
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
    project.save()
    Tier.objects.bulk_create(Tier(project=project, **tier) for tier in DEFAULT_TIERS)
    if manager is not None and manager.pk is not None:
        Membership.objects.create(project=project, user_id=manager.pk, role=Role.MANAGER)
    return project
