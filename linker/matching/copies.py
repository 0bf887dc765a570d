"""Near-copies, variants and translations of a site, found at the beginning of each match run."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db import connection, transaction

from linker.embedding.service import site_template
from linker.engine.arrays.vectors import slices
from linker.engine.copies.describe import PageText, describe
from linker.engine.copies.duplicate_pairs import KINDS, Kind
from linker.engine.copies.page_groups import Groups, LeadCriteria, SeparatedPages, find_groups
from linker.matching.report_types import CopiesReport
from linker.models import ApartPage, Project, TwinKind
from linker.models.querysets import LINKABLE, sql
from linker.storage.copy import analyze, copy_out, copy_rows_in
from linker.storage.cursors import stream
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from linker.matching.eligibility import Eligible
    from linker.models import Page, Run
    from linker.runs.lifecycle import Progress

TEXTS_AT_A_TIME = 500
CHARACTERS = 40_000  # of a text that are looked at
_GONE = (0, "", "", "", "", "")  # a page that was deleted since

# A copy `p`, of the twins `t`, that says it is in another language than its text, where another page of its group says
# the language of the text: a page that waits for its translation. Its readers are to be led to pages of their language.
_SAID = "split_part(replace(lower(trim({}.language)), '_', '-'), '-', 1)"
UNTRANSLATED = f"""t.kind = '{TwinKind.COPY}' AND p.language <> '' AND {_SAID.format("p")} <> p.own_language
AND EXISTS (
    SELECT FROM linker_pagetwin o JOIN linker_page q ON q.id = o.page_id
    WHERE o.group_id = t.group_id AND q.own_language = p.own_language AND {_SAID.format("q")} = p.own_language)"""


class Twins(NamedTuple):
    """For some pages, arrays [n]: `group` int64, numbered from 0, -1 for a page that stands alone; `gives` bool:
    whether it may give links, `receives` bool: whether suggestions may lead to it."""

    group: NDArray[np.int64]
    gives: NDArray[np.bool_]
    receives: NDArray[np.bool_]


def find_copies(run: Run, eligible: Eligible, progress: Progress) -> CopiesReport:
    """Finds the project's groups again and replaces the stored ones. Returns what the run's report says of them.

    A match run does this first, whatever ranks it: what it finds depends on texts, names, addresses and managers'
    words, all of which may change while the vectors stay.
    """
    started = time.monotonic()
    project = run.project
    rows = copy_out(
        "SELECT id, inlinks::int8 AS inlinks, coalesce(clicks, 0)::int8 AS clicks, length(url)::int8 AS address "
        f"FROM linker_page WHERE project_id = %s AND {sql(LINKABLE)} ORDER BY id",
        [project.pk],
        [("id", ">i8"), ("inlinks", ">i8"), ("clicks", ">i8"), ("address", ">i8")],
    )
    ids, inlinks, clicks, address = (rows[name].astype(np.int64) for name in ("id", "inlinks", "clicks", "address"))
    target = np.isin(ids, eligible.ids[eligible.is_target])
    described = describe(_texts(ids, progress), len(ids), site_template(project).strip)
    groups = find_groups(described, LeadCriteria(target, inlinks, clicks, address, ids), _apart(project, ids))
    del described
    with transaction.atomic():
        lock_project(project.pk)
        _store(run, ids, groups)
    grouped = groups.group >= 0
    return CopiesReport(
        groups=int(groups.lead.sum()),
        **{f"{kind.value}_pages": int((grouped & (groups.kind == place)).sum()) for place, kind in enumerate(KINDS)},
        pages_held_out=int((grouped & target & ~groups.receives).sum()),
        seconds=round(time.monotonic() - started, 1),
    )


def _texts(ids: NDArray[np.int64], progress: Progress) -> Iterator[PageText]:
    for part in slices(len(ids), TEXTS_AT_A_TIME):
        progress(part.start, len(ids), "Looking for copies and variants")
        wanted = ids[part].tolist()
        query = "SELECT id, url, title, h1, left(body, %s), own_language FROM linker_page WHERE id = ANY(%s)"
        known = {row[0]: row for row in stream("copies", query, [CHARACTERS, wanted], size=TEXTS_AT_A_TIME + 1)}
        for page in wanted:
            yield PageText(*known.get(page, _GONE)[1:])


def _apart(project: Project, ids: NDArray[np.int64]) -> SeparatedPages:
    """What managers said, by position."""
    sides: dict[int, dict[int, int]] = defaultdict(dict)
    said = ApartPage.objects.filter(word__project=project).values_list("page_id", "word_id", "side")
    for page, word, side in said.iterator(chunk_size=5000):
        place = int(np.searchsorted(ids, page))
        if place < len(ids) and ids[place] == page:
            sides[place][word] = side
    return SeparatedPages(dict(sides))


def _store(run: Run, ids: NDArray[np.int64], groups: Groups) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM linker_pagetwin t USING linker_pagegroup g WHERE g.id = t.group_id AND g.project_id = %s",
            [run.project_id],
        )
        cursor.execute("DELETE FROM linker_pagegroup WHERE project_id = %s", [run.project_id])
    members = np.flatnonzero(groups.group >= 0)
    if not len(members):
        return
    count = int(groups.group.max()) + 1
    taken = copy_out(
        "SELECT nextval(pg_get_serial_sequence('linker_pagegroup', 'id')) FROM generate_series(1, %s)",
        [count],
        [("id", ">i8")],
    )["id"].astype(np.int64)
    number, kind = groups.group[members], groups.kind[members].astype(np.int64)
    sizes = np.bincount(number, minlength=count)
    words = [kind.value for kind in KINDS]
    first = [Kind.VARIANT, Kind.TRANSLATION, Kind.COPY]  # where there are as many pages of two kinds
    others = ~groups.lead[members]
    of_kind = [np.bincount(number[others & (kind == KINDS.index(one))], minlength=count) for one in first]
    most = np.argmax(of_kind, axis=0).tolist()
    copy_rows_in(
        "linker_pagegroup",
        ["id", "project_id", "run_id", "kind", "pages"],
        (
            (group, run.project_id, run.pk, first[place].value, size)
            for group, place, size in zip(taken.tolist(), most, sizes.tolist(), strict=True)
        ),
    )
    near = [None if value != value else round(value, 4) for value in groups.near[members].tolist()]
    copy_rows_in(
        "linker_pagetwin",
        ["group_id", "page_id", "kind", "near", "lead", "receives"],
        zip(
            taken[number].tolist(),
            ids[members].tolist(),
            [words[place] for place in kind.tolist()],
            near,
            groups.lead[members].tolist(),
            groups.receives[members].tolist(),
            strict=True,
        ),
    )
    analyze("linker_pagegroup", "linker_pagetwin")


def load_twins(project: Project, ids: NDArray[np.int64]) -> Twins:
    """The groups of some pages, given by id, ascending."""
    rows = copy_out(
        f"SELECT t.page_id, t.group_id, NOT ({UNTRANSLATED}), t.receives FROM linker_pagetwin t "
        "JOIN linker_pagegroup g ON g.id = t.group_id JOIN linker_page p ON p.id = t.page_id WHERE g.project_id = %s",
        [project.pk],
        [("page", ">i8"), ("group", ">i8"), ("gives", "?"), ("receives", "?")],
    )
    group = np.full(len(ids), -1, dtype=np.int64)
    gives, receives = np.ones(len(ids), dtype=bool), np.ones(len(ids), dtype=bool)
    page = rows["page"].astype(np.int64)
    known = np.isin(page, ids)
    places = np.searchsorted(ids, page[known])
    group[places] = np.unique(rows["group"].astype(np.int64), return_inverse=True)[1][known]
    gives[places], receives[places] = rows["gives"][known], rows["receives"][known]
    return Twins(group, gives, receives)


def waits_for_translation(page: Page) -> bool:
    """Whether the page gives no links since its text is still in another language than it says."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {UNTRANSLATED} FROM linker_pagetwin t JOIN linker_page p ON p.id = t.page_id WHERE t.page_id = %s",
            [page.pk],
        )
        row = cursor.fetchone()
    return row is not None and bool(row[0])
