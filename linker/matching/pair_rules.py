"""Why a pair that a run found cannot become a link, whatever room its pages have.

Its score is too low; the safety classes of its pages may not be linked; a near-copy, variant or translation takes its
place; its donor links to the acceptor beside the text already; or the donor, a product, has enough other products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.allocation.allocate import Reason, beyond
from linker.engine.params import Ranking
from linker.engine.roles.policy import PageRole
from linker.matching.copies import load_twins
from linker.matching.pair_lookup import PairLookup
from linker.matching.run_tiers import RunTiers
from linker.matching.safety import barred_rows
from linker.models import Basis, Placement
from linker.models.linked import has_links_beside
from linker.pages.roles import pages_that
from linker.storage.copy import copy_out
from linker.storage.pairs import linked_beside_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.matching.accepted_links import AcceptedLinks
    from linker.models import Project

MAX_ALTERNATIVE_PRODUCTS = MAX_COMPLEMENTARY_PRODUCTS = 5


@dataclass(frozen=True)
class PairRules:
    """`reason` int8 [n]: why a row cannot become a link, 0 where it can; `text_alone` bool [n]: it can, in the donor's
    text alone, since the donor links to it beside its text already."""

    reason: NDArray[np.int8]
    text_alone: NDArray[np.bool_]


def pair_rules(
    project: Project, rows: NDArray[Any], ranking: str, above: NDArray[np.bool_], accepted: AcceptedLinks
) -> PairRules:
    """The rules for rows of FOUND. `above` bool [n]: the row's score reaches the run's lowest."""
    reason = np.where(above, 0, Reason.BELOW_FLOOR).astype(np.int8)
    reason[_copies_given_elsewhere(project, rows, above, accepted)] = Reason.SAME_GROUP
    source, target = rows["source"][above].astype(np.int64), rows["target"][above].astype(np.int64)
    reason[np.flatnonzero(above)[barred_rows(project, source, target)]] = Reason.BARRED
    text_alone = _text_alone(project, rows, above, accepted, reason)
    if ranking != Ranking.COSINE:  # which looks for alternatives alone, in a product's own category
        reason[_too_many_products(project, rows, reason == 0, accepted)] = Reason.PRODUCTS_FULL
        text_alone &= reason == 0
    return PairRules(reason, text_alone)


def _text_alone(
    project: Project,
    rows: NDArray[Any],
    above: NDArray[np.bool_],
    accepted: AcceptedLinks,
    reason: NDArray[np.int8],
) -> NDArray[np.bool_]:
    """Which rows may become links in the text alone, bool [n]; those that may not even do that get a `reason`.

    Where the donor links to it beside its text already, its tier has to want it in the text, and there must be one.
    """
    text_alone = np.zeros(len(rows), dtype=np.bool_)
    if not has_links_beside(project):
        return text_alone
    pairs = PairLookup(rows)
    asked = np.flatnonzero(np.isin(rows["source"], rows["source"][above]))
    text_alone[asked] = linked_beside_text(rows["source"][asked], rows["target"][asked])
    on_site = text_alone & pairs.among(accepted.on_site)
    text_alone &= ~pairs.among(accepted.waiting) & ~on_site
    text_alone &= reason == 0
    linked = on_site & (reason == 0)
    linked[text_alone] = ~_fits_text(project, rows, above, np.flatnonzero(text_alone))
    reason[linked] = Reason.LINKED_BESIDE
    return text_alone & ~linked


def _fits_text(
    project: Project, rows: NDArray[Any], above: NDArray[np.bool_], places: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether the rows at some places may come into a text: their tier wants it, as far as that is known before the
    links are allocated, and the donor has one."""
    found = rows[places]
    tiers = RunTiers(project, rows["probability"][above])
    fits = np.ones(len(found), dtype=np.bool_)
    if tiers.basis != Basis.QUANTILE:  # which only the links of the whole run tell
        in_text = np.array([False, *(tier.placement == Placement.INLINE for tier in tiers.tiers)])
        fits = in_text[tiers.places(tiers.values(found), tiers.cohorts(found, fits)) + 1]
    donors = np.unique(found["source"][fits])
    with_text = copy_out(
        "SELECT id FROM linker_page WHERE id = ANY(%s) AND body <> ''", [donors.tolist()], [("id", ">i8")]
    )["id"].astype(np.int64)
    return fits & np.isin(found["source"], with_text)


def _copies_given_elsewhere(
    project: Project, rows: NDArray[Any], above: NDArray[np.bool_], accepted: AcceptedLinks
) -> NDArray[np.intp]:
    """Places of the rows above the floor that are no suggestion because of a near-copy, variant or translation: those
    of two pages of one group, and those to a page of whose group another one is the better target for the donor, or
    the target of an accepted link of the donor already."""
    places = np.flatnonzero(above)
    source, target = rows["source"][places].astype(np.int64), rows["target"][places].astype(np.int64)
    links = [np.concatenate(sides) for sides in zip(accepted.waiting, accepted.on_site, strict=True)]
    pages = np.unique(np.concatenate([source, target, links[1]]))
    group = load_twins(project, pages).group
    of_source, of_target = group[np.searchsorted(pages, source)], group[np.searchsorted(pages, target)]
    grouped = np.flatnonzero(of_target >= 0)
    if not len(grouped):
        return grouped
    places, source, target, of_source, of_target = (
        part[grouped] for part in (places, source, target, of_source, of_target)
    )
    of_link = group[np.searchsorted(pages, links[1])]
    is_accepted = PairLookup(rows[places]).among((links[0], links[1]))
    group_has_link = np.isin(_paired(source, of_target), _paired(links[0], of_link)[of_link >= 0])
    order = np.lexsort((target, -rows["score"][places], ~is_accepted, of_target, source))
    is_best = np.empty(len(order), dtype=np.bool_)
    key = _paired(source, of_target)[order]
    is_best[order] = np.concatenate([[True], key[1:] != key[:-1]])
    return places[~is_accepted & ((of_source == of_target) | group_has_link | ~is_best)]


def _paired(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.complex128]:
    """Two numbers as one that can be compared: ids and groups stay far below 2^53."""
    return left + 1j * right


def _too_many_products(
    project: Project, rows: NDArray[Any], possible: NDArray[np.bool_], accepted: AcceptedLinks
) -> NDArray[np.intp]:
    """Places of the `possible` rows, bool [n], between two products that are more than a donor's
    MAX_ALTERNATIVE_PRODUCTS, products of its own category, or MAX_COMPLEMENTARY_PRODUCTS, those of another. One who
    looks at a sofa is served by five others, and by its cover; not by fifteen sofas. Accepted links count first, and
    stay."""
    products = np.array(sorted(pages_that(project, [PageRole.PRODUCT])), dtype=np.int64)
    places = np.flatnonzero(possible & np.isin(rows["source"], products) & np.isin(rows["target"], products))
    if not len(places):
        return places
    known = copy_out(
        "SELECT id, coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%s) ORDER BY id",
        [products.tolist()],
        [("id", ">i8"), ("category", ">i8")],
    )
    pages, category = known["id"].astype(np.int64), known["category"].astype(np.int64)
    source, target = rows["source"][places].astype(np.int64), rows["target"][places].astype(np.int64)
    same = category[np.searchsorted(pages, source)] == category[np.searchsorted(pages, target)]
    pairs = PairLookup(rows[places])
    is_accepted = pairs.among(accepted.waiting) | pairs.among(accepted.on_site)
    score = np.where(is_accepted, np.inf, rows["score"][places])
    too_many = np.zeros(len(places), dtype=np.bool_)
    for kind, most in ((same, MAX_ALTERNATIVE_PRODUCTS), (~same, MAX_COMPLEMENTARY_PRODUCTS)):
        too_many[kind] = beyond(source[kind], score[kind], most)
    return places[too_many & ~is_accepted]
