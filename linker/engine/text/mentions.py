"""Where names and anchors of pages are mentioned in texts.

Phrases are walked as a trie over tokens, from every token of the text at once and level by level in numpy; this finds
what an Aho-Corasick automaton over words would, without its cost in Python. A phrase matches as written (folded), or
inflected: every word equal by its stem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.text.hashing import hash_rows, hash_runs, prefix_sums
from linker.engine.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LONGEST = 20  # tokens of a phrase, as one title in fifty has more; longer ones are left out
TRIM = frozenset(".,;:!?\"'*•·|>-")


class _Trie:
    """Sequences of numbers and which of them start at a place; `ids` numbers the distinct sequences."""

    def __init__(self, sequences: NDArray[np.int32], lengths: NDArray[np.int64], alphabet: int) -> None:
        """`sequences` [p, LONGEST] padded with -1, of the numbers below `alphabet`."""
        self.alphabet = max(alphabet, 1)
        self.keys: list[NDArray[np.int64]] = []
        self.ends: list[NDArray[np.int64]] = []
        self.ids = np.full(len(sequences), -1, dtype=np.int64)
        state = np.zeros(len(sequences), dtype=np.int64)
        count = 0
        for level in range(int(lengths.max(initial=0))):
            alive = lengths > level
            key = state * self.alphabet + sequences[:, level]
            keys, place = np.unique(key[alive], return_inverse=True)
            state = np.zeros(len(sequences), dtype=np.int64)
            state[alive] = place
            ends = np.full(len(keys), -1, dtype=np.int64)
            final = alive & (lengths == level + 1)
            finals = np.unique(state[final])
            ends[finals] = count + np.arange(len(finals))
            count += len(finals)
            self.ids[final] = ends[state[final]]
            self.keys.append(keys)
            self.ends.append(ends)
        self.count = count
        self._first = _lookup_table(self.keys[0], self.alphabet) if self.keys else np.empty(0, dtype=np.int32)
        self._maybe = [_marked(keys) for keys in self.keys]
        self._place = [_placed(keys) for keys in self.keys]

    def walk(self, text: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Every match in `text`: first token, number of tokens, id of the sequence; in no order."""
        places, sizes, found = [], [], []
        for piece in range(0, len(text) if self.keys else 0, _PIECE):
            at = np.arange(piece, min(piece + _PIECE, len(text)))
            first = self._first[np.minimum(text[piece : piece + _PIECE].astype(np.int64), self.alphabet)]
            inside = np.flatnonzero(first >= 0)
            at, state = at[inside], first[inside].astype(np.int64)
            for level, ends in enumerate(self.ends):
                if level:
                    at, state = self._step(text, at, state, level)
                if not len(at):
                    break
                end = ends[state]
                done = np.flatnonzero(end >= 0)
                places.append(at[done])
                sizes.append(np.full(len(done), level + 1, dtype=np.int64))
                found.append(end[done])
        if not places:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        return np.concatenate(places), np.concatenate(sizes), np.concatenate(found)

    def _step(
        self, text: NDArray[np.int32], at: NDArray[np.int64], state: NDArray[np.int64], level: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ways that go on with the token at `level`, and the states they reach."""
        if len(at) and at[-1] + level >= len(text):
            inside = at + level < len(text)
            at, state = at[inside], state[inside]
        token = text[at + level]
        key = state * self.alphabet + token
        # Most ways end here, and a look at one byte is much less than a search.
        maybe = self._maybe[level]
        perhaps = np.flatnonzero(maybe[_slot(key, maybe)] & (token < self.alphabet))
        keys, key = self.keys[level], key[perhaps]
        place = _place_of(key, keys, self._place[level])
        hit = np.flatnonzero(place >= 0)
        return at[perhaps[hit]], place[hit]


_PIECE = 2**17  # tokens walked from together: enough that few calls are made, few enough to stay in the cache


def _slot(key: NDArray[np.int64], slots: NDArray[Any]) -> NDArray[np.int64]:
    bits = len(slots).bit_length() - 1
    return ((key.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)).view(np.int64)


def _marked(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which slots a key falls into; their number is a power of two, 16 or more a key."""
    marked = np.zeros(1 << (16 * len(keys) + 1).bit_length(), dtype=bool)
    marked[_slot(keys, marked)] = True
    return marked


def _placed(keys: NDArray[np.int64]) -> NDArray[np.int32]:
    """The place of each key in `keys`, at its slot or the next free one, -1 elsewhere; at most a quarter is taken."""
    slots = np.full(1 << (4 * len(keys) + 1).bit_length(), -1, dtype=np.int32)
    left = np.arange(len(keys))
    slot = _slot(keys, slots)
    while len(left):
        free = slots[slot] < 0
        slots[slot[free]] = left[free]  # of two, one stays
        lost = slots[slot] != left
        left, slot = left[lost], (slot[lost] + 1) & (len(slots) - 1)
    return slots


def _place_of(wanted: NDArray[np.int64], keys: NDArray[np.int64], slots: NDArray[np.int32]) -> NDArray[np.int64]:
    """The place of each wanted key in `keys`, -1 where it is not there; `slots` as `_placed` makes them."""
    slot = _slot(wanted, slots)
    place = slots[slot].astype(np.int64)  # looking up by smaller numbers takes twice as long
    lost = np.flatnonzero((place >= 0) & (keys[place] != wanted))
    while len(lost):
        slot[lost] = (slot[lost] + 1) & (len(slots) - 1)
        place[lost] = found = slots[slot[lost]]
        lost = lost[(found >= 0) & (keys[found] != wanted[lost])]
    return place


def _lookup_table(keys: NDArray[np.int64], alphabet: int) -> NDArray[np.int32]:
    table = np.full(alphabet + 1, -1, dtype=np.int32)
    table[keys] = np.arange(len(keys))
    return table


@dataclass(frozen=True)
class Mentions:
    """Phrases found, by page, then first token, then length; arrays [m].

    `page` int32; `phrase` int32: the phrase as written, or -1 where it is inflected; `group` int32: the phrases equal
    by stems; `token` int64 and `size` int8: first token within `Tokens` and number of tokens; `start`, `end` int32:
    place in the folded text, in characters; `alone` bool: nothing else is on the line; `leads` bool: the line
    begins with it.
    """

    page: NDArray[np.int32]
    phrase: NDArray[np.int32]
    group: NDArray[np.int32]
    token: NDArray[np.int64]
    size: NDArray[np.int8]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    alone: NDArray[np.bool_]
    leads: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.page)


class PhraseBook:
    """Phrases to look for.

    `phrase_of` int32 [len(texts)]: each text's phrase, equal for texts that fold to the same tokens, -1 where there is
    no word in it or it is longer than LONGEST tokens; `group_of` int32 [phrases]: the group of a phrase;
    `texts_of` gives a text a phrase was made of; `size` int8 [phrases]: tokens; `first` int64 [phrases]: the first of
    the texts with this phrase.
    """

    def __init__(self, vocabulary: Vocabulary, texts: Sequence[str], languages: Sequence[str]) -> None:
        tokens = vocabulary.read(texts, languages)
        is_word = vocabulary.word_mask()
        first, last = trimmed(tokens, vocabulary)
        lengths = last - first
        worded = np.add.reduceat(is_word[tokens.words], tokens.bounds[:-1]) > 0 if len(texts) else np.empty(0, bool)
        known = np.flatnonzero((lengths > 0) & (lengths <= LONGEST) & worded)
        words = _padded(tokens.words, first[known], lengths[known])
        stems = _padded(tokens.stems, first[known], lengths[known])
        alphabet = len(vocabulary)
        exact = _Trie(words, lengths[known], alphabet)
        self._loose = _Trie(stems, lengths[known], alphabet)
        self.phrase_of = np.full(len(texts), -1, dtype=np.int32)
        self.phrase_of[known] = exact.ids
        self.count, self.groups = exact.count, self._loose.count
        self.group_of = np.zeros(self.count, dtype=np.int32)
        self.group_of[exact.ids] = self._loose.ids
        self.size = np.zeros(self.count, dtype=np.int8)
        self.size[exact.ids] = lengths[known]
        self.first = np.full(self.count, len(texts), dtype=np.int64)
        np.minimum.at(self.first, exact.ids, known)
        # A phrase is known by the sum of its words.
        self._sums = np.zeros(self.count, dtype=np.int64)
        self._sums[exact.ids] = hash_rows(words).view(np.int64)
        self._place = _placed(self._sums)

    def forget_words(self) -> None:
        """Frees what `find` needs, once all texts are read: most of what a book holds."""
        del self._loose, self._sums, self._place

    def find(self, tokens: Tokens) -> Mentions:
        """Every mention of a phrase in the texts, overlapping ones included."""
        at, size, group = self._loose.walk(tokens.stems)
        order = np.argsort(at * (LONGEST + 1) + size, kind="stable")
        at, size, group = at[order], size[order], group[order]
        # Words that are equal have equal stems, in one language: what is as written is among what is found loosely.
        said = hash_runs(prefix_sums(tokens.words), at, at + size)
        phrase = _place_of(said.view(np.int64), self._sums, self._place)
        final = at + size - 1
        is_break = tokens.words == 0  # each text ends in one
        ends_line = is_break[np.minimum(final + 1, len(is_break) - 1)]
        leads = np.concatenate([[True], is_break])[at]
        counts = np.diff(np.searchsorted(at, tokens.bounds))
        return Mentions(
            np.repeat(np.arange(len(counts), dtype=np.int32), counts),
            phrase.astype(np.int32),
            group.astype(np.int32),
            at,
            size.astype(np.int8),
            tokens.starts[at],
            tokens.starts[final] + tokens.lengths[final],
            leads & ends_line,
            leads,
        )


def trimmed(tokens: Tokens, vocabulary: Vocabulary) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First token and the one after the last of each text, without punctuation that only surrounds it; int64 [texts]
    both, equal where nothing is left."""
    marks = vocabulary.numbers(TRIM)
    edge = np.isin(tokens.words, marks)
    edge[tokens.words == 0] = True
    position = np.arange(len(tokens.words))
    bounds = tokens.bounds
    if len(bounds) == 1:
        return bounds[:-1], bounds[:-1]
    inner = ~edge
    first = np.minimum.reduceat(np.where(inner, position, len(position)), bounds[:-1])
    last = np.maximum.reduceat(np.where(inner, position + 1, -1), bounds[:-1])
    empty = last < 0
    first[empty] = last[empty] = bounds[:-1][empty]
    return first, last


def _padded(values: NDArray[np.int32], first: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    padded = np.full((len(first), LONGEST), -1, dtype=np.int32)
    for place in range(LONGEST):
        inside = lengths > place
        padded[inside, place] = values[first[inside] + place]
    return padded
