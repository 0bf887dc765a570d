"""Who may see what. Every view starts here.

An outsider gets 404, so that a project's name is not given away; a member whose role is too low gets 403.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import Http404

from linker.models import Membership, Role

if TYPE_CHECKING:
    from django.http import HttpRequest

_RANK = {Role.VIEWER: 0, Role.EDITOR: 1, Role.MANAGER: 2}


def has_role(membership: Membership, needs: Role) -> bool:
    return _RANK[Role(membership.role)] >= _RANK[needs]


def member(request: HttpRequest, slug: str, needs: Role = Role.VIEWER) -> Membership:
    """The signed-in user's membership of the project, with the project loaded.

    Raises Http404 where there is none (superusers included), PermissionDenied where the role is below `needs`.
    """
    membership = (
        Membership.objects.select_related("project").filter(project__slug=slug, user=request.user.pk or 0).first()
    )
    if membership is None:
        raise Http404("No such project")
    if not has_role(membership, needs):
        raise PermissionDenied(f"This needs the role of {needs.label.lower()} in {membership.project.name}")
    return membership
