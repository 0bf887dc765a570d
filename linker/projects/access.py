"""Who may see what. Every view starts here.

An outsider gets 404, so that a project's name is not given away; a member whose role is too low gets 403.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from linker.models import Membership, Role
from linker.wording import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

# An expert may do what an editor may; for which pages they may approve, linker.projects.experts says.
_RANK = {Role.VIEWER: 0, Role.EDITOR: 1, Role.EXPERT: 1, Role.MANAGER: 2}


def has_role(membership: Membership, needs: Role) -> bool:
    return _RANK[Role(membership.role)] >= _RANK[needs]


def roles_of(needs: Role) -> list[Role]:
    """The roles that may do what `needs` may."""
    return [role for role in Role if _RANK[role] >= _RANK[needs]]


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
        raise PermissionDenied(
            _("This needs the role of %(role)s in %(project)s")
            % {"role": within(needs.label), "project": membership.project.name}
        )
    return membership


def posts(back_to: str) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """For views that only take what is posted: a member who opens the address is led to the page `back_to`.

    Without a script a refused form is answered at this very address, so that it is in the address bar.
    """

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, *args: object, **kwargs: object) -> HttpResponse:
            if request.method == "POST":
                return view(request, slug, *args, **kwargs)
            if request.method not in ("GET", "HEAD"):
                return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
            member(request, slug)
            return redirect(back_to, slug)

        return guarded

    return decorate
