"""Lists of pages that runs are limited to: keeping one, reading one, letting go of those that no run names."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.engine.arrays.vectors import slices
from linker.models import Gate, Page, PageList, Project, Run, RunKind, SafetyClass
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from numpy.typing import NDArray

UNUSED_DAYS = 7
SHOWN = 5  # unknown lines that are quoted
PAGES_AT_A_TIME = 10_000
SIDES = ("donors", "acceptors")


@transaction.atomic
def keep(
    project: Project,
    name: str,
    pages: NDArray[np.int64],
    *,
    lines: int,
    unknown_lines: int,
    unknown: Sequence[tuple[int, str]],
    user: AbstractBaseUser | AnonymousUser | None,
) -> PageList:
    """Keeps the pages of a list; lists that nothing names any more go when they are UNUSED_DAYS old."""
    old = PageList.objects.filter(project=project, created_at__lt=timezone.now() - timedelta(days=UNUSED_DAYS))
    old.exclude(pk__in=_named(project)).delete()
    ids = np.unique(pages)
    return PageList.objects.create(
        project=project,
        name=name[-200:],
        pages=ids.astype("<i8").tobytes(),
        size=len(ids),
        lines=lines,
        unknown_lines=unknown_lines,
        unknown=list(unknown),
        created_by_id=user.pk if user is not None else None,
    )


def _named(project: Project) -> set[int]:
    runs = Run.objects.filter(project=project, kind=RunKind.MATCH)
    rows = runs.values_list(*(f"params__{side}__page_list" for side in SIDES))
    rules = [model.objects.filter(project=project, page_list__isnull=False) for model in (SafetyClass, Gate)]
    in_rules = {number for those in rules for number in those.values_list("page_list", flat=True)}
    return {number for row in rows for number in row if number} | in_rules


def lists_of(run: Run) -> dict[str, PageList]:
    """The lists that a match run was limited to, by side."""
    asked = {side: (run.params.get(side) or {}).get("page_list") for side in SIDES}
    found = PageList.objects.filter(project=run.project, pk__in=[number for number in asked.values() if number])
    known = found.defer("pages").in_bulk()
    return {side: known[pk] for side, pk in asked.items() if pk in known}


def list_in_words(found: PageList) -> str:
    """How many pages of a file are known, and what was not, as "312 from list.csv, 4 lines unknown"."""
    said = {"size": number(found.size), "name": found.name, "lines": number(found.unknown_lines)}
    if not found.unknown_lines:
        return _("%(size)s from %(name)s") % said
    known = ngettext(
        "%(size)s from %(name)s, %(lines)s line unknown",
        "%(size)s from %(name)s, %(lines)s lines unknown",
        found.unknown_lines,
    )
    return known % said


def unknown_in_words(found: PageList) -> str:
    """The first lines for which there is no page, in a sentence; empty where all are known."""
    if not found.unknown_lines:
        return ""
    quoted = ", ".join(
        _("line %(line)s (“%(text)s”)") % {"line": number(line), "text": text} for line, text in found.unknown[:SHOWN]
    )
    more = found.unknown_lines - min(SHOWN, len(found.unknown))
    if more:
        quoted = _("%(listed)s and %(more)s more") % {"listed": quoted, "more": number(more)}
    said = ngettext(
        "The project has no page for %(lines)s line of %(name)s: %(quoted)s.",
        "The project has no page for %(lines)s lines of %(name)s: %(quoted)s.",
        found.unknown_lines,
    )
    return said % {"lines": number(found.unknown_lines), "name": found.name, "quoted": quoted}


def page_ids(found: PageList) -> NDArray[np.int64]:
    """The ids of the list's pages, int64, ascending; for a page that was merged or redirects to another, that one's."""
    return led_on(found.project_id, np.frombuffer(found.pages, "<i8").astype(np.int64))


def led_on(project_id: int, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pages themselves, or those that they lead to by now: ids int64, ascending, each once; `ids` ascending."""
    leading = Page.objects.filter(project=project_id, successor__isnull=False)
    steps = np.array(list(leading.order_by("pk").values_list("pk", "successor")), dtype=np.int64).reshape(-1, 2)
    if not len(steps):
        return ids
    places = np.minimum(np.searchsorted(steps[:, 0], ids), len(steps) - 1)
    return np.unique(np.where(steps[places, 0] == ids, steps[places, 1], ids))


def addresses(found: PageList) -> Iterator[str]:
    """The addresses of the list's pages as they are now, one a line, by id."""
    ids = page_ids(found)
    for part in slices(len(ids), PAGES_AT_A_TIME):
        for url in Page.objects.filter(pk__in=ids[part].tolist()).order_by("pk").values_list("url", flat=True):
            yield f"{url}\n"
