"""What a page lacks, from 0 to 1 and in words, and what a suggestion is worth for it. Pure.

The need of a page is a sum of four parts, each between 0 and 1, times their weights in WEIGHTS:

    need = 0.5 few + 0.2 near + 0.15 deep + 0.15 valued

    few     (3 - n) / 3 for a page that n others link to in their texts, 0 from three on; 1 for a page that is new
    near    log10(1 + impressions that were not clicked) / 4, at most 1, for a page at positions 5 to 20, where one more
            link moves most; else 0
    deep    (crawl depth - 3) / 3, at least 0 and at most 1
    valued  the place of a page's value among those of the other pages (see `rank_share`); 0 where it has none

An unknown part is 0. The expected worth of a suggestion is how likely it is to be approved, times a weight:

    worth = chance * (0.4 + 0.5 need + 0.1 authority)

`authority` is the place of the source's authority among those of the other pages (see `rank_share`). A link to the page
that lacks most is thus worth little more than twice as much as one to a page that lacks nothing: need never makes up
for a poor suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying, list_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CHARACTERS = 200  # characters in which it is said what a page lacks
FEW_LINKS = 2  # links in texts that lead to a page, up to which it is under-linked
DEEP, DEEPEST = 3, 6  # clicks from the home page: deeper than the first lacks something, from the last on all of it
NEAR = (5.0, 20.0)  # positions in search results from which a page can still climb to the first ones
MANY = 4  # powers of ten of impressions that make up the whole part
WEIGHTS = {"few": 0.5, "near": 0.2, "deep": 0.15, "valued": 0.15}
BASE, OF_NEED, OF_AUTHORITY = 0.4, 0.5, 0.1

# By how many texts link to the page.
IS_NEW = Saying(gettext_noop("is new"))
FEW = (
    Saying(gettext_noop("has none from texts")),
    Saying(gettext_noop("has only 1 from a text")),
    Saying(gettext_noop("has only 2 from texts")),
)
CLICKS_DEEP = Saying(gettext_noop("%(clicks)s clicks deep"), {"clicks": NUMBER})
AN_IMPRESSION = Saying(
    gettext_noop("%(impressions)s impression at position %(position)s"), {"impressions": NUMBER, "position": NUMBER}
)
IMPRESSIONS = Saying(
    gettext_noop("%(impressions)s impressions at position %(position)s"), {"impressions": NUMBER, "position": NUMBER}
)
OF_VALUE = Saying(gettext_noop("value %(value)s"), {"value": NUMBER})
NEEDS_LINKS = Saying(
    gettext_noop("Needs links: %(lacks)s"),
    {"lacks": list_of(IS_NEW, *FEW, CLICKS_DEEP, AN_IMPRESSION, IMPRESSIONS, OF_VALUE)},
)
HAS_VALUE = Saying(gettext_noop("Has value %(value)s"), {"value": NUMBER})
SENTENCES = (NEEDS_LINKS, HAS_VALUE)


@dataclass(frozen=True)
class Facts:
    """What is known of some pages, float64 [n] all of them, NaN where unknown: distinct pages that link here in
    their texts, clicks from the home page, impressions and clicks in search, the average position, what the page
    is worth to its owner on any scale from 0, and whether it is new: 1 or 0."""

    links: NDArray[np.float64]
    depth: NDArray[np.float64]
    impressions: NDArray[np.float64]
    clicks: NDArray[np.float64]
    position: NDArray[np.float64]
    value: NDArray[np.float64]
    new: NDArray[np.float64]


def parts(facts: Facts) -> dict[str, NDArray[np.float64]]:
    """The parts of the need by their names, float64 [n] in [0, 1] each."""
    few = np.nan_to_num(np.clip((FEW_LINKS + 1 - facts.links) / (FEW_LINKS + 1), 0, 1))
    unclicked = np.maximum(np.nan_to_num(facts.impressions) - np.nan_to_num(facts.clicks), 0)
    return {
        "few": np.where(is_new(facts), 1, few),
        "near": np.where(_is_near(facts.position), np.minimum(np.log10(1 + unclicked) / MANY, 1), 0),
        "deep": np.nan_to_num(np.clip((facts.depth - DEEP) / (DEEPEST - DEEP), 0, 1)),
        "valued": np.where(facts.value > 0, np.nan_to_num(rank_share(facts.value)), 0),
    }


def need(facts: Facts) -> NDArray[np.float64]:
    """How much each page lacks, float64 [n] in [0, 1]: the formula of this module."""
    total = np.zeros(len(facts.links), dtype=np.float64)
    for name, part in parts(facts).items():
        total += WEIGHTS[name] * part
    found: NDArray[np.float64] = np.clip(total, 0.0, 1.0)
    return found.round(6)


def rank_share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the known values that are lower than each, with half of those that are the same, float64 [n] in
    (0, 1); NaN where there is none."""
    known = np.sort(values[~np.isnan(values)])
    lower, up_to = (np.searchsorted(known, values, side=side) for side in ("left", "right"))
    return np.where(np.isnan(values), np.nan, (lower + up_to) / (2 * max(len(known), 1)))


def weight(need: NDArray[np.float64], authority: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the chance of approval is multiplied by, float64 [n]; `authority` of the sources, NaN where unknown."""
    return BASE + OF_NEED * need + OF_AUTHORITY * np.nan_to_num(authority)


def under_linked(facts: Facts) -> NDArray[np.bool_]:
    """Whether FEW_LINKS pages or fewer link to each page in their texts, bool [n]."""
    return facts.links <= FEW_LINKS


def is_new(facts: Facts) -> NDArray[np.bool_]:
    """Whether each page is new, bool [n]."""
    return facts.new > 0


def in_words(facts: Facts, place: int) -> str:
    """What the page at a place lacks, as one line without a full stop; empty where it lacks nothing.

    Such as "Needs links: has none from texts, 5 clicks deep, 1,240 impressions at position 8, value 80".
    """
    links, depth, value = float(facts.links[place]), float(facts.depth[place]), float(facts.value[place])
    said = [IS_NEW.text] if facts.new[place] > 0 else []
    if links <= FEW_LINKS:
        said.append(FEW[int(links)].text)
    if depth > DEEP:
        said.append(CLICKS_DEEP.said(clicks=int(depth)))
    if _is_near(facts.position[place]) and facts.impressions[place] > 0:
        shown = int(facts.impressions[place])
        near = AN_IMPRESSION if shown == 1 else IMPRESSIONS
        said.append(near.said(impressions=f"{shown:,}", position=f"{facts.position[place]:.0f}"))
    number = f"{value:,.2f}".rstrip("0").rstrip(".") if value > 0 else ""
    if not said:
        return HAS_VALUE.said(value=number)[:MAX_CHARACTERS] if number else ""
    if number:
        said.append(OF_VALUE.said(value=number))
    return NEEDS_LINKS.said(lacks=", ".join(said))[:MAX_CHARACTERS]


def _is_near(position: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (position >= NEAR[0]) & (position <= NEAR[1])
