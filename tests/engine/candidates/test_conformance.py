"""What every candidate generator keeps to, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.candidates.base import SourceSlice
from linker.engine.candidates.link_scores import LinkScores
from linker.engine.candidates.mention_rows import mention_rows
from linker.engine.candidates.registry import GENERATORS, bit_of, label_of, names, switched_on
from linker.engine.candidates.union import proposed_pairs
from linker.engine.evidence import build_evidence
from linker.engine.index import build_index
from linker.engine.site import Links, Site, checked
from tests.engine.sites import made_site

each = pytest.mark.parametrize("name", list(GENERATORS))


def slice_of(site: Site, pages: np.ndarray) -> SourceSlice:
    evidence = build_evidence(build_index(checked(site)), np.arange(len(site.links)))
    return SourceSlice(evidence, pages, LinkScores(evidence, pages), mention_rows(evidence, pages))


@pytest.fixture(scope="module")
def sources() -> SourceSlice:
    return slice_of(replace(made_site(), levels_up=0), np.arange(10, 60))


@each
def test_it_names_pages_for_rows_of_the_slice_and_the_same_each_time(name: str, sources: SourceSlice) -> None:
    for propose in (GENERATORS[name].propose, GENERATORS[name].propose_within):
        rows, pages = propose(sources)
        assert len(rows) == len(pages)
        assert not len(rows) or (rows.min() >= 0 and rows.max() < len(sources.pages))
        assert not len(pages) or (pages.min() >= 0 and pages.max() < len(sources.site))
        again = propose(sources)
        assert np.array_equal(rows, again[0])
        assert np.array_equal(pages, again[1])


@each
def test_it_names_something_where_there_is_something_to_name(name: str, sources: SourceSlice) -> None:
    assert len(GENERATORS[name].propose(sources)[0]) > 0


@each
def test_what_it_names_within_the_levels_lies_within_them(name: str, sources: SourceSlice) -> None:
    rows, pages = GENERATORS[name].propose_within(sources)
    assert sources.site.within_levels(sources.pages[rows], pages).all()


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
def test_alone_it_proposes_its_own_pairs_and_says_so(name: str, sources: SourceSlice) -> None:
    source, target, found = proposed_pairs(sources, [name])
    rows, pages = GENERATORS[name].propose(sources)
    own = set(zip(sources.pages[rows].tolist(), pages.tolist(), strict=True))
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == own
    assert set(found.tolist()) == {bit_of(name)}


def test_all_together_propose_what_each_does_and_a_pair_once(sources: SourceSlice) -> None:
    source, target, found = proposed_pairs(sources)
    key = source * len(sources.site) + target
    assert (np.diff(key) > 0).all()
    for name in GENERATORS:
        mine = (found & bit_of(name)) > 0
        assert np.array_equal(key[mine], np.multiply(proposed_pairs(sources, [name])[0], len(sources.site))
                              + proposed_pairs(sources, [name])[1])  # fmt: skip


def test_none_named_is_all_and_the_order_is_that_of_the_registry() -> None:
    assert [generator.name for generator in switched_on()] == list(GENERATORS)
    assert [generator.name for generator in switched_on(["mention", "category"])] == ["category", "mention"]


def test_a_generator_that_is_no_more_goes_by_its_name() -> None:
    assert label_of("clairvoyance") == "clairvoyance"
