"""Which part of a page is its own text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ingest.sources.reading import edges, lists
from ingest.sources.reading.outline import HEADINGS, INLINE
from ingest.sources.reading.types import ASIDE, NAVIGATION
from ingest.sources.reading.zones import NONE, UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ingest.sources.reading.outline import Block, Outline
    from ingest.sources.reading.site_template import SiteTemplate

LINKED = 0.2  # what a character of a link weighs
COVERED = 0.85  # of a site's own text that has to stand below a path, for the text to be looked for there alone
HELD = 0.9  # the same for a page by itself
MAIN = 0.4  # of a page's text that its main element has to hold
HALF = 0.5  # the same where the H1 stands below the path as well
MUCH, HELD_OF_AGREED = 2000, 0.2  # characters elsewhere, and the least part below such a path, for it to be followed
MOSTLY, NEARLY_ALL = 0.7, 0.95  # of a page's text: what holds that much may be no navigation, whatever its name
FEWEST_WORDS = 4  # of a repeated text that is left out
_CONTAINERS = frozenset(
    ["html", "body", "main", "article", "section", "div", "table", "tbody", "tr", "td", "center", "form"]
)
_BOXES = frozenset(("div", "section", "aside", "table", "form", "center", "footer", "header"))
_MAY_BE_BOX = _BOXES | {"ul", "ol", "dl", "li"}
_CELLS = frozenset(("td", "th"))
_KEPT = frozenset(("li", "dt", "dd", "tr")) | _CELLS | HEADINGS
_OF_THE_PAGE = frozenset(("h1", "main"))


@dataclass(frozen=True, slots=True)
class MainText:
    """Where a page's own text is: the nodes from `root` to its end without those of `left_out`, both places.

    `zones` are those of the page's nodes once it is known what the page is about; `repeated` are elements of blocks
    that stand on many pages. `is_list`: the text is nothing but a list of pages; `is_dated`: with their days.
    """

    root: int
    left_out: frozenset[int]
    zones: list[str]
    repeated: frozenset[int]
    is_list: bool = False
    is_dated: bool = False


def weigh(block: Block) -> float:
    """How much a block says that a page is about its surroundings."""
    if block.is_teaser:
        return LINKED * block.size
    return block.size - block.linked + LINKED * block.linked


def find_main_text(page: Outline, template: SiteTemplate | None) -> MainText:
    repeated_keys = template.repeated if template is not None else frozenset()
    repeated = frozenset(block.element for block in page.blocks if block.key in repeated_keys)
    weights = [0.0 if block.key in repeated_keys else weigh(block) for block in page.blocks]
    zones = _zones(page, page.sums(weights))
    if template is not None and template.boxes:
        beside = _with_boxes(page, zones, template)
        if _has_text(page, beside, repeated):
            zones = beside  # a page that has nothing else is a list of what stands in such boxes elsewhere
    weights = [0.0 if zones[block.element] else weight for block, weight in zip(page.blocks, weights, strict=True)]
    root = _root(page, page.sums(weights), zones, template)
    left_out = _left_out(page, root, zones, template)
    if template is not None:
        zones, by_words = _with_lines(page, root, left_out, zones, template)
        left_out |= by_words
        left_out |= _last_headings(page, root, left_out, template)
    blocks = _own_blocks(page, root, left_out)
    return MainText(root, left_out, zones, repeated, lists.is_list(page, blocks), lists.is_dated(blocks))


def _zones(page: Outline, sums: Sequence[float]) -> list[str]:
    """The zones without those that hold most of the page's text and its heading, or nearly all: they are misnamed."""
    document, zones = page.document, page.zones
    names, total = document.names, sums[-1]

    has_own = any(name in _OF_THE_PAGE for name in names)

    def is_misnamed(place: int) -> bool:
        end = document.ends[place]
        held = sums[end] - sums[place]
        if has_own:
            return held > MOSTLY * total and any(name in _OF_THE_PAGE for name in names[place:end])
        return held > NEARLY_ALL * total

    wrong = {place for place in page.begins if is_misnamed(place)} if total else set()
    if not wrong:
        return zones
    own = {place: zones[place] for place in page.begins if place not in wrong}
    cleared: list[str] = []
    for place, zone in enumerate(zones):
        above = cleared[document.parents[place]] if place else NONE
        cleared.append(UNSEEN if zone == UNSEEN else own.get(place, above))
    return cleared


def _with_boxes(page: Outline, zones: Sequence[str], template: SiteTemplate) -> list[str]:
    """The zones with the boxes that name other pages, which stand beside the text wherever they are."""
    document, found = page.document, list(zones)
    for place, path in enumerate(page.paths):
        if path in template.boxes and not found[place] and document.names[place] in _MAY_BE_BOX:
            end = document.ends[place]
            if not _OF_THE_PAGE.isdisjoint(document.names[place:end]):
                continue  # it holds the page itself, which has little text
            found[place:end] = [zone or ASIDE for zone in found[place:end]]
    return found


def _has_text(page: Outline, zones: Sequence[str], repeated: Collection[int]) -> bool:
    """Whether a page has words of its own beside its H1 and links: more than stand above a list."""
    own = (b for b in page.blocks if not zones[b.element] and b.element not in repeated)
    return sum(b.size - b.linked for b in own if page.document.names[b.element] != "h1") > lists.LABEL


def _root(page: Outline, sums: Sequence[float], zones: Sequence[str], template: SiteTemplate | None) -> int:
    """From the whole page down to what holds its text, as far as the site's other pages agree."""
    document = page.document
    cover = template.cover if template is not None else {}

    def held(place: int) -> float:
        return sums[document.ends[place]] - sums[place]

    mains = (place for place, name in enumerate(document.names) if name == "main" and held(place) > MAIN * sums[-1])
    root = next(mains, 0)
    while held(root):
        children = _children(page, root, zones)
        agreed = [place for place in children if cover.get(page.paths[place], 0.0) >= _least_cover(page, place)]
        if agreed:
            inner = max(agreed, key=lambda place: (cover[page.paths[place]], held(place)))
            if held(root) - held(inner) > MUCH and held(inner) < HELD_OF_AGREED * held(root):
                break  # the path means something else on this page
            if _is_one_of_many(page, inner, children, held):
                break
        else:
            inner = max(children, key=held, default=0)
            if not inner or page.paths[inner] in cover or held(inner) < HELD * held(root):
                break
        root = inner
    return root


def _is_one_of_many(page: Outline, inner: int, children: Sequence[int], held: Callable[[int], float]) -> bool:
    """Whether a page holds as much in others like it, as lists do: its text is all of them. The cells of a row are
    alike by name whatever they hold, a menu or a text: they need to stand at the same place as well."""
    names, attributes = page.document.names, page.document.attributes

    def kind(place: int) -> object:
        return page.paths[place] if names[place] in _CELLS else (names[place], attributes[place].get("class"))

    like = [held(place) for place in children if kind(place) == kind(inner)]
    return len(like) >= lists.FEWEST_NAMED and 2 * held(inner) < sum(like)


def _least_cover(page: Outline, place: int) -> float:
    return HALF if "h1" in page.document.names[place : page.document.ends[place]] else COVERED


def _children(page: Outline, root: int, zones: Sequence[str]) -> list[int]:
    """The children that may hold a text of its own."""
    document, place, found = page.document, root + 1, []
    while place < document.ends[root]:
        if document.names[place] in _CONTAINERS and not zones[place]:
            found.append(place)
        place = document.ends[place]
    return found


def _left_out(page: Outline, root: int, zones: Sequence[str], template: SiteTemplate | None) -> frozenset[int]:
    """The elements below the root that are no text of the page: other zones, the H1, and what repeats."""
    document, end = page.document, page.document.ends[root]
    repeating = _repeating(page, template) if template is not None else frozenset()
    found: set[int] = set()
    seen_h1 = False
    place = root + 1
    while place < end:
        is_h1 = document.names[place] == "h1" and not seen_h1
        if zones[place] or is_h1 or place in repeating:
            seen_h1 = seen_h1 or is_h1
            found.add(place)
            place = document.ends[place]
        else:
            place += 1
    return frozenset(found)


def _with_lines(
    page: Outline, root: int, left_out: Collection[int], zones: list[str], template: SiteTemplate
) -> tuple[list[str], frozenset[int]]:
    """The zones with the links that the site writes its own words around or sets in rows, and the text of both."""
    document = page.document
    blocks = sorted((block for block in page.blocks if not zones[block.element]), key=lambda block: block.first)
    found = [block for block, lead in zip(blocks, lists.leads(page, blocks), strict=True) if lead in template.leads]
    if template.rows:
        found += edges.set_by_site(page, blocks, edges.Known(template.everywhere, template.leads), template.rows)
    if not found:
        return zones, frozenset()
    nodes = frozenset(node for block in found for node in block.nodes)
    zones = list(zones)
    for node in nodes:
        for above in document.ancestors(node):
            if document.names[above] == "a":
                zones[above : document.ends[above]] = [NAVIGATION] * (document.ends[above] - above)
            elif document.names[above] not in INLINE:
                break
    return zones, nodes


def _own_blocks(page: Outline, root: int, left_out: Collection[int]) -> list[Block]:
    """The blocks of the text, in the order of the page."""
    is_out = _is_out(page, left_out)
    end = page.document.ends[root]
    own = (block for block in page.blocks if root <= block.first < end and not is_out[block.first])
    return sorted(own, key=lambda block: block.first)


def _is_out(page: Outline, left_out: Collection[int]) -> bytearray:
    ends, is_out = page.document.ends, bytearray(len(page.document))
    for place in left_out:
        is_out[place : ends[place]] = b"\1" * (ends[place] - place)
    return is_out


def _last_headings(page: Outline, root: int, left_out: Collection[int], template: SiteTemplate) -> frozenset[int]:
    """Repeated headings at the end of the text, such as that of comments which are left out."""
    ends, names = page.document.ends, page.document.names
    is_out = _is_out(page, left_out)
    found = set()
    for block in sorted(page.blocks, key=lambda block: block.first, reverse=True):
        if not root <= block.first < ends[root] or is_out[block.first]:
            continue
        if names[block.element] not in HEADINGS or block.key not in template.repeated:
            break
        found.add(block.element)
    return frozenset(found)


def _in_lists(page: Outline, template: SiteTemplate) -> set[int]:
    """The paragraphs that are links, beside others that do not repeat: items of a list, though not marked up as one."""
    names, parents = page.document.names, page.document.parents
    found = set()
    for before, block in pairwise(block for block in page.blocks if names[block.element] == "p"):
        both = before.linked == before.size and block.linked == block.size
        one_repeats = (before.key in template.repeated) != (block.key in template.repeated)
        if both and one_repeats and parents[before.element] == parents[block.element]:
            found |= {before.element, block.element}
    return found


def _repeating(page: Outline, template: SiteTemplate) -> frozenset[int]:
    """The boxes that stand on many pages, and the paragraphs and lists that stand on most.

    An item of a list stays, for a page may well link what many others link; and so does a heading: “See also”.
    """
    names, ends = page.document.names, page.document.ends
    in_list = _in_lists(page, template)
    words = page.sums([float(block.words) for block in page.blocks])
    linked = page.sums([float(block.linked * 10 >= block.size * 9) for block in page.blocks])
    found = set()
    for place, key in page.keys().items():
        name = names[place]
        if (
            key not in template.repeated
            or name in _KEPT
            or place in in_list
            or (name not in _BOXES and key not in template.everywhere)
        ):
            continue
        if words[ends[place]] - words[place] >= FEWEST_WORDS or linked[ends[place]] > linked[place]:
            found.add(place)
    for block in page.blocks:  # lines beside paragraphs and between breaks
        is_long = block.words >= FEWEST_WORDS or block.linked * 10 >= block.size * 9
        if (
            is_long
            and block.key in template.everywhere
            and names[block.element] not in _KEPT - _CELLS
            and block.element not in in_list
        ):
            found.update(block.nodes)
    return frozenset(found)
