"""Filters that are kept under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext as _

from linker.errors import UserError
from review.models import SavedFilter

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import Project
    from review.queue.filters import QueueFilter

MOST = 20  # of one person in a project


def saved_filters(project: Project, user: User) -> list[SavedFilter]:
    """The user's own and those that others share, by name."""
    return list(SavedFilter.objects.filter(Q(owner=user) | Q(shared=True), project=project).select_related("owner"))


def save_filter(project: Project, user: User, name: str, chosen: QueueFilter, *, shared: bool) -> SavedFilter:
    """Keeps a filter; one of the user's with the same name is replaced. Raises UserError where there are too many."""
    own = SavedFilter.objects.filter(project=project, owner=user)
    if not own.filter(name=name).exists() and own.count() >= MOST:
        raise UserError(_("You have %(most)d saved filters, which is the most. Remove one first.") % {"most": MOST})
    kept, _is_new = own.update_or_create(
        project=project, owner=user, name=name, defaults={"query": chosen.to_query(), "shared": shared}
    )
    return kept
