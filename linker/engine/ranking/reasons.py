"""Why a link is suggested: one sentence in plain words, and the few numbers behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from linker.engine.candidates.registry import bit_of
from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying, part_of
from linker.engine.text.generic import is_generic, only_points

# The features that reasons are made of.
REASONS: tuple[str, ...] = (
    "share", "anchor_links", "keyness", "named", "times", "neighbour_links", "similar_linkers", "cocited", "links_back",
    "above", "below", "category_links", "cosine", "title_in_text",
)  # fmt: skip

MOST = 3  # reasons in a sentence

WORDS_OF_A_LINK = Saying(
    gettext_noop("the text says “%(phrase)s”, the words of %(links)s other link to this page"), {"links": NUMBER}
)
WORDS_OF_LINKS = Saying(
    gettext_noop("the text says “%(phrase)s”, the words of %(links)s other links to this page"), {"links": NUMBER}
)
# The same of a link that does not take these words.
OF_A_LINK = Saying(gettext_noop("%(links)s other link to this page has the words “%(phrase)s”"), {"links": NUMBER})
OF_LINKS = Saying(gettext_noop("%(links)s other links to this page have the words “%(phrase)s”"), {"links": NUMBER})
NAMES = Saying(gettext_noop("the text names this page: “%(phrase)s”"))
MENTIONS = Saying(gettext_noop("the text mentions “%(phrase)s”"))
NEIGHBOURS = Saying(gettext_noop("%(share)s of the most similar pages link to it"), {"share": NUMBER})
SAME_LINKS = Saying(gettext_noop("pages with the same links link to it too"))
COCITED = Saying(gettext_noop("other pages link to both"))
LINKS_BACK = Saying(gettext_noop("it links to the donor already"))
ABOVE = Saying(gettext_noop("it is the page above this one"))
BELOW = Saying(gettext_noop("it is a page below this one"))
OF_CATEGORY = Saying(gettext_noop("pages of the same category often link to it"))
ALIKE = Saying(gettext_noop("the two pages are alike in meaning (%(cosine)s)"), {"cosine": NUMBER})
TITLE_IN_TEXT = Saying(gettext_noop("most words of its title stand in the text"))
NEAREST_OF_CATEGORY = Saying(gettext_noop("it is among the nearest pages of the category"))
NEAREST = Saying(gettext_noop("it is among the nearest pages"))

_PHRASE = re.compile("[Tt]he text (?:says|names this page:|mentions) “(.+?)”")
_REASON = part_of(
    WORDS_OF_A_LINK, WORDS_OF_LINKS, NAMES, MENTIONS, NEIGHBOURS, SAME_LINKS, COCITED, LINKS_BACK, ABOVE, BELOW,
    OF_CATEGORY, ALIKE, TITLE_IN_TEXT, NEAREST_OF_CATEGORY, NEAREST, OF_A_LINK, OF_LINKS,
)  # fmt: skip
# By how many reasons there are. Stored with a capital letter.
JOINED = {
    1: Saying(gettext_noop("%(first)s."), {"first": _REASON}),
    2: Saying(gettext_noop("%(first)s, and %(second)s."), {"first": _REASON, "second": _REASON}),
    3: Saying(
        gettext_noop("%(first)s, %(second)s, and %(third)s."), {"first": _REASON, "second": _REASON, "third": _REASON}
    ),
}
BY_COSINE = Saying(gettext_noop("The two pages are alike in meaning."))
BY_COSINE_IN_CATEGORY = Saying(gettext_noop("The two pages are alike in meaning, both in %(category)s."))
SENTENCES: tuple[Saying, ...] = (BY_COSINE, BY_COSINE_IN_CATEGORY, *JOINED.values())


@dataclass(frozen=True, slots=True)
class Why:
    """`sentence`, and `numbers` by the name of the feature, as shown."""

    sentence: str
    numbers: dict[str, float]


def phrase_in(sentence: str) -> str:
    """The words of the text that such a sentence names; empty where it names none."""
    found = _PHRASE.search(sentence)
    return found[1] if found else ""


def without_words(sentence: str) -> str:
    """Such a sentence for a link that does not take the words which it names: it says of other links that they have
    them, and no longer that the text does; empty where nothing is left, and another sentence as it is."""
    begins_small = sentence[:1].lower() + sentence[1:]
    if not phrase_in(sentence):
        return sentence
    read = (joined.values(begins_small) for _, joined in sorted(JOINED.items(), reverse=True))
    parts = next((found.values() for found in read if found is not None), None)
    if parts is None:
        return sentence
    left = [said for part in parts if (said := _without_words(part))]
    if not left:
        return ""
    said = JOINED[len(left)].said(**dict(zip(("first", "second", "third"), left, strict=False)))
    return said[0].upper() + said[1:]


def _without_words(reason: str) -> str:
    for named, instead in ((WORDS_OF_A_LINK, OF_A_LINK), (WORDS_OF_LINKS, OF_LINKS), (NAMES, None), (MENTIONS, None)):
        if (values := named.values(reason)) is not None:
            return instead.said(**values) if instead else ""
    return reason


def why(
    features: Mapping[str, float], phrase: str = "", found: int = 0, language: str = "", *, is_own: bool = False
) -> Why:
    """The strongest reasons for a pair, at most MOST joined into one sentence.

    `features` by the names of REASONS; `phrase` is what the text mentions, `found` the bits
    of the generators. Reasons come in the order of how sure a sign of a link they are. Words that would fit a link to
    any page in the donor's `language` ("Examples", "read more") are none, and neither are those that are the donor's
    own name (`is_own`): that they stand in its text says nothing of another page.
    """
    has_words = bool(phrase)
    if is_own or is_generic(phrase, language) or only_points(phrase, language):
        phrase = ""
    reasons: list[tuple[float, str, tuple[str, ...]]] = []

    def add(strength: float, text: str, *numbers: str) -> None:
        reasons.append((strength, text, numbers))

    value = {name: float(number) for name, number in features.items()}
    share, links = value.get("share", 0), round(_expm1(value.get("anchor_links", 0)))
    if phrase and links > 0 and share > 0:
        words_of = WORDS_OF_A_LINK if links == 1 else WORDS_OF_LINKS
        add(2 + share, words_of.said(phrase=phrase, links=links), "share", "keyness")
    elif phrase and value.get("named", 0) >= 3:
        add(2.0, NAMES.said(phrase=phrase), "named", "times")
    elif phrase:
        add(1.0, MENTIONS.said(phrase=phrase), "times")
    if value.get("neighbour_links", 0) > 0.05:
        part = round(100 * min(value["neighbour_links"], 1))
        add(1 + value["neighbour_links"], NEIGHBOURS.said(share=f"{part}%"), "neighbour_links")
    if value.get("similar_linkers", 0) > 0.1:
        add(0.8 + value["similar_linkers"], SAME_LINKS.text, "similar_linkers")
    if value.get("cocited", 0) > 0.1:
        add(0.5 + value["cocited"], COCITED.text, "cocited")
    if value.get("links_back", 0) > 0:
        add(0.9, LINKS_BACK.text, "links_back")
    if value.get("above", 0) > 0:
        add(0.7, ABOVE.text, "above")
    if value.get("below", 0) > 0:
        add(0.7, BELOW.text, "below")
    if value.get("category_links", 0) > 0.1:
        add(0.4 + value["category_links"], OF_CATEGORY.text, "category_links")
    if value.get("cosine", 0) > 0.3:
        add(value["cosine"], ALIKE.said(cosine=f"{value['cosine']:.2f}"), "cosine")
    if value.get("title_in_text", 0) > 0.6 and not has_words:
        add(0.6, TITLE_IN_TEXT.text, "title_in_text")
    if not reasons:
        category = found & bit_of("category")
        add(0, (NEAREST_OF_CATEGORY if category else NEAREST).text, "cosine")
    reasons.sort(key=lambda reason: -reason[0])
    chosen = reasons[:MOST]
    sentence = JOINED[len(chosen)].said(
        **dict(zip(("first", "second", "third"), (text for _, text, _ in chosen), strict=False))
    )
    numbers = {name: round(value[name], 4) for _, _, names in chosen for name in names if name in value}
    return Why(sentence[0].upper() + sentence[1:], numbers)


def _expm1(value: float) -> float:
    return float(2.718281828459045**value) - 1
