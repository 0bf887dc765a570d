"""Lists that a site makes of its pages, told from what editors link: by shape and repetition, not by words.

An editor's link stands among words of its own, or in a list that the editor wrote below them. A site writes the same
words around different links on many pages (“Filed under”), always before or after the text, and its lists of pages
name one after another until the page is full.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.sources.reading.outline import Block, Outline
    from ingest.sources.reading.site_template import SiteTemplate

PROSE = 80  # characters outside links from which a block is running text
FEW_WORDS = 4  # around a link, such as “Previous:” and “Filed under”; more are a sentence
LEADS, SENTENCES = 0.04, 0.3  # of the pages that have the same words around a link, few and more
LABELS = 0.3  # the same for words in a cell or term of their own
AT_EDGES = 0.8  # of the times that such words stand: before the text or after it
FEWEST_PAGES = 3
LABEL = 40  # characters of what may stand above a list
LETTERS_BESIDE, PART_BESIDE = 12, 0.2  # letters that a block that names a page may have beside its links
TEASER = 400  # characters of a page's first words below its name
FEWEST_NAMED = 3  # pages that a list names in one way
LISTED, BARE = 0.8, 0.95  # of a page's text that is names and first words of others; names alone
BELOW = 0.8  # of the pages that an index names
DEPTH = 2  # slashes that addresses below a part of a site begin with
_LABELLED = frozenset(("dd", "td"))
_MAY_BE_PAGE = re.compile(r"(?:/[^/.]*|\.(?:x?html?|php|aspx?|jsp))$", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]+")


def words_around(texts: Sequence[str], whole: str) -> str:
    """The words beside a block's links, with a sign that the block begins or ends with: what a site repeats of it."""
    words = _WORDS.findall(" ".join(texts).casefold())
    signs = [sign for sign in (whole[:1], whole[-1:]) if sign in "«»‹›←→<>"]
    return " ".join([*words, *signs])


def leads(page: Outline, blocks: Sequence[Block]) -> list[int]:
    """For each block with links, a number of the words around them, or of the cell or term before; 0 for none."""
    names, parents = page.document.names, page.document.parents
    found, label, label_at = [], "", -1
    for block in blocks:
        name, above = names[block.element], parents[block.element]
        if not block.linked:
            if name in ("dt", "th", "td"):
                label, label_at = " ".join(_WORDS.findall(block.start.casefold())), above
            found.append(0)
        elif block.around:
            found.append(_number(block.around))
        elif label and label_at == above and name in _LABELLED and label.count(" ") < FEW_WORDS:
            found.append(_number("\n" + label))
        else:
            found.append(0)
    return found


def _number(words: str) -> int:
    """Ends with how many pages have to have these words, see `fewest`."""
    kind = 2 if words[0] == "\n" else 1 if words.count(" ") >= FEW_WORDS or not words[0].isalpha() else 0
    return (crc32(words.encode("utf-8", "replace")) << 2 | kind) + 4


def fewest(lead: int, pages: int) -> float:
    """On how many of the pages the words of a lead stand if they are the site's."""
    return max(FEWEST_PAGES, (LEADS, SENTENCES, LABELS)[lead & 3] * pages)


def at_edges(blocks: Sequence[Block]) -> list[bool]:
    """Which blocks stand before the first or after the last that is running text."""
    prose = [number for number, block in enumerate(blocks) if block.size - block.linked >= PROSE]
    first, last = (prose[0], prose[-1]) if prose else (len(blocks), -1)
    return [number <= first or number >= last for number in range(len(blocks))]


def names_pages(block: Block) -> bool:
    """Whether a block is links, with a date or a word at most beside them."""
    beside = len(block.around)
    return block.linked > 0 and beside <= max(LETTERS_BESIDE, PART_BESIDE * block.linked)


def is_list(page: Outline, blocks: Sequence[Block]) -> bool:
    """Whether these blocks of a page's text are nothing but names of pages in one and the same shape, each with its
    first words: as many as fit, or as stand before another link to the page that was named (“Read more”)."""
    total = sum(block.size for block in blocks)
    covered = bare = left = waiting = 0
    shapes: Counter[tuple[str, str]] = Counter()
    shape, target = ("", ""), ""
    for block in blocks:
        name, attributes = page.document.names[block.element], page.document.attributes[block.element]
        own = name, attributes.get("class") or ""
        targets = _targets(page, block) if block.linked else []
        if target and target in targets:
            covered += waiting + block.size
            waiting = 0
        elif targets and names_pages(block):
            shape, target, left, waiting = own, targets[0], TEASER, 0
            shapes[own] += 1
            covered += block.size
            bare += block.size
        elif _is_day(block):
            covered += block.size
            bare += block.size
        else:
            taken = min(block.size, left) if own != shape or name not in ("p", "li") else 0
            left -= taken
            covered += taken
            waiting += block.size - taken
    named = max(shapes.values(), default=0)
    return named > 0 and (bare >= BARE * total or (named >= FEWEST_NAMED and covered >= LISTED * total))


def _is_day(block: Block) -> bool:
    """Whether a block is a day, in a cell or line of its own."""
    beside = sum(map(len, _WORDS.findall(block.start)))
    return block.is_dated and not block.linked and block.size <= LABEL and beside <= LETTERS_BESIDE


def _targets(page: Outline, block: Block) -> list[str]:
    """Where the links of a block lead to, as they are written."""
    document = page.document
    links = (next((at for at in document.ancestors(node) if document.names[at] == "a"), 0) for node in block.nodes)
    return [href for link in dict.fromkeys(links) if (href := document.attributes[link].get("href") or "")]


def is_dated(blocks: Sequence[Block]) -> bool:
    """Whether most of the pages that are named have a number beside them, as a blog's have their days."""
    return 2 * sum(block.is_dated for block in blocks) >= max(1, sum(map(names_pages, blocks)))


def is_of_site(url: str, targets: Sequence[str]) -> bool:
    """Whether a list names pages of its own site: those of others are references, such as those of code to manuals."""
    site = _site(url)
    return 2 * sum(_site(target) == site for target in targets) >= max(1, len(targets))


def _site(url: str) -> str:
    host = _trunk(url).partition("/")[0].lower()
    return host.removeprefix("www.")


def is_index(url: str, targets: Sequence[str], template: SiteTemplate | None) -> bool:
    """Whether the pages that a list names lie below it, as the chapters of a book do, and are no lists themselves, as
    the tags of a list of tags are."""
    below = _below(url)
    site = below.partition("/")[0] + "/"
    named = [target for target in targets if _trunk(target).startswith(site) and _MAY_BE_PAGE.search(_trunk(target))]
    lower = [target for target in named if _trunk(target).startswith(below)]
    if below.count("/") < DEPTH or not lower or len(lower) < BELOW * len(named):
        return False
    kinds = template.lists if template is not None else {}
    known = [kinds[key] for key in map(address_key, lower) if key in kinds]
    return 2 * sum(known) < max(1, len(known))


def address_key(url: str) -> int:
    return crc32(_trunk(url).rstrip("/").encode("utf-8", "replace"))


def _trunk(url: str) -> str:
    try:
        split = urlsplit(url)
    except ValueError:
        return ""
    return split.netloc + split.path


def _below(url: str) -> str:
    """What the addresses of the pages below an address begin with."""
    above, _, last = _trunk(url).rpartition("/")
    name = last.partition(".")[0]
    return f"{above}/" if name in ("", "index") else f"{above}/{name}/"
