"""A made-up site of any size for the benches: pages in categories of Zipf sizes, with vectors and links, seeded.

Page k of n belongs to one of n/50 categories under the root; the r-th largest has a share of 1/r (Zipf) of the pages.
Its vector is 0.65 of its category's direction, 0.45 of its subtopic's (about 40 pages of the category) and 0.61 of
its own, so that pages of a subtopic have cosines of about 0.6, of a category 0.4, and of the site 0, as sentence
vectors do. It has ten body links, half of them within its category. Titles are of three words, two of them the
subtopic's; there are no bodies. Everything goes in by COPY; the foreign keys of what is loaded hold by construction
and are not checked one by one.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from django.db import connection, transaction

from linker.engine.arrays.vectors import unit_rows
from linker.models import Category, EmbeddingModel, Project
from linker.models.project import VectorSource
from linker.projects.create import create_project
from linker.storage.copy import analyze, copy_in
from linker.storage.vectors import halfvec

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 384
PAGES_A_CATEGORY = 50
LINKS_A_PAGE = 10
SUBTOPIC = 40
CHUNK = 50_000


def sizes(pages: int, categories: int) -> NDArray[np.int64]:
    """Pages of each category, largest first, at least one each: int64 [categories], adding up to `pages`."""
    share = 1 / np.arange(1, categories + 1)
    size = np.maximum(1, np.floor(share / share.sum() * pages)).astype(np.int64)
    size[0] += pages - size.sum()
    return size


def _words(count: int, random: np.random.Generator) -> list[str]:
    consonants, vowels = list("bdfgklmnprstvz"), list("aeiou")
    drawn_c, drawn_v = random.integers(0, 14, (count, 4)), random.integers(0, 5, (count, 4))
    return [
        "".join(consonants[c] + vowels[v] for c, v in zip(left, right, strict=True))
        for left, right in zip(drawn_c.tolist(), drawn_v.tolist(), strict=True)
    ]


def _directions(count: int, random: np.random.Generator) -> NDArray[np.float32]:
    return unit_rows(random.standard_normal((count, DIMENSIONS), dtype=np.float32))


def make_site(pages: int, *, slug: str = "", seed: int = 7, one_block: bool = False, links: bool = True) -> Project:
    """The project, made if it is not there. `one_block`: all pages in one category."""
    slug = slug or f"bench-{pages}{'-one' if one_block else ''}-{seed}"
    known = Project.objects.filter(slug=slug).first()
    if known is not None:
        return known
    random = np.random.default_rng(seed)
    with transaction.atomic():
        project = create_project(slug=slug, name=slug, base_url="https://bench.example")
        project.vector_source = VectorSource.IMPORTED
        project.save()
        model = EmbeddingModel.objects.create(name="bench", version="1", dimensions=DIMENSIONS, project=project)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
        count = 1 if one_block else max(1, pages // PAGES_A_CATEGORY)
        size = sizes(pages, count)
        _pages(project, model, size, random)
        if links:
            _links(project, size, random)
    analyze("linker_page", "linker_category", "linker_pageembedding", "linker_existinglink")
    return project


def _pages(project: Project, model: EmbeddingModel, size: NDArray[np.int64], random: np.random.Generator) -> None:
    names = [f"Category {number}" for number in range(1, len(size) + 1)]
    ids = make_categories(project, names)
    words = _words(5000, random)
    first = next_id("linker_page", int(size.sum()))
    place = 0
    pending: list[NDArray[np.float32]] = []
    waiting = 0
    for category, many in zip(ids.tolist(), size.tolist(), strict=True):
        topics = -(-many // SUBTOPIC)
        centre, around = _directions(1, random), _directions(topics, random)
        topic_words = random.integers(0, len(words), (topics, 2)).tolist()
        for start in range(0, many, CHUNK):
            stop = min(start + CHUNK, many)
            topic = np.arange(start, stop) // SUBTOPIC
            pending.append(0.65 * centre + 0.45 * around[topic] + 0.61 * _directions(stop - start, random))
            own = random.integers(0, len(words), stop - start).tolist()
            _copy_pages(project, category, first + place + waiting, topic.tolist(), topic_words, own, words)
            waiting += stop - start
            if waiting >= CHUNK:
                _copy_vectors(model, first + place, np.concatenate(pending))
                place, waiting, pending = place + waiting, 0, []
    if pending:
        _copy_vectors(model, first + place, np.concatenate(pending))


def next_id(table: str, count: int) -> int:
    """The first of `count` ids taken from the table's sequence."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT nextval('{table}_id_seq')")
        first = cursor.fetchone()[0]
        cursor.execute(f"SELECT setval('{table}_id_seq', %s)", [first + count])
    return int(first)


def make_categories(project: Project, names: list[str]) -> NDArray[np.int64]:
    """The ids of new categories of these names."""
    made = Category.objects.bulk_create(
        [
            Category(project=project, name=name, path=[name], depth=1,
                     path_key=hashlib.sha256(name.encode()).hexdigest())
            for name in names
        ],
        batch_size=2000,
    )  # fmt: skip
    return np.array([category.pk for category in made], dtype=np.int64)


def _copy_pages(
    project: Project, category: int, first: int, topic: list[int], topic_words: list[list[int]], own: list[int],
    words: list[str],
) -> None:  # fmt: skip
    columns = (
        "id, project_id, url, canonical_url, status, title, h1, headings, description, body, language, category_id, "
        "status_code, indexable, indexability_status, canonical_link, redirect_url, inlinks, outlinks, "
        "first_seen_at, last_seen_at"
    )
    lines = []
    for page, (number, word) in enumerate(zip(topic, own, strict=True), first):
        left, right = topic_words[number]
        title = f"{words[left].title()} {words[right]} {words[word]}"
        url = f"https://bench.example/{words[left]}/{words[word]}-{page}"
        lines.append(
            f"{page}\t{project.pk}\t{url}\t{url}\tlive\t{title}\t{title}\t{{}}\t\t\ten\t{category}\t200\tt\t\t\t\t"
            f"0\t0\tnow\tnow\n"
        )
    with connection.cursor() as cursor, cursor.copy(f"COPY linker_page ({columns}) FROM STDIN") as copy:
        copy.write("".join(lines).encode())


def _copy_vectors(model: EmbeddingModel, first: int, vectors: NDArray[np.float32]) -> None:
    stored = np.empty(len(vectors), dtype=halfvec(DIMENSIONS))
    stored["dim"], stored["unused"], stored["x"] = DIMENSIONS, 0, unit_rows(vectors)
    copy_in(
        "linker_pageembedding",
        [
            ("page_id", ">i8", np.arange(first, first + len(vectors))),
            ("model_id", ">i8", np.full(len(vectors), model.pk)),
            ("text_sha256", "V32", np.zeros(len(vectors), dtype="V32")),
            ("vector", stored.dtype, stored),
            ("created_at", ">i8", np.zeros(len(vectors), dtype=np.int64)),
        ],
    )


def _links(project: Project, size: NDArray[np.int64], random: np.random.Generator) -> None:
    """Ten links a page without doubles: five at a stride within the category, five anywhere."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(id), count(*) FROM linker_page WHERE project_id = %s", [project.pk])
        first, pages = cursor.fetchone()
    starts = np.repeat(np.cumsum(size) - size, size)
    widths = np.repeat(size, size)
    indexes = _drop_indexes("linker_existinglink")
    for begin in range(0, pages, 200_000):
        page = np.arange(begin, min(begin + 200_000, pages))
        source, target = [], []
        for turn in range(LINKS_A_PAGE):
            if turn % 2:
                other = random.integers(0, pages, len(page))
            else:
                other = starts[page] + (page - starts[page] + 1 + turn * 7) % widths[page]
            source.append(page)
            target.append(other)
        pair = np.unique(np.stack([np.concatenate(source), np.concatenate(target)], axis=1), axis=0)
        pair = pair[pair[:, 0] != pair[:, 1]]
        count = len(pair)
        copy_in(
            "linker_existinglink",
            [
                ("project_id", ">i8", np.full(count, project.pk)),
                ("source_id", ">i8", pair[:, 0] + first),
                ("target_id", ">i8", pair[:, 1] + first),
                ("block", ">i2", np.ones(count, dtype=np.int16)),
                ("anchor", "S6", np.full(count, b"a link")),
                ("follow", "?", np.ones(count, dtype=bool)),
                ("last_seen_at", ">i8", np.zeros(count, dtype=np.int64)),
            ],
        )
    with connection.cursor() as cursor:
        for definition in indexes:
            cursor.execute(definition)


def _drop_indexes(table: str) -> list[str]:
    """Drops all but the primary key; returns what makes them again."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexname NOT LIKE %s",
            [table, "%_pkey"],
        )
        found = cursor.fetchall()
        for name, _ in found:
            cursor.execute(f'DROP INDEX "{name}"')
    return [definition for _, definition in found]
