"""What a match run did, in words. The rest of its page is in linker.reports.match_page."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext

from linker.engine.candidates.registry import label_of
from linker.engine.params import Mode
from linker.engine.ranking.rankers.registry import RANKERS
from linker.engine.roles.policy import NOUNS
from linker.matching.eligibility import REASON_WORDS, IneligibleReason
from linker.matching.report_types import LeftOut, MatchReport, TierBound
from linker.models import Basis, Side
from linker.pages.languages import advice_in_words, language_name
from linker.reports.params import levels_up
from linker.reports.received import received_by_orphans, received_by_under_linked
from linker.reports.retier import tier_rows
from linker.reports.table import Table, plain
from linker.runs.reports import ReportKind, Row
from linker.wording import joined, listed, number, within

MODES = {
    Mode.BEST: gettext_noop("greedy"),
    Mode.EQUAL: gettext_noop("round robin"),
    Mode.OPTIMAL: gettext_noop("highest total"),
}


def reason_words(left_out: LeftOut) -> str:
    """Why pages were left out, such as "home page as donor"."""
    reason, side = left_out.reason, left_out.side
    if reason is None:
        return _("other reasons")
    if reason is IneligibleReason.PARAMETER_URL:
        return _("addresses with a query")
    what = _(NOUNS[left_out.role] if left_out.role else REASON_WORDS[reason])
    if reason is IneligibleReason.NOT_INDEXABLE or side is None:
        return what
    return (_("%(what)s as donor") if side == Side.DONOR else _("%(what)s as acceptor")) % {"what": what}


def figure(value: float) -> str:
    """A total or a difference, in four digits."""
    return number_format(f"{value:.4g}", force_grouping=True)


def against_best_first(difference: float, share: str = "") -> str:
    """What a way of allocating the links came to, compared with greedy allocation; `share` comes after the number."""
    if not difference:
        return _("the same")
    said = _("%(difference)s more") if difference > 0 else _("%(difference)s less")
    return said % {"difference": figure(abs(difference)) + share}


def _left_out_rows(left_out: tuple[LeftOut, ...]) -> list[Row]:
    return [(reason_words(one), number(one.pages)) for one in left_out]


def _bound_rows(bounds: tuple[TierBound, ...]) -> list[Row]:
    return [(within(one.name), plain(one.bound)) for one in bounds]


TABLE = Table(
    labels={
        "edges": gettext_lazy("Links proposed"),
        "refreshed": gettext_lazy("Proposed before"),
        "stale": gettext_lazy("No longer proposed"),
        "other_vectors": gettext_lazy("Of these, made with other vectors"),
        "sensitive": gettext_lazy("Sensitive, needs human review"),
        "languages": gettext_lazy("Pages by language"),
        "ranked_why": gettext_lazy("Why"),
        "donors_with_text": gettext_lazy("Donors with a text"),
        "pages_left_out": gettext_lazy("Pages left out as donor, as acceptor or as both"),
        "link_languages": gettext_lazy("Pages in different languages may be linked"),
        "other_language": gettext_lazy("Pairs not linked, because in different languages"),
        "copies": gettext_lazy("Copies and variants"),
        "groups": gettext_lazy("Groups of near-copies, variants or translations"),
        "copy_pages": gettext_lazy("Near-copies"),
        "variant_pages": gettext_lazy("Variants"),
        "translation_pages": gettext_lazy("Translations"),
        "pages_held_out": gettext_lazy("Pages that get no suggestions, because another page of their group does"),
        "pairs_held_out": gettext_lazy("Pairs not suggested, because another page of the group is the better acceptor"),
        "pairs": gettext_lazy("Pairs compared"),
        "candidates": gettext_lazy("Pairs above the lowest score"),
        "donors_with_full_pool": gettext_lazy("Donors with more candidates than were kept"),
        "basis": gettext_lazy("Tier basis"),
        "bounds": gettext_lazy("Lower bounds of tiers"),
        "below_tiers": gettext_lazy("Tiers: below every tier"),
        "mode": gettext_lazy("Method"),
        "best_first": gettext_lazy("Total score of greedy allocation"),
        "against_best_first": gettext_lazy("Compared with greedy allocation"),
        "for_need": gettext_lazy("Links allocated to under-linked pages first"),
        "donors_with_less_room": gettext_lazy("Donors with less room because of existing links"),
        "donors_without_room": gettext_lazy("Donors without any room"),
        "without_place": gettext_lazy("Links that could not be placed"),
        "lost": gettext_lazy("Score of the links that could not be placed"),
        "generators": gettext_lazy("Candidates come from"),
        "held_back": gettext_lazy("Held back, because below the tiers that the queue shows"),
        "threshold": gettext_lazy("Lowest score"),
        "new": gettext_lazy("New"),
        "ranking": gettext_lazy("Ranking"),
        "scope": gettext_lazy("Scope"),
        "donors": gettext_lazy("Donors"),
        "acceptors": gettext_lazy("Acceptors"),
        "left_out": gettext_lazy("Left out"),
        "seconds": gettext_lazy("Seconds"),
        "blocks": gettext_lazy("Blocks"),
        "batches": gettext_lazy("Batches"),
        "placements": gettext_lazy("Placements"),
        "tiers": gettext_lazy("Tiers"),
        "allocation": gettext_lazy("Allocation"),
        "approval": gettext_lazy("Approval"),
        "target_cap": gettext_lazy("Target cap"),
        "total": gettext_lazy("Total"),
        "gaps_with_paragraph": gettext_lazy("Gaps with paragraph"),
        "orphans": gettext_lazy("Orphans"),
        "under_linked": gettext_lazy("Under linked"),
        "pages": gettext_lazy("Pages"),
    },
    keys={"generators": lambda name: _(label_of(name))},
    values={
        "languages": lambda pages: [(language_name(code), number(found)) for code, found in pages.items()],
        "ranking": lambda name: _(RANKERS[name].short) if name in RANKERS else name,
        "scope": lambda scope: _("the whole site") if scope.levels_up is None else levels_up(scope.levels_up),
        "left_out": _left_out_rows,
        "basis": lambda basis: within(Basis(basis).label),
        "bounds": _bound_rows,
        "tiers": tier_rows,
        "mode": lambda mode: _(MODES[mode]),
        "against_best_first": against_best_first,
        "bands": lambda bands: _("%(bands)s entries") % {"bands": number(len(bands))} if bands else "",
    },
    hidden=["histogram", "crawl_trusted", "advice", "kinds", "lowest", "queue", "sources", "of_pages"],
)


def sentences(report: MatchReport) -> list[str]:
    return [
        _proposed(report),
        _held_back(report.below_tiers or 0 if report.held_back is None else report.held_back),
        _sensitive(report.sensitive or 0),
        received_by_under_linked(report.under_linked),
        received_by_orphans(report.orphans),
        _stale(report.stale or 0),
        _other_languages(report.other_language or 0),
        _without_texts(report),
        advice_in_words(report.advice or ""),
        _other_vectors(report.other_vectors or 0),
        _pages_left_out(report),
        _("One worker compared the pages: they are too few to share.") if report.batches == 1 else "",
    ]


def _proposed(report: MatchReport) -> str:
    edges, between = report.edges or 0, []
    if (donors := report.donors) is not None:
        between.append(ngettext("%(pages)s donor", "%(pages)s donors", donors) % {"pages": number(donors)})
    if (acceptors := report.acceptors) is not None:
        between.append(ngettext("%(pages)s acceptor", "%(pages)s acceptors", acceptors) % {"pages": number(acceptors)})
    said = ngettext("%(links)s link is proposed%(kinds)s.", "%(links)s links are proposed%(kinds)s.", edges)
    if between:
        said = ngettext(
            "%(links)s link is proposed between %(pages)s%(kinds)s.",
            "%(links)s links are proposed between %(pages)s%(kinds)s.",
            edges,
        )
    kinds = [(report.new, _("%(links)s new")), (report.refreshed, _("%(links)s proposed before"))]
    named = listed([words % {"links": number(links)} for links, words in kinds if links])
    return said % {"links": number(edges), "pages": joined(between), "kinds": named}


def _held_back(links: int) -> str:
    said = ngettext(
        "%(links)s of them scores below the tiers that the queue shows and is held back.",
        "%(links)s of them score below the tiers that the queue shows and are held back.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _sensitive(links: int) -> str:
    said = ngettext(
        "%(links)s concerns sensitive pages and needs human review.",
        "%(links)s concern sensitive pages and need human review.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _stale(links: int) -> str:
    said = ngettext(
        "%(links)s earlier suggestion is no longer proposed.",
        "%(links)s earlier suggestions are no longer proposed.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _other_vectors(links: int) -> str:
    said = ngettext(
        "%(links)s of them was made with another set of vectors, whose similarities cannot be compared with these. "
        "Match all pages to get suggestions for the whole site again.",
        "%(links)s of them were made with another set of vectors, whose similarities cannot be compared with these. "
        "Match all pages to get suggestions for the whole site again.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _pages_left_out(report: MatchReport) -> str:
    pages = report.pages_left_out
    if pages is None:
        pages = sum(one.pages for one in report.left_out or ())
    said = ngettext(
        "%(pages)s page took no part as donor, as acceptor or as both; the table says why.",
        "%(pages)s pages took no part as donor, as acceptor or as both; the table says why.",
        pages,
    )
    return said % {"pages": number(pages)} if pages else ""


def _without_texts(report: MatchReport) -> str:
    """What a crawl with the main texts would add; empty where at least half of the donors have one."""
    donors, texts = report.donors or 0, report.donors_with_text
    if texts is None or 2 * texts >= donors:
        return ""
    have = _("No donor has a text.")
    if texts:
        have = _("Only %(texts)s of the %(donors)s donors have a text.")
    more = _(
        "Without one, links are proposed for the list at the end, with the acceptor’s name as anchor. To get links in "
        "sentences too, crawl the site again with its main text (a custom extraction named Content 1), as the README "
        "describes under “Your own crawl in five minutes”."
    )
    return f"{have % {'texts': number(texts), 'donors': number(donors)}} {more}"


def _other_languages(pairs: int) -> str:
    """How many pairs the languages kept apart."""
    said = ngettext(
        "%(pairs)s pair was left out because the two pages are in different languages. The settings can allow such "
        "links.",
        "%(pairs)s pairs were left out because the two pages are in different languages. The settings can allow such "
        "links.",
        pairs,
    )
    return said % {"pairs": number(pairs)} if pairs else ""


MATCH = ReportKind(MatchReport, sentences, TABLE.rows)
