"""What a site's pages say, whatever its links: read once a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
from scipy import sparse
from sparse_dot_topn import sp_matmul_topn

from linker.engine.anchors.candidates import short_forms
from linker.engine.arrays.disk import Texts, in_file, let_go
from linker.engine.arrays.memory import give_back
from linker.engine.arrays.vectors import slices
from linker.engine.candidates.category import Category
from linker.engine.candidates.vector_search import (
    USUAL,
    SearchOptions,
    groups_within,
    nearest,
    nearest_in_category,
    nearest_within,
)
from linker.engine.graph.links import stacked, top_rows, without_diagonal
from linker.engine.limits import Limits
from linker.engine.site import Site
from linker.engine.text.clean import clean, has_word
from linker.engine.text.fold import fold
from linker.engine.text.generic import primary_language, stop_words
from linker.engine.text.mentions import PhraseBook
from linker.engine.text.template import Template, find_template
from linker.engine.text.tokens import BATCH, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.text.tokens import Tokens

TITLE, H1, SHORT, SLUG = 1, 2, 4, 8  # where a name of a page comes from; bits
NEAR = 40  # pages kept with each page, by meaning and by words
FEW = 10  # of which so many are the pages around it
KEPT_TERMS = 80  # terms of a page by which pages are compared
ASKED_TERMS = 20  # terms of a page that the pages nearest by words are looked for by
POSTINGS = 4_000  # pages that a term leads to, those it weighs most in

Progress = Callable[[int, int, str], None]


def no_progress(_done: int, _total: int, _stage: str) -> None:
    """Progress nobody looks at."""


@dataclass(frozen=True)
class Occurrences:
    """Mentions of the site's phrases in its texts, by page and place; arrays [m], in files: they are read when evidence
    is made and when anchors are chosen, and not in between.

    As `linker.engine.text.mentions.Mentions`, with `at` and `line` counted over all texts of the site, and `capital`:
    the first letter stands in upper case.
    """

    page: NDArray[np.int32]
    phrase: NDArray[np.int32]
    group: NDArray[np.int32]
    at: NDArray[np.integer[Any]]
    size: NDArray[np.int8]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    line: NDArray[np.int32]
    alone: NDArray[np.bool_]
    leads: NDArray[np.bool_]

    def let_go(self) -> None:
        """Takes no memory until they are read again."""
        let_go(*vars(self).values())


@dataclass(frozen=True)
class Names:
    """Names of pages as phrases, one row a (phrase, page): `phrase` int32, `page` int64, `bits` int32 of TITLE ..."""

    phrase: NDArray[np.int32]
    page: NDArray[np.int64]
    bits: NDArray[np.int32]


@dataclass(frozen=True)
class TextIndex:
    """What is read from the texts of a site of n pages: enough to choose the words of links.

    `vocabulary`: what the texts were read with, whose numbers `terms`, `body` and `title` have as columns.
    `anchor_phrase` int32 [links]: the phrase of each link's anchor, -1 for none. `terms` [n, v] unit tf-idf rows of the
    KEPT_TERMS best terms; `body` [n, v] int8: 1 where a term of any title stands in a text; `in_texts` int64 [v]: texts
    that a term stands in, 0 for those that are left out; `title` [n, v]: tf-idf of title and H1, rows of sum 1.
    `tokens`, `lines` int64 [n]: length of each text. `limits`: what is held at a time by those who read the index.
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
    """What is computed once for a site of n pages.

    `title_unit` [n, v]: tf-idf of title and H1, rows of length 1. `near`, `near_words` [n, n]: cosines of the NEAR
    nearest targets; `around` of the FEW nearest by meaning; `near_category` of the nearest in the page's category.
    `near_within`, `words_within` [n, n]: as `near` and `near_words`, of the targets within the site's `levels_up`; None
    where it has none.
    """

    title_unit: sparse.csr_matrix
    near: sparse.csr_matrix
    around: sparse.csr_matrix
    near_category: sparse.csr_matrix
    near_words: sparse.csr_matrix
    near_within: sparse.csr_matrix | None
    words_within: sparse.csr_matrix | None
    address: AddressTree

    def texts_alone(self) -> TextIndex:
        """What is needed when all pairs are ranked, without the vectors."""
        kept = {name: getattr(self, name) for name in TextIndex.__dataclass_fields__}
        return TextIndex(**kept | {"site": replace(self.site, unit=self.site.unit[:0])})


@dataclass(frozen=True)
class AddressTree:
    """Pages in the tree of their addresses.

    `parent` int64 [n]: the page whose address is the longest proper beginning, by segments, or -1; `depth` int64 [n]:
    segments; `folder` int64 [n]: number of the address without its last segment; `last`: number of the last segment.
    """

    parent: NDArray[np.int64]
    depth: NDArray[np.int64]
    folder: NDArray[np.int64]
    last: NDArray[np.int64]

    @cached_property
    def by_parent(self) -> NDArray[np.int64]:
        """Pages by the page above them."""
        return np.argsort(self.parent, kind="stable")

    @cached_property
    def by_folder(self) -> NDArray[np.int64]:
        """Pages by their folder."""
        return np.argsort(self.folder, kind="stable")

    @cached_property
    def rooted(self) -> NDArray[np.int64]:
        """The parents as a tree under one root: node 0 is the root, node k + 1 is page k; int64 [n + 1]."""
        return np.concatenate([[0], self.parent + 1])

    @cached_property
    def rooted_depths(self) -> NDArray[np.int64]:
        """Steps from each node of `rooted` to the root."""
        return depths(self.rooted)


def depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps from each node to the root, which is node 0 and its own parent; int64 [n]."""
    depth = np.zeros(len(parent), dtype=np.int64)
    node = np.arange(len(parent))
    while (node != 0).any():
        depth += node != 0
        node = parent[node]
    return depth


def segments(url: str) -> tuple[str, ...]:
    """Host and the parts of the path, folded; index files and empty parts left out."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return (fold(url),)
    path = [part for part in fold(unquote(parts.path)).split("/") if part]
    if path and re.fullmatch(r"(?:index|default)\.\w{2,5}", path[-1]):
        path.pop()
    query = (fold(parts.query),) if parts.query else ()
    return (parts.netloc.lower(), *path, *query)


def address_tree(urls: Sequence[str]) -> AddressTree:
    """The tree of addresses; of pages with one address the first stands for it."""
    split = [segments(url) for url in urls]
    page_of: dict[tuple[str, ...], int] = {}
    for page, parts in enumerate(split):
        page_of.setdefault(parts, page)
    parent = np.full(len(urls), -1, dtype=np.int64)
    folders: dict[tuple[str, ...], int] = {}
    lasts: dict[str, int] = {}
    folder, last = np.empty(len(urls), np.int64), np.empty(len(urls), np.int64)
    for page, parts in enumerate(split):
        parent[page] = next(
            (page_of[parts[:stop]] for stop in range(len(parts) - 1, 0, -1) if parts[:stop] in page_of), -1
        )
        folder[page] = folders.setdefault(parts[:-1], len(folders))
        last[page] = lasts.setdefault(parts[-1], len(lasts))
    return AddressTree(parent, np.array([len(parts) for parts in split], dtype=np.int64), folder, last)


def build_index(
    site: Site, progress: Progress = no_progress, limits: Limits | None = None, search: SearchOptions = USUAL
) -> SiteIndex:
    """Reads a site that `checked` returned."""
    limits = limits or Limits()
    progress(0, 4, "Finding the nearest pages")  # before the texts are read, as it takes the most room
    near = nearest(site.unit, NEAR, site.target, search)
    near_category = nearest_in_category(site.unit, near, Category.most, site.target, site.nodes, site.tree, search)
    near_within = None
    if site.levels_up is not None:
        near_within = nearest_within(site.unit, NEAR, site.target, site.nodes, site.tree, site.levels_up, search)
    template = find_template(site.titles, site.h1s)
    vocabulary = Vocabulary()
    texts, languages, pages, bits = _names(site, template)
    anchor_texts = list(dict.fromkeys(site.links.anchors))
    anchor_language: dict[str, str] = {}
    for target, anchor in zip(site.links.dst.tolist(), site.links.anchors, strict=True):
        anchor_language.setdefault(anchor, site.languages[target])
    all_texts = [*texts, *anchor_texts]
    book = PhraseBook(vocabulary, all_texts, [*languages, *(anchor_language[text] for text in anchor_texts)])
    place = {text: len(texts) + number for number, text in enumerate(anchor_texts)}
    of_anchor = np.array([place[anchor] for anchor in site.links.anchors], dtype=np.int64)
    anchor_phrase = book.phrase_of[of_anchor] if len(of_anchor) else np.empty(0, np.int32)
    names = _name_rows(book, np.array(pages, dtype=np.int64), np.array(bits, dtype=np.int32))
    phrase_text = Texts(all_texts[first] for first in book.first.tolist())
    del texts, languages, pages, bits, anchor_texts, anchor_language, all_texts, place, of_anchor
    progress(1, 4, "Reading the texts")
    give_back()
    read = _read_bodies(site, vocabulary, book, limits.characters)
    book.forget_words()
    progress(3, 4, "Comparing words")
    heads = vocabulary.read(
        [f"{template.strip(title)}\n{template.strip(h1)}" for title, h1 in zip(site.titles, site.h1s, strict=True)],
        site.languages,
    )
    terms, body, in_texts, title, title_unit = _lexical(site, vocabulary, read.counts, _count_terms(heads, vocabulary))
    del heads
    give_back()
    near_words = nearest_words(terms, site.target)
    words_within = None if site.levels_up is None else nearest_words_within(terms, site, site.levels_up)
    return SiteIndex(
        site=site,
        template=template,
        vocabulary=vocabulary,
        book=book,
        phrase_text=phrase_text,
        anchor_phrase=anchor_phrase,
        names=names,
        occurrences=read.occurrences,
        terms=terms,
        body=body,
        in_texts=in_texts,
        title=title,
        tokens=read.tokens,
        lines=read.lines,
        limits=limits,
        title_unit=title_unit,
        near=near,
        around=top_rows(near, FEW),
        near_category=near_category,
        near_words=near_words,
        near_within=near_within,
        words_within=words_within,
        address=address_tree(site.urls),
    )


def _names(site: Site, template: Template) -> tuple[list[str], list[str], list[int], list[int]]:
    """Texts that name a page, with language, page and bits."""
    rows: list[tuple[str, str, int, int]] = []
    for page, (url, title, h1, language) in enumerate(
        zip(site.urls, site.titles, site.h1s, site.languages, strict=True)
    ):
        if not site.target[page]:
            continue
        stops = stop_words(primary_language(language))
        for raw, bit in ((title, TITLE), (h1, H1)):
            name = template.strip(raw) if raw else ""
            if not name or template.is_repeated(name):
                continue
            rows.append((name, language, page, bit))
            rows += [(form, language, page, SHORT) for form in short_forms(name, stops) if form and form != name]
        slug = segments(url)[-1] if len(segments(url)) > 1 else ""
        words = clean(re.sub(r"[-_+]+|\.\w{2,5}$", " ", slug))
        if has_word(words) and not words.isdecimal():
            rows.append((words, language, page, SLUG))
    if not rows:
        return [], [], [], []
    texts, languages, pages, bits = zip(*rows, strict=True)
    return list(texts), list(languages), list(pages), list(bits)


def _name_rows(book: PhraseBook, pages: NDArray[np.int64], bits: NDArray[np.int32]) -> Names:
    phrase = book.phrase_of[: len(pages)]
    known = phrase >= 0
    phrase, pages, bits = phrase[known], pages[known], bits[known]
    order = np.lexsort((pages, phrase))
    phrase, pages, bits = phrase[order], pages[order], bits[order]
    if not len(phrase):
        return Names(phrase, pages, bits)
    new = np.concatenate([[True], (phrase[1:] != phrase[:-1]) | (pages[1:] != pages[:-1])])
    first = np.flatnonzero(new)
    return Names(phrase[first], pages[first], np.bitwise_or.reduceat(bits, first))


@dataclass(frozen=True)
class _Counts:
    """Terms of some texts, one after the other: `term` int32, `times` of a width that holds them, and `bounds` int64
    [texts + 1]: where each text's begin. Terms ascend within a text."""

    term: NDArray[np.int32]
    times: NDArray[np.integer[Any]]
    bounds: NDArray[np.int64]


@dataclass(frozen=True)
class _Read:
    """What the texts hold: the mentions, the terms of chunks of them, and tokens and lines of each, int64 [n]."""

    occurrences: Occurrences
    counts: list[_Counts]
    tokens: NDArray[np.int64]
    lines: NDArray[np.int64]


def _read_bodies(site: Site, vocabulary: Vocabulary, book: PhraseBook, characters: int) -> _Read:
    found: list[tuple[NDArray[np.generic], ...]] = []
    counted: list[_Counts] = []
    lengths, line_counts = [], []
    tokens_before, lines_before = 0, 0
    for first, stop in chunks(site.bodies, characters):
        tokens = vocabulary.read(site.bodies[first:stop], site.languages[first:stop])
        mentions = book.find(tokens)
        line = np.cumsum(tokens.words == 0)
        found.append(
            (
                mentions.page + np.int32(first),
                mentions.phrase,
                mentions.group,
                _narrow(mentions.token + tokens_before),
                mentions.size,
                mentions.start,
                mentions.end,
                (line[mentions.token] + lines_before).astype(np.int32),
                mentions.alone,
                mentions.leads,
            )
        )
        counted.append(_count_terms(tokens, vocabulary))
        lengths.append(np.diff(tokens.bounds))
        line_counts.append(np.add.reduceat((tokens.words == 0).astype(np.int64), tokens.bounds[:-1]))
        tokens_before += len(tokens.words)
        lines_before += int(line[-1])
    columns = [in_file(np.concatenate(column)) for column in zip(*found, strict=True)]
    return _Read(Occurrences(*columns), counted, np.concatenate(lengths), np.concatenate(line_counts))


def _narrow(places: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
    """Ascending places in half the room, where they fit."""
    return places.astype(np.int32) if not len(places) or places[-1] < 2**31 else places


def chunks(bodies: Sequence[str], characters: int) -> list[tuple[int, int]]:
    """Slices of texts of so many characters or little more, cut where the vocabulary ends a batch: the numbers that
    words are given do not depend on the slices."""
    found, first, load, batch = [], 0, 0, 0
    for page, body in enumerate(bodies, 1):
        load, batch = load + len(body), batch + len(body)
        if batch >= BATCH:
            batch = 0
            if load >= characters:
                found.append((first, page))
                first, load = page, 0
    return found if found and first == len(bodies) else [*found, (first, len(bodies))]


def _count_terms(tokens: Tokens, vocabulary: Vocabulary) -> _Counts:
    is_word = vocabulary.word_mask()[tokens.stems]
    size = len(vocabulary)
    key = tokens.pages()[is_word].astype(np.int64) * size + tokens.stems[is_word]
    distinct, times = np.unique(key, return_counts=True)
    texts = len(tokens.bounds) - 1
    return _Counts(
        (distinct % size).astype(np.int32),
        times.astype(np.min_scalar_type(int(times.max(initial=0)))),
        np.searchsorted(distinct, np.arange(texts + 1) * size),
    )


def _lexical(
    site: Site, vocabulary: Vocabulary, counts: list[_Counts], heads: _Counts
) -> tuple[sparse.csr_matrix, sparse.csr_matrix, NDArray[np.int64], sparse.csr_matrix, sparse.csr_matrix]:
    """See TextIndex and SiteIndex: terms, body, in_texts, title, title_unit. Function words, and terms of one text and
    no title, are left out.

    Empties `counts` as it goes: they are as large as what is made of them.
    """
    pages, size = len(site), len(vocabulary)
    in_texts = np.zeros(size, dtype=np.int64)
    for part in counts:
        in_texts += np.bincount(part.term, minlength=size)
    stops = vocabulary.stop_mask(site.languages)
    idf = np.log((pages + 1) / (in_texts + 1)) + 1
    titled = np.zeros(size, dtype=bool)
    titled[heads.term] = True
    wanted = ~stops & ((in_texts > 1) | titled) & (in_texts <= max(0.5 * pages, 10))
    bodies, best = [], []
    counts.reverse()
    while counts:
        part = counts.pop()
        keep = wanted[part.term]
        term = part.term[keep]
        bounds = np.concatenate([[0], np.cumsum(keep)])[part.bounds]
        weight = ((1 + np.log(part.times[keep].astype(np.int32))) * idf[term]).astype(np.float32)
        shape = (len(bounds) - 1, size)
        best.append(unit_rows(top_rows(sparse.csr_matrix((weight, term, bounds), shape=shape), KEPT_TERMS)))
        keep = titled[term]
        term, bounds = term[keep], np.concatenate([[0], np.cumsum(keep)])[bounds]
        bodies.append(sparse.csr_matrix((np.ones(len(term), dtype=np.int8), term, bounds), shape=shape))
    keep = ~stops[heads.term]
    term = heads.term[keep]
    bounds = np.concatenate([[0], np.cumsum(keep)])[heads.bounds]
    title = sparse.csr_matrix((idf[term].astype(np.float32), term, bounds), shape=(pages, size))
    total = np.asarray(title.sum(axis=1)).ravel()
    share = sparse.diags(np.divide(1, total, out=np.zeros(pages), where=total > 0).astype(np.float32)) @ title
    share.sort_indices()
    return stacked(best), stacked(bodies), np.where(wanted, in_texts, 0), sparse.csr_matrix(share), unit_rows(title)


def unit_rows(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows scaled to length 1; empty ones stay empty."""
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = np.divide(1, length, out=np.zeros(len(length)), where=length > 0).astype(np.float32)
    unit = sparse.csr_matrix(sparse.diags(scale) @ matrix, dtype=np.float32)
    unit.sort_indices()
    return unit


def nearest_words(terms: sparse.csr_matrix, is_target: NDArray[np.bool_]) -> sparse.csr_matrix:
    """The NEAR targets nearest to each page by words.

    Each page asks with its ASKED_TERMS best terms, and a term leads to POSTINGS pages at most: the work of a page is
    bounded, whatever the size of the site.
    """
    asked = top_rows(terms, ASKED_TERMS)
    postings = top_rows((sparse.diags(is_target.astype(np.float32)) @ terms).T, POSTINGS)
    parts = []
    for part in slices(terms.shape[0]):
        found = sp_matmul_topn(asked[part], postings, NEAR + 1, threshold=0.0)
        parts.append(top_rows(without_diagonal(found, part.start), NEAR))
    return stacked(parts)


def nearest_words_within(terms: sparse.csr_matrix, site: Site, levels_up: int) -> sparse.csr_matrix:
    """As `nearest_words`, of the targets that lie within `levels_up` levels of each page's category. Pages that look
    over all targets have none."""
    asked, parts, places = top_rows(terms, ASKED_TERMS), [], []
    for pages, targets in groups_within(site.nodes, site.target, site.tree, levels_up):
        places.append(pages)
        block = terms[targets]
        used, column = np.unique(block.indices, return_inverse=True)
        if not len(used):
            parts.append(sparse.csr_matrix((len(pages), len(site)), dtype=np.float32))
            continue
        # The columns are those of the group's own terms: the vocabulary of the site is many times as long.
        rows = sparse.csr_matrix((block.data, column, block.indptr), shape=(len(targets), len(used)))
        mine = asked[pages]
        place = np.minimum(np.searchsorted(used, mine.indices), len(used) - 1)
        weight = np.where(used[place] == mine.indices, mine.data, np.float32(0))
        mine = sparse.csr_matrix((weight, place, mine.indptr), shape=(len(pages), len(used)))
        mine.eliminate_zeros()
        found = sp_matmul_topn(mine, top_rows(rows.T, POSTINGS), NEAR + 1, threshold=0.0)
        other = targets[found.indices]
        own = other == np.repeat(pages, np.diff(found.indptr))
        weight = np.where(own, np.float32(0), found.data)
        found = sparse.csr_matrix((weight, other, found.indptr), shape=(len(pages), len(site)))
        found.eliminate_zeros()
        found.sort_indices()
        parts.append(top_rows(found, NEAR))
    return stacked(parts)[np.argsort(np.concatenate(places))]
