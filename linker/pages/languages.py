"""The languages of a project's pages: what a page's text is in, what it counts as, and what may be linked to what.

A page counts as being in the language that its text is surely in (linker.engine.text.languages.SURE), else in the one
that the crawl says, else in the one that most of the project's pages are in. The first two are `Page.own_language`,
which the database keeps; the third fills it where it is empty. What a theme says of all pages alike is not believed
where their texts prove it wrong.

Pages are kept apart by less: by a language that the text is surely in, or that the crawl says on a site whose crawl
says it right of pages that can be checked; and never by two that are easily taken for each other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf.locale import LANG_INFO
from django.db import connection, transaction
from django.utils.translation import gettext

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying
from linker.engine.text.languages import ALIKE, AT_A_TIME, READ, SURE, agreed, detect, kin
from linker.engine.text.model_languages import MULTILINGUAL, knows, trained_on
from linker.models.project import VectorSource
from linker.models.querysets import LIVE, PRESENT, sql
from linker.storage.copy import copy_out, copy_rows_in
from linker.storage.cursors import stream
from linker.storage.site_figures import language_counts
from linker.wording import joined, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from linker.models import Page, Project
    from linker.runs.lifecycle import Progress

VERSION = 1  # counts up when texts would be read otherwise: every page is then read again
# What a page's language is detected in: where this is another than `language_read`, it has to be done again.
# `p` is the page.
_NAMES = "CASE WHEN p.body = '' THEN p.h1 || p.description ELSE '' END"
READ_FROM = f"hashtextextended(p.language || E'\\x1f' || p.title || {_NAMES}, {{body_hash}} # {VERSION}::bigint)"
OF_PAGE = READ_FROM.format(body_hash="p.body_hash")
STALE = f"p.language_read IS DISTINCT FROM {OF_PAGE}"
AGREE, CHECKED = 0.95, 20  # the share of pages whose text must be in the language that the crawl says, and of how many
WRONG = 0.2  # where so few of those pages are in it, and 1 - WRONG in one other, the crawl's language is a theme's
NAMES_AT_A_TIME, FEW_NAMES = 8, 2000  # pages whose names are read as one text, and of how many pages at most
MISSING_NAMES = {"no": "Norwegian", "zh": "Chinese", "am": "Amharic", "la": "Latin", "mt": "Maltese", "si": "Sinhala"}


# ----------------------------------------------------------------------------------------------------------- reading


def text_to_read(title: str, body: str, h1: str = "", description: str = "") -> str:
    """What a page's language is detected in: its text, after a title of a few words. What a page without a text says
    of itself stands in for it."""
    return f"{title[: READ // 3]}\n{body[:READ]}" if body else "\n".join(dict.fromkeys((title, h1, description)))


def detect_all(
    titles: Sequence[str],
    bodies: Sequence[str],
    said: Sequence[str],
    h1s: Iterable[str] = repeat(""),
    descriptions: Iterable[str] = repeat(""),
) -> tuple[list[str], list[float]]:
    """The languages of pages and how sure they are, by title, body and the language that the crawl says; of those
    without a body by H1 and description as well."""
    texts = map(text_to_read, titles, bodies, h1s, descriptions)
    found = list(map(agreed, detect(texts), said))
    return [one.language for one in found], [one.sureness for one in found]


def read_languages(project: Project, progress: Progress, *, are_read: bool = False) -> int:
    """Detects the languages of the project's pages whose text was not read yet, or changed. Returns how many.
    `are_read`: all of them were read as they were written, so that labels alone are looked at."""
    total = 0 if are_read else _read_stale(project, progress)
    _correct_labels(project)
    return total


def _read_stale(project: Project, progress: Progress) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM linker_page p WHERE project_id = %s AND {STALE}", [project.pk])
        (total,) = cursor.fetchone()
        if not total:
            return 0
        cursor.execute("CREATE TEMP TABLE stage_language (page bigint, language text, sureness float8)")
        done = 0
        rows = _stale_pages(project)
        while some := list(islice(rows, AT_A_TIME)):
            progress(done, total, "Reading the languages of pages")
            pages, *texts = zip(*some, strict=True)
            found = zip(pages, *detect_all(*texts), strict=True)
            copy_rows_in("stage_language", ("page", "language", "sureness"), found)
            done += len(some)
        cursor.execute("ANALYZE stage_language")
        cursor.execute(
            "UPDATE linker_page p SET detected_language = s.language, language_sureness = s.sureness, "
            f"language_read = {OF_PAGE} FROM stage_language s WHERE p.id = s.page"
        )
        cursor.execute("DROP TABLE stage_language")
    return total


def _stale_pages(project: Project) -> Iterator[tuple[Any, ...]]:
    return stream(
        "unread",
        f"SELECT id, left(title, {READ}), left(body, {READ}), language, left(h1, {READ}), left(description, {READ}) "
        f"FROM linker_page p WHERE project_id = %s AND {STALE}",
        [project.pk],
    )


def _correct_labels(project: Project) -> None:
    """Pages whose own text does not tell count as being in the language of those that bear the same wrong label."""
    for said, found in _wrong_labels(project):
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE linker_page SET detected_language = %s, language_sureness = %s "
                "WHERE project_id = %s AND language = %s AND language_sureness < %s",
                [found, SURE, project.pk, said, SURE],
            )


def _wrong_labels(project: Project) -> list[tuple[str, str]]:
    """What the crawl says though nearly all pages that tell are in one other language, and that language."""
    by_label: dict[str, Counter[str]] = defaultdict(Counter)
    for found, said, count in _said_and_found(project):
        by_label[said][found] += count
    wrong = []
    for said, counts in by_label.items():
        (found, most), checked = counts.most_common(1)[0], counts.total()
        right = sum(count for language, count in counts.items() if kin(language) == kin(said))
        if checked >= CHECKED and right <= WRONG * checked and most >= (1 - WRONG) * checked:
            wrong.append((said, found))
    return wrong


def _said_and_found(project: Project) -> list[tuple[str, str, int]]:
    """How many pages whose text tells are in a language while the crawl says one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT detected_language, language, count(*) FROM linker_page WHERE project_id = %s "
            f"AND language_sureness >= {SURE} AND language <> '' AND {sql(PRESENT)} GROUP BY 1, 2",
            [project.pk],
        )
        return cursor.fetchall()


# --------------------------------------------------------------------------------------------------------- counting


def usual_language(project: Project) -> str:
    """The language of most pages that have one; where most have none, the one that their names are in, read together;
    "" where those do not tell."""
    counts = language_counts(project)
    told = next((language for language in counts if language), "")
    if counts.get("", 0) * 2 > sum(counts.values()):
        return _language_of_names(project) or told
    return told


def _language_of_names(project: Project) -> str:
    """The language of most groups of pages by their titles and H1s, "" if none has most: a title alone is too short."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT left(title, {READ}), left(h1, {READ}) FROM linker_page WHERE project_id = %s AND {sql(LIVE)} "
            f"AND own_language = '' ORDER BY id LIMIT {FEW_NAMES}",
            [project.pk],
        )
        names = [" ".join(dict.fromkeys(row)) for row in cursor.fetchall()]
    groups = (names[start : start + NAMES_AT_A_TIME] for start in range(0, len(names), NAMES_AT_A_TIME))
    # A part of each name, since only the first bytes of a text are read.
    texts = ("\n".join(name[: READ // NAMES_AT_A_TIME] for name in group) for group in groups)
    found = Counter(one.language for one in detect(texts))
    language, times = found.most_common(1)[0] if found else ("", 0)
    return language if 2 * times > found.total() else ""


def language_name(code: str) -> str:
    """Its name in the reader's language; the code itself if it has none."""
    known = LANG_INFO.get(code, {}).get("name") or MISSING_NAMES.get(code)
    return gettext(known) if known else code or gettext("no known language")


_COUNTED = {"pages": NUMBER, "all": NUMBER}
# By whether most pages are in such languages, and whether the model knows so few that it can be said which.
MODEL_ADVICE = {
    (True, True): Saying(
        gettext_noop(
            "Most pages are in %(languages)s; the model %(model)s was trained on %(known)s. Choose a multilingual "
            "model such as %(one)s or %(other)s in the settings, then embed the pages and match again."
        )
    ),
    (True, False): Saying(
        gettext_noop(
            "Most pages are in %(languages)s; the model %(model)s was not trained on that. Choose a multilingual "
            "model such as %(one)s or %(other)s in the settings, then embed the pages and match again."
        )
    ),
    (False, True): Saying(
        gettext_noop(
            "%(pages)s of %(all)s pages are in %(languages)s; the model %(model)s was trained on %(known)s. Choose a "
            "multilingual model such as %(one)s or %(other)s in the settings, then embed the pages and match again."
        ),
        _COUNTED,
    ),
    (False, False): Saying(
        gettext_noop(
            "%(pages)s of %(all)s pages are in %(languages)s; the model %(model)s was not trained on that. Choose a "
            "multilingual model such as %(one)s or %(other)s in the settings, then embed the pages and match again."
        ),
        _COUNTED,
    ),
}
FEW = 0.1  # of the pages: in so many, a language that the model does not know is worth a word


def model_advice(project: Project, languages: Iterable[tuple[str, int]]) -> str:
    """A warning, and what to do, where the project's model does not know the languages of its pages; else empty.

    `languages`: pages by language, as linker.storage.site_figures counts them.
    """
    if project.vector_source == VectorSource.IMPORTED:
        return ""
    name = project.model_name
    counts = {language: pages for language, pages in languages if language}
    foreign = {language: pages for language, pages in counts.items() if knows(name, language) is False}
    some, every = sum(foreign.values()), sum(counts.values())
    if not some or some < FEW * every:
        return ""
    unknown = [language for language, pages in foreign.items() if pages >= FEW * some][:3]
    known = sorted(map(language_name, trained_on(name) or ()))
    most, few = some > every / 2, len(known) <= 3
    saying = MODEL_ADVICE[most, few]
    return gettext(saying.text) % {
        "pages": number(some),
        "all": number(every),
        "languages": joined([*map(language_name, unknown)]),
        "model": name,
        "known": joined(known),
        "one": MULTILINGUAL[0],
        "other": MULTILINGUAL[1],
    }


def advice_in_words(stored: str) -> str:
    """A warning that `model_advice` wrote in English, in the reader's language."""
    for saying in MODEL_ADVICE.values():
        if found := saying.values(stored):
            for name in ("languages", "known"):
                if name in found:
                    found[name] = joined([gettext(one) for one in re.split(", | and ", found[name])])
            for name in ("pages", "all"):
                if name in found:
                    found[name] = number(int(found[name].replace(",", "")))
            return gettext(saying.text) % found
    return stored


# --------------------------------------------------------------------------------------------------- what is linked


def trusts_crawl(project: Project) -> bool:
    """Whether the crawl names the language right on the pages that tell: AGREE of them, CHECKED or more."""
    rows = _said_and_found(project)
    checked = sum(count for *_, count in rows)
    right = sum(count for found, said, count in rows if kin(found) == kin(said))
    return checked >= CHECKED and right >= AGREE * checked


def _alike_sql(language: str) -> str:
    """What languages that are much alike share, in SQL."""
    cases = " ".join(f"WHEN '{one}' THEN '{group[0]}'" for group in ALIKE for one in group[1:])
    return f"(CASE {language} {cases} ELSE {language} END)"


def language_ids(project: Project, ids: NDArray[np.int64], *, trusted: bool) -> NDArray[np.int64]:
    """A number for the language that keeps each page apart from those with another number, 0 where nothing does;
    int64 [n]. `trusted`: what `trusts_crawl` says. `ids` ascending."""
    sure = f"language_sureness >= {SURE}"
    known = f"{sure} OR own_language <> ''" if trusted else sure
    rows = copy_out(
        f"SELECT id, CASE WHEN {known} THEN hashtext({_alike_sql('own_language')})::bigint ELSE 0 END "
        "FROM linker_page WHERE project_id = %s AND id = ANY(%s) ORDER BY id",
        [project.pk, ids.tolist()],
        [("id", ">i8"), ("language", ">i8")],
    )
    found = np.zeros(len(ids), dtype=np.int64)
    found[np.searchsorted(ids, rows["id"].astype(np.int64))] = rows["language"]
    return found


def keeps_apart(project: Project, one: Page, other: Page) -> bool:
    """Whether two pages are kept apart by their languages; the project's setting is not asked."""
    if kin(one.own_language) == kin(other.own_language) or not (one.own_language and other.own_language):
        return False
    return all(page.language_sureness >= SURE for page in (one, other)) or trusts_crawl(project)
