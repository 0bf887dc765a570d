"""What every candidate generator keeps to, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.candidates.base import DonorSlice
from linker.engine.candidates.link_scores import LinkScores
from linker.engine.candidates.mention_rows import mention_rows
from linker.engine.candidates.registry import GENERATORS, bit_of, label_of, names, switched_on
from linker.engine.candidates.union import proposed_pairs
from linker.engine.evidence import build_evidence
from linker.engine.index import build_index
from linker.engine.site import Links, Site, checked
from tests.engine.sites import made_site

each = pytest.mark.parametrize("name", list(GENERATORS))


def slice_of(site: Site, pages: np.ndarray) -> DonorSlice:
    evidence = build_evidence(build_index(checked(site)), np.arange(len(site.links)))
    return DonorSlice(evidence, pages, LinkScores(evidence, pages), mention_rows(evidence, pages))


@pytest.fixture(scope="module")
def donors() -> DonorSlice:
    return slice_of(replace(made_site(), levels_up=0), np.arange(10, 60))


@each
def test_it_names_pages_for_rows_of_the_slice_and_the_same_each_time(name: str, donors: DonorSlice) -> None:
    for propose in (GENERATORS[name].propose, GENERATORS[name].propose_within):
        rows, pages = propose(donors)
        assert len(rows) == len(pages)
        assert not len(rows) or (rows.min() >= 0 and rows.max() < len(donors.pages))
        assert not len(pages) or (pages.min() >= 0 and pages.max() < len(donors.site))
        again = propose(donors)
        assert np.array_equal(rows, again[0])
        assert np.array_equal(pages, again[1])


@each
def test_it_names_something_where_there_is_something_to_name(name: str, donors: DonorSlice) -> None:
    assert len(GENERATORS[name].propose(donors)[0]) > 0


@each
def test_what_it_names_within_the_levels_lies_within_them(name: str, donors: DonorSlice) -> None:
    rows, pages = GENERATORS[name].propose_within(donors)
    assert donors.site.within_levels(donors.pages[rows], pages).all()


@each
@pytest.mark.parametrize("pages", [1, 2])
def test_it_can_be_asked_about_the_smallest_sites(name: str, pages: int) -> None:
    site = replace(made_site(pages), links=Links())
    rows, targets = GENERATORS[name].propose(slice_of(site, np.arange(pages)))
    assert set(targets.tolist()) <= set(range(pages))
    assert set(rows.tolist()) <= set(range(pages))


@each
def test_it_has_a_name_that_fits_a_label_and_a_bit_of_its_own(name: str) -> None:
    assert GENERATORS[name].name == name
    assert 0 < len(name) <= 20  # as the table of suggestions keeps it
    assert label_of(name)
    assert names(bit_of(name)) == [name]


@each
def test_alone_it_proposes_its_own_pairs_and_says_so(name: str, donors: DonorSlice) -> None:
    donor, target, found = proposed_pairs(donors, [name])
    rows, pages = GENERATORS[name].propose(donors)
    own = set(zip(donors.pages[rows].tolist(), pages.tolist(), strict=True))
    assert set(zip(donor.tolist(), target.tolist(), strict=True)) == own
    assert set(found.tolist()) == {bit_of(name)}


def test_all_together_propose_what_each_does_and_a_pair_once(donors: DonorSlice) -> None:
    donor, target, found = proposed_pairs(donors)
    key = donor * len(donors.site) + target
    assert (np.diff(key) > 0).all()
    for name in GENERATORS:
        mine = (found & bit_of(name)) > 0
        assert np.array_equal(key[mine], np.multiply(proposed_pairs(donors, [name])[0], len(donors.site))
                              + proposed_pairs(donors, [name])[1])  # fmt: skip


def test_none_named_is_all_and_the_order_is_that_of_the_registry() -> None:
    assert [generator.name for generator in switched_on()] == list(GENERATORS)
    assert [generator.name for generator in switched_on(["mention", "category"])] == ["category", "mention"]


def test_a_generator_that_is_no_more_goes_by_its_name() -> None:
    assert label_of("clairvoyance") == "clairvoyance"
