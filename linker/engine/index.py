"""What a site's pages say, whatever its links: read once per run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.address_tree import AddressTree, address_tree
from linker.engine.arrays.memory import trim_malloc
from linker.engine.arrays.sparse import top_rows
from linker.engine.bodies import Occurrences, read_bodies
from linker.engine.limits import Limits
from linker.engine.nearest.vectors import USUAL, SearchOptions, nearest, nearest_in_category, nearest_within
from linker.engine.nearest.words import nearest_words, nearest_words_within
from linker.engine.phrases import Names, read_phrases
from linker.engine.site import Site
from linker.engine.text.mentions import PhraseBook
from linker.engine.text.template import Template, find_template
from linker.engine.text.terms import count_terms, weigh_terms
from linker.engine.text.titles import SiteTitles, read_titles
from linker.engine.text.tokens import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.text.tokens import Tokens

NEAR = 40  # pages kept with each page, by vector and by words
IN_CATEGORY = 10  # pages kept with each page, by vector in its category
FEW = 10  # of which so many are the pages around it

Progress = Callable[[int, int, str], None]


def no_progress(_done: int, _total: int, _stage: str) -> None:
    """For a caller that shows no progress."""


@dataclass(frozen=True)
class TextIndex:
    """What is read from the texts of a site of n pages: enough to choose the words of links.

    `template`: what the site's titles share. `vocabulary`: what the texts were read with; its words are columns of
    `terms`, `body`, `in_texts` and `title` (see `linker.engine.text.terms.TermMatrices`). `book`, `phrase_text`,
    `anchor_phrase`, `names`: see `linker.engine.phrases.SitePhrases`. `occurrences`: mentions of the phrases in the
    texts. `tokens`, `lines` int64 [n]: length of each text. `limits`: how much those who read the index hold at a time.
    """

    site: Site
    template: Template
    vocabulary: Vocabulary
    book: PhraseBook
    phrase_text: Sequence[str]
    anchor_phrase: NDArray[np.int32]
    names: Names
    occurrences: Occurrences
    terms: sparse.csr_matrix
    body: sparse.csr_matrix
    in_texts: NDArray[np.int64]
    title: sparse.csr_matrix
    tokens: NDArray[np.int64]
    lines: NDArray[np.int64]
    limits: Limits

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each text begins among the tokens of all, int64 [n + 1]."""
        return np.concatenate([[0], np.cumsum(self.tokens)])

    @cached_property
    def phrase_chars(self) -> NDArray[np.float32]:
        """Characters of each phrase, [phrases]."""
        return np.fromiter(map(len, self.phrase_text), dtype=np.float32, count=len(self.phrase_text))


@dataclass(frozen=True)
class SiteIndex(TextIndex):
    """All that is computed once for a site of n pages.

    `title_unit` [n, v]: terms of title and H1, rows of length 1. `near`, `near_words` [n, n]: cosines of the NEAR
    targets nearest to each page by vector and by words; `around`: of the FEW nearest by vector; `near_category`: of the
    IN_CATEGORY nearest by vector in the page's category. `near_within`, `words_within` [n, n]: as `near` and
    `near_words`, of the targets within the site's `levels_up`; None for a site without. `titles`: the words of the
    titles in their order.
    """

    title_unit: sparse.csr_matrix
    near: sparse.csr_matrix
    around: sparse.csr_matrix
    near_category: sparse.csr_matrix
    near_words: sparse.csr_matrix
    near_within: sparse.csr_matrix | None
    words_within: sparse.csr_matrix | None
    address: AddressTree
    titles: SiteTitles

    def texts_alone(self) -> TextIndex:
        """The part that is needed once all pairs are ranked, without the vectors."""
        kept = {name: getattr(self, name) for name in TextIndex.__dataclass_fields__}
        return TextIndex(**kept | {"site": replace(self.site, unit=self.site.unit[:0])})


def build_index(
    site: Site,
    progress: Progress = no_progress,
    limits: Limits | None = None,
    search: SearchOptions = USUAL,
    asked: NDArray[np.int64] | None = None,
) -> SiteIndex:
    """Reads a site that `linker.engine.site.checked` returned. The nearest pages are looked for of all pages; where
    some are `asked` about, int64 [k], ascending, of these alone and by vector alone, as long as `with_nearest` has not
    been asked for more."""
    limits = limits or Limits()
    progress(0, 4, "Finding the nearest pages")  # before the texts are read, since it takes the most memory
    near = nearest(site.unit, NEAR, site.target, search, asked)
    none = sparse.csr_matrix((len(site), len(site)), dtype=np.float32)
    near_category = none
    if asked is None:
        near_category = nearest_in_category(site.unit, near, IN_CATEGORY, site.target, site.nodes, site.tree, search)
    near_within = None
    if site.levels_up is not None:
        near_within = nearest_within(site.unit, NEAR, site.target, site.nodes, site.tree, site.levels_up, search)
    template, vocabulary = find_template(site.titles, site.h1s), Vocabulary()
    phrases = read_phrases(site, vocabulary, template)
    progress(1, 4, "Reading the texts")
    trim_malloc()
    bodies = read_bodies(site, vocabulary, phrases.book, limits.characters)
    phrases.book.forget_words()
    progress(3, 4, "Comparing words")
    heads = _read_heads(site, vocabulary, template)
    is_stop = vocabulary.stop_mask(site.languages)
    weights = weigh_terms(bodies.terms, count_terms(heads, vocabulary), is_stop)
    trim_malloc()
    words_within = None
    if site.levels_up is not None:
        words_within = nearest_words_within(weights.terms, NEAR, site, site.levels_up)
    return SiteIndex(
        site=site,
        template=template,
        vocabulary=vocabulary,
        book=phrases.book,
        phrase_text=phrases.text,
        anchor_phrase=phrases.anchor_phrase,
        names=phrases.names,
        occurrences=bodies.occurrences,
        terms=weights.terms,
        body=weights.body,
        in_texts=weights.in_texts,
        title=weights.title,
        tokens=bodies.tokens,
        lines=bodies.lines,
        limits=limits,
        title_unit=weights.title_unit,
        near=near,
        around=top_rows(near, FEW),
        near_category=near_category,
        near_words=none if asked is not None else nearest_words(weights.terms, NEAR, site.target),
        near_within=near_within,
        words_within=words_within,
        address=address_tree(site.urls),
        titles=read_titles(heads, vocabulary, is_stop),
    )


def with_nearest(
    index: SiteIndex, sources: NDArray[np.int64], around: NDArray[np.int64], search: SearchOptions = USUAL
) -> SiteIndex:
    """The index with the nearest pages of some `sources`, and by vector alone of the pages `around` them, int64 [k]
    both, ascending; other pages have none."""
    site = index.site
    near = nearest(site.unit, NEAR, site.target, search, np.union1d(sources, around))
    return replace(
        index,
        near=near,
        around=top_rows(near, FEW),
        near_category=nearest_in_category(
            site.unit, near, IN_CATEGORY, site.target, site.nodes, site.tree, search, sources
        ),
        near_words=nearest_words(index.terms, NEAR, site.target, sources),
    )


def _read_heads(site: Site, vocabulary: Vocabulary, template: Template) -> Tokens:
    """Each page's title, and on the next line its H1."""
    heads = []
    for title, h1 in zip(site.titles, site.h1s, strict=True):
        name = template.strip(title)
        heads.append(f"{name}\n{name if h1 == title else template.strip(h1)}")
    return vocabulary.read(heads, site.languages)
