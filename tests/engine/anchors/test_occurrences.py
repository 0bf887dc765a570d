"""Words that stand in a text several times become the link where the site's links usually stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.anchors.choice import anchor_choices
from linker.engine.anchors.training import AnchorOptions, AnchorRanker, train_anchors
from linker.engine.evidence import Evidence, build_evidence
from linker.engine.index import build_index
from linker.engine.ranking.approval import shipped
from linker.engine.site import Site, checked
from tests.engine.sites import made_site

NAMED = 7  # the page that the texts of the last pages name
FIRST = "Nobody took {} along, and it rained.\nLater on somebody found {} in a drawer.\n"
AFTER_READ = FIRST + "Please read {} before you go out.\n"


def site_with(bodies: list[str]) -> Site:
    """Pages whose links all follow "read", and at their end pages with these texts, "{}" for the name of one page."""
    site = made_site(pages=240, links_a_page=1)
    name = site.h1s[NAMED]
    own = [body.replace("{}", name) for body in bodies]
    first = len(site) - len(own)
    keep = np.flatnonzero(site.links.src < first)
    links = replace(
        site.links,
        src=site.links.src[keep],
        dst=site.links.dst[keep],
        anchors=[site.links.anchors[place] for place in keep.tolist()],
    )
    return checked(replace(site, bodies=[*site.bodies[:first], *own], links=links))


def chosen(bodies: list[str], *, learned: bool = True) -> list[tuple[str, int]]:
    """The words of the first choice of each of these texts, and where they begin."""
    site = site_with(bodies)
    evidence: Evidence = build_evidence(build_index(site), np.arange(len(site.links)))
    ranker: AnchorRanker | None = None
    if learned:
        ranker = train_anchors(evidence.index, AnchorOptions(min_links=40, rounds=30, threads=1))
        assert ranker is not None
    source = np.arange(len(site) - len(bodies), len(site))
    found = anchor_choices(evidence, source, np.full(len(source), NAMED), shipped(), ranker=ranker)
    return [(choices[0].text, choices[0].start) for choices in found]


@pytest.mark.nightly
def test_words_are_linked_after_what_links_follow_else_at_their_first_place() -> None:
    texts = [AFTER_READ, FIRST]
    name = site_with(texts).h1s[NAMED]
    bodies = [text.replace("{}", name) for text in texts]
    assert chosen(texts) == [(name, bodies[0].rindex(name)), (name, bodies[1].index(name))]


@pytest.mark.nightly
def test_a_site_without_links_to_learn_from_links_the_first_place() -> None:
    name = site_with([AFTER_READ]).h1s[NAMED]
    ((words, start),) = chosen([AFTER_READ], learned=False)
    assert name in words
    assert start <= AFTER_READ.replace("{}", name).index(name)
