"""The words on a card of the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from linker import wording
from linker.engine.anchors.source_labels import WORDS
from linker.engine.text.names import page_name
from linker.models.querysets import LIVE_STATUS, MISSING, holds
from review.models import Where

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Page, Replacement

WARNING_NAMES = {
    "address": _("Address as anchor"),
    "banned": _("Banned words"),
    "generic": _("Generic words"),
    "misleading": _("Another page's name"),
    "unrelated": _("Unrelated words"),
    "too_long": _("Long anchor"),
    "identical": _("Anchor used %(times)d times"),
    "donor_full": _("Donor full"),
    "acceptor_full": _("Acceptor full"),
}
# From which share of the run's links on a link is called what. Words are read off the run and never off a fixed score:
# another model, or another way to rank, spreads its scores elsewhere.
QUANTILE_WORDS = (
    (0.9, _("Among the best 10% of this run’s suggestions")),
    (0.75, _("Among the best 25% of this run’s suggestions")),
    (0.5, _("In the upper half of this run’s suggestions")),
    (0.0, _("In the lower half of this run’s suggestions")),
)
# Where a link goes, in the middle of a sentence; Where has the words that stand alone.
GOES = {
    Where.TEXT: _("in the text"),
    Where.LINE: _("on a line of its own"),
    Where.BESIDE: _("in the list at the end"),
    Where.GAP: _("as a content gap"),
}
# What a card of a link is labelled with that has no words in the text which it belongs in.
PLACES_OF_GAPS = {
    Where.LINE: _("A line of its own: no words of the text fit well"),
    Where.BESIDE: _("In the list at the end: no words of the text fit well"),
    Where.GAP: _("Content gap: no words of the text fit well"),
}
# Why the run does not propose a link any more, by whether the site has the link where this one would stand.
STALE = {
    False: _("The newest run no longer proposes this link."),
    True: _("The donor has this link already where its tier would put it, so it is not proposed."),
}
# That a page of the link is no page any more, or that the newest import does not hold it; the donor's, the acceptor's.
GONE = {
    "merged": (_("The donor was merged into another page."), _("The acceptor was merged into another page.")),
    "redirected": (_("The donor redirects to another page."), _("The acceptor redirects to another page.")),
    "removed": (_("The donor was removed from the site."), _("The acceptor was removed from the site.")),
    "missing": (
        _("The newest import no longer holds the donor."),
        _("The newest import no longer holds the acceptor."),
    ),
}
HINTS = {
    "linked": _(
        "The text has these words only inside another link, and no others that fit well. “Where” shows the place "
        "that the project’s settings chose; you can choose another."
    ),
    "beside": _(
        "The text has no words that fit well. “Where” shows the place that the project’s settings chose; you can "
        "choose another."
    ),
    "named": _(
        "The text has “%(words)s”, but a link on these words is less likely to be approved. “Where” shows the place "
        "that the project’s settings chose; you can choose another."
    ),
    "gap": _("Write the sentence with the words of the link in it, now or later, or put the link elsewhere."),
    "copy": _("Write the sentence, or take an anchor that stands in the text."),
}
FOR_RUNS_ALONE = ("traits",)  # numbers that the next match learns from and that say nothing to a person
# What the numbers behind a suggestion are called; any other is called as its feature.
MEASURES = {
    "cosine": _("alike by meaning"),
    "similarity": _("alike by meaning"),
    "words": _("alike by words"),
    "share": _("of the phrase's links lead here"),
    "keyness": _("of the phrase's mentions are links"),
    "named": _("how wholly it is named"),
    "times": _("mentions in the text"),
    "neighbour_links": _("of the nearest pages link to it"),
    "similar_linkers": _("of similar linkers link to it"),
    "cocited": _("linked together with it"),
    "category_links": _("of its category link to it"),
    "links_back": _("links back"),
    "level": _("levels up the tree"),
    "stated": _("probability before this project’s decisions"),
}


def source_in_words(source: str, impressions: int | None = None) -> str:
    """ "Search query, 1,200 impressions", "H1" ...; a source without words of its own is said as it is stored."""
    words = gettext(WORDS[source]) if source in WORDS else source
    if impressions is None:
        return words
    said = {"source": words, "impressions": wording.number(impressions)}
    return (
        ngettext("%(source)s, %(impressions)s impression", "%(source)s, %(impressions)s impressions", impressions)
        % said
    )


def name_of(page: Page) -> str:
    """What a reader would call a page; without a title its address."""
    return page_name(page.title, page.h1) or page.url


def level_in_words(edge: CandidateEdge) -> str:
    """How far up the tree the pair was found."""
    if edge.level == 0:
        return gettext("same category")
    if edge.block is None:
        return gettext("whole site")
    return ngettext("%(levels)d level up", "%(levels)d levels up", edge.level) % {"levels": edge.level}


def authority_in_words(edge: CandidateEdge) -> str:
    """How the donor ranks among the site's pages by authority, with the number of the import where one gave it."""
    if edge.authority is None:
        return ""
    imported = edge.source.authority
    number = gettext("PageRank")
    if imported is not None:
        places = len(f"{imported:.2f}".rstrip("0").partition(".")[2])
        number = wording.decimal(imported, places)
    # The rank first: where the line is cut, what is left of it still says something.
    if edge.authority >= 0.5:
        said, share = gettext("top %(percent)d%% by authority (%(authority)s)"), 1 - edge.authority
    else:
        said, share = gettext("lower %(percent)d%% by authority (%(authority)s)"), edge.authority
    return said % {"authority": number, "percent": max(1, round(100 * share))}


def replaces_in_words(found: Replacement) -> tuple[str, str]:
    """Which released link a suggestion would take the place of; and how probable both are."""
    link, published = found.replaced, found.replaced.published
    said = gettext("Would replace the link to %(page)s (“%(words)s”), released on %(day)s.") % {
        "page": name_of(link.target),
        "words": published.anchor,
        "day": wording.day_in_words(localtime(published.released_at)),
    }
    how = gettext("Probability: %(old)s → %(new)s.") % {"old": percent(found.old), "new": percent(found.new)}
    return said, how


def gone_in_words(edge: CandidateEdge) -> list[str]:
    """A sentence for each of the link's pages that is gone."""
    said = []
    for at, page in enumerate((edge.source, edge.target)):
        if not holds(LIVE_STATUS, page):
            said.append(str(GONE[page.status][at]))
        elif holds(MISSING, page):
            said.append(str(GONE["missing"][at]))
    return said


def percent(share: float) -> str:
    """In whole percent; what is neither impossible nor certain is not rounded to it."""
    if 0.0 < share < 0.01:
        return "<" + wording.percent(0.01)
    if 0.99 < share < 1.0:
        return ">" + wording.percent(0.99)
    return wording.percent(share)
