"""Experts: members who are named for sections of the site. The one home of who may approve for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import Category, ChangeKind, ExpertSection, Membership, Role
from linker.models.subtrees import categories_below, subtrees

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.models import Page, Project
    from linker.projects.members import Actor

MOST = 50  # sections of one expert


def may_approve_for(membership: Membership, pages: Iterable[Page]) -> bool:
    """Whether the member may approve what concerns these pages, such as both ends of a link.

    A manager may for all of them, and an expert where each lies in one of the sections they are named for. Nobody else
    may, and nobody for no pages. Three queries, however many pages there are.
    """
    if membership.role == Role.MANAGER:
        return True
    found = {page.category_id for page in pages}
    categories = {one for one in found if one is not None}
    if membership.role != Role.EXPERT or not categories or categories != found:
        return False
    inside = subtrees(membership.project, _roots(membership)).filter(pk__in=categories)
    return inside.count() == len(categories)


def may_approve_in(membership: Membership) -> set[int] | None:
    """The categories for whose pages the member may approve, for filters of lists; None stands for the whole site,
    pages without a category included."""
    if membership.role == Role.MANAGER:
        return None
    return categories_below(membership.project, _roots(membership)) if membership.role == Role.EXPERT else set()


def _roots(membership: Membership) -> list[int]:
    return list(membership.sections.values_list("category", flat=True))


def sections(membership: Membership) -> list[Category]:
    """What an expert is named for, in the order of the tree."""
    return list(Category.objects.filter(pk__in=_roots(membership)).order_by("path"))


@transaction.atomic
def name_for(project: Project, membership_id: int, category_id: int, *, by: Actor) -> Category:
    """Names an expert for a category and everything below it. Raises UserError where that makes no sense."""
    member = _locked(project, membership_id)
    category = Category.objects.filter(project=project, pk=category_id).first()
    if member is None or category is None:
        raise UserError(_("The expert or the category is gone. Load the page again."))
    if member.role != Role.EXPERT:
        raise UserError(_("Only experts have sections. Make %(user)s an expert first.") % {"user": member.user})
    before = sections(member)
    if category in before:
        raise UserError(_("“%(section)s” is in the list already.") % {"section": category})
    if len(before) >= MOST:
        raise UserError(
            _("%(most)d sections are the most. Choose one that holds several, or remove one.") % {"most": MOST}
        )
    ExpertSection.objects.create(membership=member, category=category)
    _record(member, by, before)
    return category


@transaction.atomic
def take_from(project: Project, membership_id: int, category_id: int, *, by: Actor) -> bool:
    """False where the expert was not named for the category."""
    member = _locked(project, membership_id)
    if member is None:
        return False
    before = sections(member)
    removed, _kinds = ExpertSection.objects.filter(membership=member, category=category_id).delete()
    _record(member, by, before)
    return bool(removed)


def _locked(project: Project, membership_id: int) -> Membership | None:
    found = Membership.objects.select_related("user", "project").filter(project=project, pk=membership_id)
    return found.select_for_update(of=("self",)).first()


def _record(member: Membership, by: Actor, before: list[Category]) -> None:
    values = [{"sections": sorted(map(str, found))} for found in (before, sections(member))]
    audit.record(
        member.project, ChangeKind.MEMBERS, user=by, subject=str(member.user), before=values[0], after=values[1]
    )
