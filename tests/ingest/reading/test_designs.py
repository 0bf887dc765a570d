"""Pages of the sample site in four designs: of text and of links nearly all is found, and little else."""

from __future__ import annotations

import pytest

from bench.reading import judge, sample_site
from tests.ingest.reading.designs import DESIGNS


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
def test_text_and_links_are_those_of_the_site(design):
    found = judge(sample_site(), design, pages=60, worst=0)
    assert found["links"] >= 0.95
    assert found["at_place"] == 1
    assert found["text"] >= 0.95
