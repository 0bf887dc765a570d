"""Embedding: our throughput against SentenceTransformer.encode, an embed of an unchanged site, and the static model.

    python bench/embedding.py [--pages 400] [--rounds 3] [--texts FILE.json]

The pages are made up (seeded): words of a Zipf law over 20,000 made-up words, a fifth of each page's words from its own
topic of 200, so that pages have something to be alike in; texts of 700 to 1,100 characters as the recipe "full" gives
them. `--texts` reads a JSON file {"texts": [...], "links": [[place, place], ...]} of a real site instead.

Both sides encode the same texts in this process in turns, `--rounds` times, and the medians are compared. The floor of
the second embed is the first. The static model is fitted to the first 1,500 texts; its speed is compared to the plain
one of the teacher, and its loss is the share of the links (of the file; else of each page's ten nearest by the teacher)
found among ten nearest pages.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

import numpy as np
from _common import head, load_of_ours, migrate, note, row, timed
from django.conf import settings

from linker.embedding.encoders import SentenceTransformerEncoder, StaticEncoder
from linker.embedding.service import run_embed
from linker.models import Page, Project, RunKind
from linker.runs import lifecycle

WORDS, TOPICS, TOPIC_WORDS = 20_000, 300, 200
SYLLABLES = "ba ca do fi ge ha in ko lu mer na or pe qua ri sta tu ver wi zo con ter ing al er ent pro lan"


def made_up(pages: int, seed: int = 11) -> list[str]:
    random = np.random.default_rng(seed)
    words = ["".join(random.choice(SYLLABLES.split(), random.integers(1, 5))) for _ in range(WORDS)]
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    texts = []
    for _ in range(pages):
        topic = np.random.default_rng(seed + 1 + int(random.integers(TOPICS))).choice(WORDS, TOPIC_WORDS)
        chosen = random.choice(WORDS, 300, p=shares)
        chosen = np.where(random.random(300) < 0.2, random.choice(topic, 300), chosen)
        texts.append(" ".join(words[number] for number in chosen)[: random.integers(700, 1100)])
    return texts


def near(unit: np.ndarray, k: int = 10) -> set[tuple[int, int]]:
    found = set()
    for first in range(0, len(unit), 2000):
        product = unit[first : first + 2000] @ unit.T
        product[np.arange(len(product)), first + np.arange(len(product))] = -2
        for donor, targets in enumerate(np.argpartition(-product, k, axis=1)[:, :k].tolist(), first):
            found |= {(donor, target) for target in targets}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args()
    given = json.loads(options.texts.read_text()) if options.texts else {"texts": made_up(options.pages)}
    every = [text for text in given["texts"] if text]
    texts = [every[number] for number in np.random.default_rng(5).permutation(len(every))[: options.pages]]

    encoder = SentenceTransformerEncoder("all-MiniLM-L6-v2")
    plain_model = encoder._model
    encoder.encode(texts[:8])
    plain_seconds, our_seconds = [], []
    head()
    with load_of_ours() as load:
        for _ in range(options.rounds):
            with timed() as watch:
                plain = plain_model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
            plain_seconds.append(watch.seconds)
            with timed() as watch:
                ours = encoder.encode(texts)
            our_seconds.append(watch.seconds)
    cosine = float((ours * plain).sum(axis=1).mean())
    assert cosine >= 0.999, cosine
    plain_rate, rate = (len(texts) / statistics.median(seconds) for seconds in (plain_seconds, our_seconds))
    row(f"embedding, mean cosine {cosine:.4f}", f"{len(texts):,} pages", f"{rate:.1f}/s", f"{plain_rate:.1f}/s",
        rate / plain_rate, -1.5, load.python)  # fmt: skip

    migrate()
    project = Project.objects.create(slug="embedding", name="Embedding", base_url="https://bench.example")
    Page.objects.bulk_create(
        Page(project=project, url=f"https://bench.example/{n}", canonical_url=f"https://bench.example/{n}", body=text)
        for n, text in enumerate(texts)
    )

    def embed() -> float:
        with timed() as watch:
            run_embed(lifecycle.start_run(project, RunKind.EMBED, {}, to_queue=False))
        project.runs.update(status="succeeded")
        return watch.seconds

    first, second = embed(), min(embed() for _ in range(3))
    row("embed of an unchanged site", f"{len(texts):,} pages", f"{second:.2f} s", f"{first:.1f} s", first / second, -50)

    static = StaticEncoder("static:all-MiniLM-L6-v2", 0)
    with timed() as fitting:
        static.fit(texts[:1500])
    many = every * max(1, 20_000 // len(every))
    static.encode(many[:100])
    with load_of_ours() as load, timed() as watch:
        static.encode(many)
    row("static model", f"{len(many):,} texts", f"{len(many) / watch.seconds:,.0f}/s", f"{plain_rate:.1f}/s",
        len(many) / watch.seconds / plain_rate, -50, load.python)  # fmt: skip
    if "links" in given:
        taught = encoder.encode(given["texts"])
        links = {(donor, target) for donor, target in given["links"] if donor != target}
        found = [len(links & near(unit)) / len(links) for unit in (static.encode(given["texts"]), taught)]
        what = "links among the ten nearest, static model"
    else:
        kept = near(ours)
        found = [len(kept & near(static.encode(texts))) / len(kept), 1.0]
        what = "ten nearest of the teacher kept, static model"
    note(f"{what}: {found[0]:.4f}, teacher {found[1]:.4f}")
    note(f"the static model took {fitting.seconds:.0f} s to fit, once; it lies in {settings.VAR}")


if __name__ == "__main__":
    main()
