"""Why a link is suggested: one sentence in plain words, and the few numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linker.engine.candidates.registry import bit_of

# The features that reasons are made of.
REASONS: tuple[str, ...] = (
    "share", "anchor_links", "keyness", "named", "times", "neighbour_links", "similar_linkers", "cocited", "links_back",
    "above", "below", "category_links", "cosine", "title_in_text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Why:
    """`sentence`, and `numbers` by the name of the feature, as shown."""

    sentence: str
    numbers: dict[str, float]


def why(features: Mapping[str, float], phrase: str = "", found: int = 0, most: int = 3) -> Why:
    """The strongest reasons for a pair, at most `most` joined into one sentence.

    `features` by the names of REASONS; `phrase` is what the text mentions, `found` the bits
    of the generators. Reasons come in the order of how sure a sign of a link they are.
    """
    reasons: list[tuple[float, str, tuple[str, ...]]] = []

    def add(strength: float, text: str, *numbers: str) -> None:
        reasons.append((strength, text, numbers))

    value = {name: float(number) for name, number in features.items()}
    share, links = value.get("share", 0), round(_expm1(value.get("anchor_links", 0)))
    if phrase and links > 0 and share > 0:
        add(
            2 + share,
            f"the text says “{phrase}”, the words of {links} other {'link' if links == 1 else 'links'} to this page",
            "share",
            "keyness",
        )
    elif phrase and value.get("named", 0) >= 3:
        add(2.0, f"the text names this page: “{phrase}”", "named", "times")
    elif phrase:
        add(1.0, f"the text mentions “{phrase}”", "times")
    if value.get("neighbour_links", 0) > 0.05:
        part = round(100 * min(value["neighbour_links"], 1))
        add(1 + value["neighbour_links"], f"{part}% of the most similar pages link to it", "neighbour_links")
    if value.get("similar_linkers", 0) > 0.1:
        add(0.8 + value["similar_linkers"], "pages with the same links link to it too", "similar_linkers")
    if value.get("cocited", 0) > 0.1:
        add(0.5 + value["cocited"], "other pages link to both", "cocited")
    if value.get("links_back", 0) > 0:
        add(0.9, "it links to the donor already", "links_back")
    if value.get("above", 0) > 0:
        add(0.7, "it is the page above this one", "above")
    if value.get("below", 0) > 0:
        add(0.7, "it is a page below this one", "below")
    if value.get("category_links", 0) > 0.1:
        add(0.4 + value["category_links"], "pages of the same category often link to it", "category_links")
    if value.get("cosine", 0) > 0.3:
        add(value["cosine"], f"the two pages are alike in meaning ({value['cosine']:.2f})", "cosine")
    if value.get("title_in_text", 0) > 0.6 and not phrase:
        add(0.6, "most words of its title stand in the text", "title_in_text")
    if not reasons:
        category = found & bit_of("category")
        text = "it is among the nearest pages of the category" if category else "it is among the nearest pages"
        add(0, text, "cosine")
    reasons.sort(key=lambda reason: -reason[0])
    chosen = reasons[:most]
    sentence = _joined([text for _, text, _ in chosen])
    numbers = {name: round(value[name], 4) for _, _, names in chosen for name in names if name in value}
    return Why(sentence[0].upper() + sentence[1:] + ".", numbers)


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _expm1(value: float) -> float:
    return float(2.718281828459045**value) - 1
