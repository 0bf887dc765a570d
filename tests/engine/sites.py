"""Small sites for the engine's tests."""

from __future__ import annotations

import numpy as np

from linker.engine.blocks import CategoryTree
from linker.engine.site import Links, Site

TOPICS = ("tent", "stove", "kayak", "rope", "boot", "lamp", "map", "knife")


def made_site(pages: int = 120, seed: int = 3, links_a_page: int = 3, text: bool = True) -> Site:
    """Pages of eight topics that link to each other by name, mostly within the topic."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, len(TOPICS), pages)
    names = [f"{TOPICS[kind].title()} guide {page}" for page, kind in enumerate(topic.tolist())]
    vectors = np.eye(len(TOPICS), 16)[topic] + rng.normal(0, 0.2, (pages, 16))
    src, dst, anchors = [], [], []
    bodies = []
    for page in range(pages):
        same = np.flatnonzero((topic == topic[page]) & (np.arange(pages) != page))
        chosen = rng.choice(same, min(links_a_page, len(same)), replace=False).tolist() if len(same) else []
        lines = [f"About the {TOPICS[topic[page]]} and the weather of day {page}."]
        for target in chosen:
            src.append(page)
            dst.append(target)
            anchors.append(names[target])
            lines.append(f"Please read {names[target]} before you go out.")
        bodies.append("\n".join(lines) if text else "")
    return Site(
        urls=[f"https://a.example/{TOPICS[kind]}/{page}" for page, kind in enumerate(topic.tolist())],
        titles=[f"{name} | Shop" for name in names],
        h1s=names,
        bodies=bodies,
        languages=["en"] * pages,
        unit=vectors.astype(np.float32),
        nodes=topic.astype(np.int64) + 1,
        tree=CategoryTree(np.zeros(len(TOPICS) + 1, dtype=np.int64)),
        links=Links(np.array(src, dtype=np.int64), np.array(dst, dtype=np.int64), anchors),
        source=np.ones(pages, dtype=bool),
        target=np.ones(pages, dtype=bool),
    )
