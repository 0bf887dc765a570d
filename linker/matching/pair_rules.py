"""Why pairs that a run found cannot become links, whatever room there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.allocation.allocate import Reason, beyond
from linker.engine.roles.policy import PageRole
from linker.engine.tiers import read_tiers
from linker.matching.copies import load_twins
from linker.models import Basis, Placement, Project, Tier
from linker.models.linked import has_links_beside
from linker.pages.roles import pages_that
from linker.storage import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.matching.accepted_links import Standing


DONORS_READ = 50_000  # whose links beside the text are read at a time


def barred_pairs(
    project: Project, rows: NDArray[Any], above: NDArray[np.bool_], standing: Standing
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Why a row cannot become a link whatever room there is, int8 [n], 0 where it can; and which may in the text alone.

    Where the donor links to it beside its text already, its tier has to want it in the text, and there must be one.
    """
    reason = np.where(above, 0, Reason.BELOW_FLOOR).astype(np.int8)
    reason[_grouped(project, rows, above, standing)] = Reason.SAME_GROUP
    text_alone = np.zeros(len(rows), dtype=np.bool_)
    if not has_links_beside(project):
        return reason, text_alone
    pairs = PairLookup(rows)
    donors = np.unique(rows["source"][above])
    for first in range(0, len(donors), DONORS_READ):
        text_alone |= pairs.among(store.load_linked_beside(donors[first : first + DONORS_READ]))
    there = text_alone & pairs.among(standing.there)
    text_alone &= ~pairs.among(standing.waiting) & ~there
    text_alone &= reason == 0
    barred = there & (reason == 0)
    barred[text_alone] = ~_fits_text(project, rows, above, np.flatnonzero(text_alone))
    reason[barred] = Reason.LINKED_BESIDE
    return reason, text_alone & ~barred


def _grouped(project: Project, rows: NDArray[Any], above: NDArray[np.bool_], standing: Standing) -> NDArray[np.intp]:
    """Places of the rows above the floor that are no suggestion because of a near-copy, variant or translation: those
    of two pages of one group, and those to a page of whose group another one is the better target for the donor, or
    has been given to it already."""
    places = np.flatnonzero(above)
    source, target = rows["source"][places].astype(np.int64), rows["target"][places].astype(np.int64)
    given = [np.concatenate(sides) for sides in zip(standing.waiting, standing.there, strict=True)]
    pages = np.unique(np.concatenate([source, target, given[1]]))
    group = load_twins(project, pages).group
    mine, theirs = group[np.searchsorted(pages, source)], group[np.searchsorted(pages, target)]
    together = np.flatnonzero(theirs >= 0)
    if not len(together):
        return together
    places, source, target, mine, theirs = (part[together] for part in (places, source, target, mine, theirs))
    of_given = group[np.searchsorted(pages, given[1])]
    stands = PairLookup(rows[places]).among((given[0], given[1]))
    in_given = np.isin(_paired(source, theirs), _paired(given[0], of_given)[of_given >= 0])
    order = np.lexsort((target, -rows["score"][places], ~stands, theirs, source))
    first = np.empty(len(order), dtype=np.bool_)
    key = _paired(source, theirs)[order]
    first[order] = np.concatenate([[True], key[1:] != key[:-1]])
    return places[~stands & ((mine == theirs) | in_given | ~first)]


def _paired(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.complex128]:
    """Two numbers as one that can be compared: ids and groups stay far below 2^53."""
    return left + 1j * right


MOST_ALTERNATIVES = MOST_COMPLEMENTS = 5


def too_many_products(
    project: Project, rows: NDArray[Any], taken: NDArray[np.bool_], standing: Standing
) -> NDArray[np.intp]:
    """Places of the `taken` rows, bool [n], between two products that are more than a donor's MOST_ALTERNATIVES,
    products of its own category, or MOST_COMPLEMENTS, those of another. One who looks at a sofa is served by five
    others, and by its cover; not by fifteen sofas. Accepted links count first, and stay."""
    products = np.array(sorted(pages_that(project, [PageRole.PRODUCT])), dtype=np.int64)
    places = np.flatnonzero(taken & np.isin(rows["source"], products) & np.isin(rows["target"], products))
    if not len(places):
        return places
    known = store.copy_out(
        "SELECT id, coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%s) ORDER BY id",
        [products.tolist()],
        [("id", ">i8"), ("category", ">i8")],
    )
    pages, category = known["id"].astype(np.int64), known["category"].astype(np.int64)
    source, target = rows["source"][places].astype(np.int64), rows["target"][places].astype(np.int64)
    alike = category[np.searchsorted(pages, source)] == category[np.searchsorted(pages, target)]
    pairs = PairLookup(rows[places])
    stands = pairs.among(standing.waiting) | pairs.among(standing.there)
    score, many = np.where(stands, np.inf, rows["score"][places]), np.zeros(len(places), dtype=np.bool_)
    for kind, most in ((alike, MOST_ALTERNATIVES), (~alike, MOST_COMPLEMENTS)):
        many[kind] = beyond(source[kind], score[kind], most)
    return places[many & ~stands]


def _fits_text(
    project: Project, rows: NDArray[Any], above: NDArray[np.bool_], places: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether the rows at some places may come into a text: their tier wants it, as far as that is known before the
    links are given out, and the donor has one."""
    found = rows[places]
    fits = np.ones(len(found), dtype=np.bool_)
    if project.tier_basis != Basis.QUANTILE:
        learned = not np.isnan(rows["probability"][above]).all()
        basis = Basis.PROBABILITY if learned and project.tier_basis == Basis.PROBABILITY else Basis.COSINE
        value = found["probability" if basis == Basis.PROBABILITY else "similarity"].astype(np.float64)
        tiers = list(Tier.objects.filter(project=project, basis=basis))
        reading = read_tiers(value, np.array([tier.lower_bound for tier in tiers]))
        fits = np.array([False, *(tier.placement == Placement.INLINE for tier in tiers)])[reading + 1]
    donors = np.unique(found["source"][fits])
    with_text = store.copy_out(
        "SELECT id FROM linker_page WHERE id = ANY(%s) AND body <> ''", [donors.tolist()], [("id", ">i8")]
    )["id"].astype(np.int64)
    return fits & np.isin(found["source"], with_text)


class PairLookup:
    """Looks for pairs of pages among rows."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.sources, source = np.unique(rows["source"], return_inverse=True)
        self.targets, target = np.unique(rows["target"], return_inverse=True)
        self.keys = source * len(self.targets) + target

    def among(self, pairs: tuple[NDArray[np.int64], NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Whether each row [n] is one of the pairs, sources and targets."""
        known = np.isin(pairs[0], self.sources) & np.isin(pairs[1], self.targets)
        source = np.searchsorted(self.sources, pairs[0][known])
        return np.isin(self.keys, source * len(self.targets) + np.searchsorted(self.targets, pairs[1][known]))
