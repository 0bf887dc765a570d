"""What a match run did, in words. The rest of its page is in linker.reports.match_page."""

from __future__ import annotations

from linker.engine.candidates.registry import label_of
from linker.engine.params import Mode
from linker.engine.ranking.rankers.registry import RANKERS
from linker.matching.eligibility import Ineligibility, IneligibleReason
from linker.matching.report_types import LeftOut, MatchReport, ReceivedReport, TierBound
from linker.models import Basis
from linker.pages.languages import language_name
from linker.reports.params import levels_up
from linker.reports.retier import BELOW, tier_rows
from linker.reports.table import Table, plain
from linker.runs.reports import ReportKind, Row
from linker.wording import are, count, listed, was

MODES = {Mode.BEST: "greedy", Mode.EQUAL: "round robin", Mode.OPTIMAL: "highest total"}


def reason_words(left_out: LeftOut) -> str:
    """Why pages were left out, such as "home page as donor"."""
    if left_out.reason is None:
        return "other reasons"
    if left_out.reason is IneligibleReason.PARAMETER_URL:
        return "addresses with a query"
    return Ineligibility(left_out.reason, left_out.side, left_out.role).words


def against_best_first(difference: float, share: str = "") -> str:
    """What a way of allocating the links came to, compared with greedy allocation; `share` comes after the number."""
    if not difference:
        return "the same"
    return f"{abs(difference):,.4g}{share} {'more' if difference > 0 else 'less'}"


def _left_out_rows(left_out: tuple[LeftOut, ...]) -> list[Row]:
    return [(reason_words(one), f"{one.pages:,}") for one in left_out]


def _bound_rows(bounds: tuple[TierBound, ...]) -> list[Row]:
    return [(one.name.lower(), plain(one.bound)) for one in bounds]


TABLE = Table(
    labels={
        "edges": "Links proposed",
        "refreshed": "Proposed before",
        "stale": "No longer proposed",
        "other_vectors": "Of these, made with other vectors",
        "sensitive": "Sensitive, needs human review",
        "languages": "Pages by language",
        "ranked_why": "Why",
        "donors_with_text": "Donors with a text",
        "pages_left_out": "Pages left out as donor, as acceptor or as both",
        "link_languages": "Pages in different languages may be linked",
        "other_language": "Pairs not linked, because in different languages",
        "copies": "Copies and variants",
        "groups": "Groups of near-copies, variants or translations",
        "copy_pages": "Near-copies",
        "variant_pages": "Variants",
        "translation_pages": "Translations",
        "pages_held_out": "Pages that get no suggestions, because another page of their group does",
        "pairs_held_out": "Pairs not suggested, because another page of the group is the better acceptor",
        "pairs": "Pairs compared",
        "candidates": "Pairs above the lowest score",
        "donors_with_full_pool": "Donors with more candidates than were kept",
        "basis": "Tier basis",
        "bounds": "Lower bounds of tiers",
        "below_tiers": f"Tiers: {BELOW}",
        "mode": "Method",
        "best_first": "Total score of greedy allocation",
        "against_best_first": "Compared with greedy allocation",
        "for_need": "Links allocated to under-linked pages first",
        "donors_with_less_room": "Donors with less room because of existing links",
        "donors_without_room": "Donors without any room",
        "without_place": "Links that could not be placed",
        "lost": "Score of the links that could not be placed",
        "generators": "Candidates come from",
        "held_back": "Held back, because below the tiers that the queue shows",
        "threshold": "Lowest score",
    },
    keys={"generators": label_of},
    values={
        "languages": lambda pages: [(language_name(code), f"{number:,}") for code, number in pages.items()],
        "ranking": lambda name: RANKERS[name].short if name in RANKERS else name,
        "scope": lambda scope: "the whole site" if scope.levels_up is None else levels_up(scope.levels_up),
        "left_out": _left_out_rows,
        "basis": lambda basis: str(Basis(basis).label).lower(),
        "bounds": _bound_rows,
        "tiers": tier_rows,
        "mode": MODES.__getitem__,
        "against_best_first": against_best_first,
        "bands": lambda bands: f"{len(bands):,} entries" if bands else "",
    },
    hidden=["histogram", "crawl_trusted", "advice"],
)


def sentences(report: MatchReport) -> list[str]:
    return [
        _proposed(report),
        _held_back(report.below_tiers or 0 if report.held_back is None else report.held_back),
        _sensitive(report.sensitive or 0),
        _received(report.under_linked, "under-linked acceptor", "with at most two body links"),
        _received(report.orphans, "orphan acceptor", "without any body link"),
        f"{count(report.stale, 'earlier suggestion')} {are(report.stale)} no longer proposed." if report.stale else "",
        _other_languages(report.other_language or 0),
        _without_texts(report),
        report.advice or "",
        _other_vectors(report.other_vectors or 0),
        _pages_left_out(report),
    ]


def _proposed(report: MatchReport) -> str:
    edges, kinds = report.edges or 0, [(report.new, "new"), (report.refreshed, "proposed before")]
    sides = [(report.donors, "donor"), (report.acceptors, "acceptor")]
    between = " and ".join(count(pages, word) for pages, word in sides if pages is not None)
    return (
        f"{count(edges, 'link')} {are(edges)} proposed{f' between {between}' if between else ''}"
        f"{listed([f'{links:,} {words}' for links, words in kinds if links])}."
    )


def _held_back(links: int) -> str:
    if not links:
        return ""
    return (
        f"{links:,} of them {'scores' if links == 1 else 'score'} below the tiers that the queue shows and "
        f"{are(links)} held back."
    )


def _sensitive(links: int) -> str:
    if not links:
        return ""
    one = links == 1
    return (
        f"{links:,} {'concerns' if one else 'concern'} sensitive pages and {'needs' if one else 'need'} human review."
    )


def _other_vectors(links: int) -> str:
    if not links:
        return ""
    return (
        f"{count(links, 'of them was', 'of them were')} made with another set of vectors, whose similarities cannot be "
        "compared with these. Match all pages to get suggestions for the whole site again."
    )


def _pages_left_out(report: MatchReport) -> str:
    pages = report.pages_left_out
    if pages is None:
        pages = sum(one.pages for one in report.left_out or ())
    return f"{count(pages, 'page')} took no part as donor, as acceptor or as both; the table says why." if pages else ""


def _without_texts(report: MatchReport) -> str:
    """What a crawl with the main texts would add; empty where at least half of the donors have one."""
    donors, texts = report.donors or 0, report.donors_with_text
    if texts is None or 2 * texts >= donors:
        return ""
    have = f"Only {texts:,} of the {donors:,} donors have" if texts else "No donor has"
    return (
        f"{have} a text. Without one, links are proposed beside the text, with the acceptor’s name as "
        "anchor. To get links in sentences too, crawl the site again with its main text (a custom extraction named "
        "Content 1), as the README describes under “Your own crawl in five minutes”."
    )


def _other_languages(pairs: int) -> str:
    """How many pairs the languages kept apart."""
    if not pairs:
        return ""
    return (
        f"{count(pairs, 'pair')} {was(pairs)} left out because the two pages are in different languages. The "
        "settings can allow such links."
    )


# Why pages that lack links got none that the queue shows: of one page and of several, by the field that counts them.
_WHY_NOT = {
    "held_back": 2 * ("got suggestions that are held back",),
    "no_room": 2 * ("found no room at likely donors",),
    "too_unlikely": ("has no sufficiently likely pair", "have no sufficiently likely pair"),
    "linked": (
        "is already linked beside the text by its likely donors",
        "are already linked beside the text by their likely donors",
    ),
    "not_found": (
        "was not found for any donor, or scores below the run’s minimum",
        "were not found for any donor, or score below the run’s minimum",
    ),
}


def _received(got: ReceivedReport | None, what: str, meaning: str) -> str:
    """How many pages that lack links got a suggestion, and why the others did not; empty where there are none."""
    if got is None or not got.pages:
        return ""
    counts = {name: getattr(got, name) for name in _WHY_NOT if getattr(got, name)}
    why = [f"{number:,} {_WHY_NOT[name][number > 1]}" for name, number in counts.items()]
    if not got.shown:
        said = f"None of {got.pages:,} {what}s, {meaning}, got a"
        if got.pages == 1:
            said = f"The only {what}, {meaning}, got no"
        return f"{said} suggestion that the queue shows{': ' + ', '.join(why) if why else ''}."
    rest, others = got.pages - got.shown, ""
    if why and rest:
        [first, *_] = counts
        others = f" The other {_WHY_NOT[first][0]}." if rest == 1 else f" Of the other {rest:,}, {', '.join(why)}."
    return (
        f"Of {count(got.pages, what)}, {meaning}, {got.shown:,} got a suggestion that the queue shows, "
        f"{got.in_text:,} of them in a text.{others}"
    )


MATCH = ReportKind(MatchReport, sentences, TABLE.rows)
