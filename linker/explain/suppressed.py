"""What editors have ruled out of a page or a pair, by their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from linker.explain.findings import Finding
from linker.explain.wording import day_text, quoted
from linker.models import Category, Reach, Side, SuppressedKind, Suppression
from linker.models.querysets import UNDECIDED, holds
from linker.models.subtrees import above
from linker.models.suppression import IN_FORCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet

    from linker.explain.context import WhyNotContext
    from linker.explain.findings import Link
    from linker.models import CandidateEdge, Page

AGAIN = gettext_noop("Allow it again in the list of what is suppressed, and match again.")
MOST_WORDS = 5  # that are named


def said_full(context: WhyNotContext, page: Page) -> Finding:
    """That an editor said that the donor takes no more links."""
    found = _in_force(context, SuppressedKind.PAGE).filter(source=page).first()
    text = _("It takes no more links.")
    if found is not None:
        text = _("%(user)s said on %(day)s: it takes no more links.") % _who(found)
    return Finding("suppressed", text, _(AGAIN), listed(context, "page"), Side.DONOR)


def suppressed_pair(
    context: WhyNotContext, donor: Page, acceptor: Page, edge: CandidateEdge | None
) -> Iterator[Finding]:
    """That the acceptor is not suggested from the donor's section, and which words are ruled out for it. Where the
    pair's suggestion is open to who asks, nothing that a decision on it has ruled out."""
    sections = above(donor.category) if donor.category is not None else Category.objects.none()
    own = Q(edge=edge.pk) if edge is not None and holds(UNDECIDED, edge) else Q(pk=None)
    of_section = _in_force(context, SuppressedKind.SECTION).filter(~own, target=acceptor, section__in=sections)
    for found in of_section.select_related("section")[:1]:
        text = _("%(user)s said on %(day)s: the acceptor is not suggested from %(section)s.")
        yield Finding(
            "suppressed", text % (_who(found) | {"section": found.section}), _(AGAIN), listed(context, "section")
        )
    words = list(_in_force(context, SuppressedKind.WORDS).filter(~own, target=acceptor)[:MOST_WORDS])
    if words:
        said = ", ".join(quoted(found.anchor) for found in words)
        text = _("Editors have ruled out words for links to the acceptor: %(words)s.") % {"words": said}
        yield Finding("suppressed-words", text, link=listed(context, "words"), blocking=False)


def ended(edge: CandidateEdge) -> bool:
    """Whether what the rejection of the pair ruled out has ended, or somebody has allowed it again."""
    rows = Suppression.objects.filter(edge=edge)
    return rows.exists() and not rows.filter(IN_FORCE).exists()


def until_text(edge: CandidateEdge) -> str:
    """For how long the rejected pair is not suggested, in a sentence."""
    found = Suppression.objects.filter(IN_FORCE, edge=edge).order_by("-pk").first()
    if found is not None and found.reach == Reach.CHANGED:
        return _("The pair is not suggested again until the text of either page changes.")
    if found is not None and found.ends_at is not None:
        return _("The pair is not suggested again before %(day)s.") % {"day": day_text(found.ends_at)}
    return _("Rejected pairs are not suggested again.")


def _who(found: Suppression) -> dict[str, Any]:
    return {"user": found.made_by.get_username(), "day": day_text(found.made_at)}


def _in_force(context: WhyNotContext, kind: SuppressedKind) -> QuerySet[Suppression]:
    rows = Suppression.objects.filter(IN_FORCE, project=context.project, kind=kind)
    return rows.select_related("made_by").order_by("-pk")


def listed(context: WhyNotContext, kind: str) -> Link:
    return context.link(_("What is suppressed"), "suppressed", kind=kind)
