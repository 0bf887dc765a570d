"""What a selection of links is, and why nothing of it leaves, in words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.models import EdgeStatus, Project, RankedBy
from linker.wording import day_in_words, within
from review.models import Operation, PublishedLink, Release
from review.queue.filter_choices import generator_label
from review.queue.filters import ALL, PLACEMENTS, ExportFilter

STATUS_IN_WORDS: dict[str, Any] = {
    EdgeStatus.SUGGESTED: gettext_lazy("suggestions without a decision"),
    EdgeStatus.ACCEPTED: gettext_lazy("accepted links"),
    EdgeStatus.REJECTED: gettext_lazy("rejected links"),
    EdgeStatus.EXPORTED: gettext_lazy("exported links"),
    EdgeStatus.WITHDRAWN: gettext_lazy("withdrawn links"),
}
# Why nothing of such a selection leaves; of any other, because nothing is accepted.
NOTHING: dict[str, Any] = {
    EdgeStatus.SUGGESTED: gettext_lazy("no tier allows suggestions of this selection to be exported without review."),
    EdgeStatus.REJECTED: gettext_lazy("rejected links are never exported."),
    EdgeStatus.EXPORTED: gettext_lazy(
        "these links are already exported, and no change or removal is waiting for a release."
    ),
    EdgeStatus.WITHDRAWN: gettext_lazy(
        "withdrawn links have been removed from the site. Accept them again to export them again."
    ),
}


def nothing(chosen: ExportFilter) -> str:
    """Why nothing leaves."""
    if chosen.status in NOTHING:
        return str(NOTHING[chosen.status])
    if chosen.to_query():
        return _("no link of this selection is accepted and not exported yet.")
    return _("no link is accepted and not exported yet.")


def not_understood(chosen: ExportFilter) -> str:
    return _("the filter has an unknown field or value (%(names)s).") % {"names": ", ".join(chosen.ignored)}


def in_words(chosen: ExportFilter, project: Project) -> list[str]:
    """What the filter narrows down to; empty where it lets everything through."""
    words = [str(STATUS_IN_WORDS[chosen.status])] if chosen.status != ALL else []
    if chosen.tier is not None:
        tier = project.tiers.filter(pk=chosen.tier).first()
        words.append(_("tier %(name)s") % {"name": tier} if tier else _("a deleted tier"))
    if chosen.category is not None:
        category = project.categories.filter(pk=chosen.category).first()
        words.append(_("donors in %(category)s") % {"category": category} if category else _("a deleted category"))
    if chosen.donor is not None:
        donor = project.pages.filter(pk=chosen.donor).first()
        words.append(_("from %(page)s") % {"page": donor} if donor else _("a deleted donor"))
    if chosen.sensitive:
        words.append(within(chosen.sensitive.label))
    if chosen.placement:
        words.append(_("placement: %(where)s") % {"where": within(PLACEMENTS[chosen.placement])})
    if chosen.generator:
        words.append(_("found by “%(label)s”") % {"label": generator_label(chosen.generator)})
    if chosen.ranked_by:
        words.append(_("ranked by %(how)s") % {"how": within(RankedBy(chosen.ranked_by).label)})
    if chosen.probability is not None:
        words.append(_("with a probability of at least %(percent)d%%") % {"percent": chosen.probability})
    if chosen.since is not None:
        words.append(_("new since %(day)s") % {"day": day_in_words(chosen.since)})
    if chosen.text:
        words.append(_("containing “%(text)s”") % {"text": chosen.text})
    return words


def to_do(operation: str, before: tuple[str, str], after: tuple[str, str], out: PublishedLink | None = None) -> str:
    """What is to be done with a link, by its words and rel before and after, and by how it is `out`, where that is
    asked."""
    if operation == Operation.ADD and before[1]:  # it is out already, and was asked for once more
        return _("Add again")
    if operation != Operation.CHANGE:
        return str(Operation(operation).label)
    words, rel = (old != new for old, new in zip(before, after, strict=True))
    if words and rel:
        return _("Change words and rel")
    if words:
        return _("Change words")
    if rel:
        return _("Change rel")
    # Where neither differs, a page has moved, or the site shows something else than what was released.
    return _("Change address") if out is not None and (out.donor_was or out.acceptor_was) else _("Put right")


def made_in_words(release: Release) -> str:
    """How many links a release adds, changes or removes that was just made."""
    numbers = {"release": release.number, "links": release.links, "removed": release.removed}
    if release.removed and release.removed == release.links:
        said = ngettext(
            "Release %(release)d removes %(links)d link.", "Release %(release)d removes %(links)d links.", release.links
        )
        return said % numbers
    said = ngettext(
        "Release %(release)d holds %(links)d link.", "Release %(release)d holds %(links)d links.", release.links
    )
    removals = ngettext("%(removed)d of them is a removal.", "%(removed)d of them are removals.", release.removed)
    return (f"{said} {removals}" if release.removed else said) % numbers


def with_words(release: Release) -> Release:
    """The release with `only`, the words of the filter it was made with."""
    chosen = ExportFilter.from_query({name: str(value) for name, value in release.filters.items()})
    release.only = in_words(chosen, release.project)  # type: ignore[attr-defined]
    return release
