"""The list of what editors have ruled out, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from linker.models import Project, SuppressedKind, Suppression
from linker.models.suppression import IN_FORCE
from linker.pages.listing import WIDE
from linker.query_strings import is_id, unknown_fields
from review.overlap import due_to
from review.queue.filters import MAX_TEXT
from review.queue.search import COUNTED_PAGES, search_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

SIZE = 50  # on a screen
LOOKED_AT = 5000  # for a screen: also of those that have ended
MOST_HELD = 1000  # suggestions that are counted of each


@dataclass(frozen=True)
class SuppressedFilter:
    """What the list's address asks for; what makes no sense is left out, and `ignored` names it. `who` has ruled it
    out; `text`: words of the title or address of one of its pages. `after`: the id of the last one shown."""

    kind: str = ""
    who: int | None = None
    text: str = ""
    after: int | None = None
    ignored: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> SuppressedFilter:
        kind, who, after = (query.get(name, "") for name in ("kind", "who", "after"))
        return cls(
            kind=kind if kind in SuppressedKind.values else "",
            who=int(who) if is_id(who) else None,
            text=query.get("text", "").replace("\x00", "").strip()[:MAX_TEXT],
            after=int(after) if is_id(after) else None,
            ignored=(
                *(["kind"] if kind not in ("", *SuppressedKind.values) else []),
                *(["who"] if who and not is_id(who) else []),
                *unknown_fields(query, {"kind", "who", "text", "after", "lifted"}),
            ),
        )

    def to_query(self) -> dict[str, str]:
        """The filter without the place in the list, defaults left out."""
        values = {"kind": self.kind, "who": str(self.who or ""), "text": self.text}
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True)
class Suppressed:
    """A row of the list. `holds`: open suggestions that it keeps out of the queue now, as far as MOST_HELD."""

    row: Suppression
    holds: int

    @property
    def holds_more(self) -> bool:
        return self.holds > MOST_HELD


def suppressed(project: Project, chosen: SuppressedFilter, user: User) -> tuple[list[Suppressed], int | None]:
    """One screen of what holds now, the newest first, and the id after which the next begins, without rejections that
    the user is not to know yet. Four queries."""
    listed = _rows(project).filter(lifted_at=None)
    if chosen.kind:
        listed = listed.filter(kind=chosen.kind)
    if chosen.after is not None:
        listed = listed.filter(pk__lt=chosen.after)
    # Which have ended, no index knows: so many are looked at, however few of them hold, and the next screen goes on.
    last = listed.order_by("-pk").values_list("pk", flat=True)[LOOKED_AT : LOOKED_AT + 1].first()
    rows = listed.filter(IN_FORCE, pk__gt=last or 0)
    if project.read_twice:
        rows = rows.exclude(Exists(due_to(project, user).filter(edge=OuterRef("edge"))))
    if chosen.who is not None:
        rows = rows.filter(made_by=chosen.who)
    if chosen.text:
        rows = rows.filter(_on_pages(project, chosen.text))
    found = list(rows.order_by("-pk")[: SIZE + 1])
    shown = found[:SIZE]
    held = _held([row.pk for row in shown])
    following = shown[-1].pk if len(found) > SIZE else last + 1 if last is not None else None
    return [Suppressed(row, held[row.pk]) for row in shown], following


def just_lifted(project: Project, pk: str) -> Suppression | None:
    """What was allowed again a moment ago and can be ruled out again; None where there is no such row."""
    if not is_id(pk):
        return None
    return _rows(project).filter(pk=int(pk), lifted_at__isnull=False).first()


def people(project: Project) -> QuerySet[User]:
    """Who may have ruled something out."""
    return User.objects.filter(memberships__project=project).order_by("username")


def _rows(project: Project) -> QuerySet[Suppression]:
    wide = [f"{page}__{name}" for page in ("source", "target") for name in WIDE]
    return project.suppressions.select_related("source", "target", "section", "made_by").defer(*wide)


def _on_pages(project: Project, text: str) -> Q:
    pages = search_of(project, text).pages[:COUNTED_PAGES]
    return Q(source__in=pages) | Q(target__in=pages)


def _held(ids: list[int]) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s, (SELECT count(*) FROM (SELECT FROM linker_candidateedge e WHERE e.suppressed_by_id = s "
            "LIMIT %s) held) FROM unnest(%s::bigint[]) s",
            [MOST_HELD + 1, ids],
        )
        return dict(cursor.fetchall())
