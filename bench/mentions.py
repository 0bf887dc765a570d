"""Mentions: how fast 100,000 titles and anchors are found in 12,000 pages of text, on one core.

    python bench/mentions.py [--phrases 100000] [--pages 12000] [--texts FILE.json]

Made-up text (seeded): English-like words by a Zipf law (exponent 1, 60,000 words of one to four syllables, the frequent
ones short), sentences of 6 to 24 words, paragraphs, a fifth of the pages with an accent or a typographic quote, about
4,800 characters a page. Phrases are one to six words (`SIZES`): half are cut
out of the text at a random word, half out of other such text.
`--texts` reads a real site from a JSON file {"texts": [...], "phrases": [...]}; what is missing of the phrases is cut
from its texts.

The time counted is Vocabulary.read plus PhraseBook.find over all pages, one MB of text at a time; the phrase book is
made before. Seconds are those that the core computed for us (one thread), so that other work on the machine does not
count. The floor is the target, 20 MB/s, and bytes are those of the text in UTF-8.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # figures are for one core

import numpy as np
from _common import head, load_of_ours, row, timed

from linker.engine.text.mentions import PhraseBook
from linker.engine.text.tokens import Vocabulary

SYLLABLES = (
    "ba ca do fi ge ha in ko lu mer na or pe qua ri sta tu ver wi zo con ter ing al er ent pro lan com de"
)  # fmt: skip
TARGET = 20.0
# Shares of titles and anchors of one, two, ... words: those of a reference site of 11,600 pages, but for its third of
# single names of functions and properties, which text made of few words would all hold.
SIZES = (0.05, 0.25, 0.35, 0.15, 0.12, 0.08)
AT_ONCE = 10**6


def made_up(pages: int, random: np.random.Generator) -> list[str]:
    syllables = np.array(SYLLABLES.split())
    sizes = np.minimum(1 + random.poisson(np.linspace(0.3, 2.2, 60_000)), 4)
    words = np.array(["".join(random.choice(syllables, size)) for size in sizes.tolist()])
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    texts = []
    for _ in range(pages):
        chosen = random.choice(len(words), 760, p=shares)
        parts = words[chosen].tolist()
        at = 0
        while at < len(parts):
            parts[at] = parts[at].capitalize()
            at += int(random.integers(6, 25))
            if at <= len(parts):
                parts[at - 1] += ".\n" if random.random() < 0.25 else "."
        if random.random() < 0.2:
            parts[5] += "’s café"
        texts.append(" ".join(parts))
    return texts


def cut(texts: list[str], count: int, random: np.random.Generator) -> list[str]:
    phrases = []
    for number in random.integers(len(texts), size=count).tolist():
        words = texts[number].split()
        first, size = int(random.integers(max(len(words) - 6, 1))), 1 + int(random.choice(len(SIZES), p=SIZES))
        if size == 1:  # a name, and no "the"
            words = [word for word in words[first:] if len(word) > 7] or words
            first = 0
        phrases.append(" ".join(words[first : first + size]))
    return phrases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phrases", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=12_000)
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args()
    random = np.random.default_rng(3)
    if options.texts:
        given = json.loads(options.texts.read_text())
        texts, phrases = given["texts"][: options.pages], given.get("phrases", [])
        phrases = phrases + cut(texts, options.phrases - len(phrases), random)
    else:
        texts = made_up(options.pages, random)
        other = made_up(max(options.pages // 20, 1), random)
        half = options.phrases // 2
        phrases = cut(texts, half, random) + cut(other, options.phrases - half, random)
    size = sum(len(text.encode()) for text in texts)
    vocabulary = Vocabulary()
    with timed() as making:
        book = PhraseBook(vocabulary, phrases, ["en"] * len(phrases))
    reading = finding = found = 0.0
    step = max(1, len(texts) * AT_ONCE // size)
    with load_of_ours(1.0) as load:
        for first in range(0, len(texts), step):
            some = texts[first : first + step]
            started = time.process_time()
            tokens = vocabulary.read(some, ["en"] * len(some))
            read = time.process_time()
            found += len(book.find(tokens))
            reading, finding = reading + read - started, finding + time.process_time() - read
    head()
    rate = size / 1e6 / (reading + finding)
    sizes = f"{book.count:,} phrases, {len(texts):,} pages, {size / 1e6:.0f} MB"
    row("mentions on one core", sizes, f"{rate:.1f} MB/s", f"{TARGET:.0f} MB/s", rate / TARGET, -1.0, load.python)
    print(f"made in {making.seconds:.1f} s, read in {reading:.1f} s, {found:,.0f} mentions found in {finding:.1f} s",
          file=sys.stderr)  # fmt: skip


if __name__ == "__main__":
    main()
