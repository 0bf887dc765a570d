"""Near-copies, variants and translations: the list of groups, its file, and a manager's word that pages differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import ApartPage, ChangeKind, NotTheSame, PageGroup, PageTwin, Project, TwinKind
from linker.pages.listing import WIDE
from linker.pages.search import with_words
from linker.query_strings import is_id, unknown_fields
from linker.storage.cells import safe_cell_sql
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet

GROUPS_SHOWN = 20  # on a screen
PAGES_SHOWN = 12  # of a group
LOGGED = 50  # addresses of a group in the log of changes
SAID_SHOWN = 50


@dataclass(frozen=True)
class CopiesQuery:
    """The list's filters as its address holds them; values that make no sense fall back to the default, and `ignored`
    names them, with the fields that are not known. `after`: the number of pages and id of the last group seen."""

    text: str = ""
    kind: str = ""
    after: tuple[int, int] | None = None
    ignored: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> CopiesQuery:
        kind = query.get("kind", "")
        pages, _, last = query.get("after", "").partition("_")
        sound = is_id(pages) and is_id(last)
        return cls(
            text=query.get("q", "").replace("\x00", "").strip()[:500],
            kind=kind if kind in TwinKind.values else "",
            after=(int(pages), int(last)) if sound else None,
            ignored=(
                *(["kind"] if kind not in ("", *TwinKind.values) else []),
                *unknown_fields(query, {"q", "kind", "after"}),
            ),
        )

    def to_query(self) -> dict[str, str]:
        """The filters without the place in the list, defaults left out."""
        return {name: value for name, value in {"q": self.text, "kind": self.kind}.items() if value}


@dataclass(frozen=True)
class ListedGroup:
    """A group with its first pages, the one that stands for it before the others."""

    group: PageGroup
    twins: list[PageTwin]

    @property
    def more(self) -> int:
        return self.group.pages - len(self.twins)


def chosen_groups(project: Project, query: CopiesQuery) -> QuerySet[PageGroup]:
    """The groups that the filters leave, unordered."""
    groups = PageGroup.objects.filter(project=project)
    if query.kind:
        groups = groups.filter(kind=query.kind)
    if query.text:
        twins = PageTwin.objects.filter(
            with_words(project, query.text, "page_id", url="page__url", title="page__title")
        )
        groups = groups.filter(Exists(twins.filter(group=OuterRef("pk"))))
    return groups


def group_list(project: Project, query: CopiesQuery) -> tuple[list[ListedGroup], str]:
    """One screen of groups after the query's keyset, the largest first, and the keyset of the next screen (empty at the
    end)."""
    groups = chosen_groups(project, query)
    if query.after is not None:
        pages, last = query.after
        groups = groups.filter(Q(pages__lt=pages) | Q(pages=pages, pk__gt=last))
    found = list(groups.order_by("-pages", "pk")[: GROUPS_SHOWN + 1])
    shown = found[:GROUPS_SHOWN]
    twins: dict[int, list[PageTwin]] = {group.pk: [] for group in shown}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.id FROM unnest(%s::bigint[]) g CROSS JOIN LATERAL (SELECT id FROM linker_pagetwin "
            "WHERE group_id = g ORDER BY lead DESC, page_id LIMIT %s) t",
            [list(twins), PAGES_SHOWN],
        )
        chosen = [pk for (pk,) in cursor.fetchall()]
    rows = PageTwin.objects.filter(pk__in=chosen).select_related("page").defer(*(f"page__{name}" for name in WIDE))
    for twin in rows.order_by("group", "-lead", "page"):
        twins[twin.group_id].append(twin)
    following = f"{shown[-1].pages}_{shown[-1].pk}" if len(found) > GROUPS_SHOWN else ""
    return [ListedGroup(group, twins[group.pk]) for group in shown], following


def counts_by_kind(project: Project) -> dict[str, int]:
    """How many groups there are of each kind."""
    rows = PageGroup.objects.filter(project=project).values_list("kind").annotate(Count("pk")).order_by()
    return dict(rows)


def csv(project: Project, query: CopiesQuery) -> Iterator[bytes]:
    """The pages of the groups that the filters leave, as a file. The connection is busy until the iterator is
    exhausted or closed."""
    texts = {"address": "p.url", "title": "p.title", "language": "p.language"}
    cells = ", ".join(f"{safe_cell_sql(sql)} AS {name}" for name, sql in texts.items())
    sql, params = chosen_groups(project, query).values("pk").query.sql_with_params()
    statement = (
        f"COPY (SELECT g.id AS group_number, g.kind AS group_kind, t.kind, t.lead::text AS stands_for_group, "
        f"t.receives::text AS receives_suggestions, {cells}, round(t.near::numeric, 2) AS text_in_common, "
        "p.inlinks AS links_in, p.clicks FROM linker_pagegroup g JOIN linker_pagetwin t ON t.group_id = g.id "
        f"JOIN linker_page p ON p.id = t.page_id WHERE g.id IN ({sql}) "
        "ORDER BY g.pages DESC, g.id, t.lead DESC, t.page_id) TO STDOUT (FORMAT csv, HEADER)"
    )
    with connection.cursor() as cursor, cursor.cursor.copy(statement, params) as copy:
        for row in copy:
            yield bytes(row)


# ------------------------------------------------------------------------------------------------------- decisions


@transaction.atomic
def keep_apart(
    project: Project, group_id: int, page_id: int | None = None, user: AbstractBaseUser | AnonymousUser | None = None
) -> NotTheSame:
    """Writes down that the pages of a group are not the same: none of them, or one of them and the others.

    The group goes, or the page leaves it, at once; suggestions follow with the next match run, and no later run puts
    these pages into one group again. Raises UserError where the group is no longer there.
    """
    lock_project(project.pk)
    group = PageGroup.objects.filter(project=project, pk=group_id).first()
    twin = PageTwin.objects.filter(group=group, page=page_id).select_related("page").first() if page_id else None
    if group is None or (page_id and twin is None):
        raise UserError(
            _("This group no longer exists: someone has dissolved it, or a match run has replaced it. Reload the list.")
        )
    word = NotTheSame.objects.create(project=project, user_id=user.pk if user is not None else None)
    with connection.cursor() as cursor:
        side = "row_number() OVER (ORDER BY page_id)" if twin is None else "(page_id = %s)::int"
        cursor.execute(
            "INSERT INTO linker_apartpage (word_id, page_id, side) "
            f"SELECT %s, page_id, {side} FROM linker_pagetwin WHERE group_id = %s",
            [word.pk, *([] if twin is None else [page_id]), group.pk],
        )
    addresses = list(
        PageTwin.objects.filter(group=group).order_by("-lead", "page").values_list("page__url", flat=True)[:LOGGED]
    )
    before = {"kind": group.kind, "pages": group.pages, "addresses": addresses}
    after = {}
    if twin is not None and group.pages > 2:
        after = {
            "kind": group.kind,
            "pages": group.pages - 1,
            "addresses": [a for a in addresses if a != twin.page.url],
        }
        _leave(group, twin)
    else:
        PageTwin.objects.filter(group=group).delete()
        group.delete()
    audit.record(
        project,
        ChangeKind.COPIES,
        user=user,
        subject=f"Not the same: {twin.page.url if twin is not None else addresses[0]}",
        before=before,
        after=after,
    )
    return word


def _leave(group: PageGroup, twin: PageTwin) -> None:
    """Takes a page out of its group; where it stood for it, another one does."""
    twin.delete()
    group.pages -= 1
    group.save(update_fields=["pages"])
    if twin.lead:
        others = PageTwin.objects.filter(group=group).order_by("-receives", "-page__inlinks", "page")
        PageTwin.objects.filter(pk__in=others.values("pk")[:1]).update(lead=True, receives=True)


@transaction.atomic
def take_back(project: Project, word_id: int, user: AbstractBaseUser | AnonymousUser | None = None) -> None:
    """Forgets that pages were said not to be the same; the next match run may group them again. Raises UserError where
    no manager says so any more."""
    word = NotTheSame.objects.select_for_update().filter(project=project, pk=word_id).first()
    if word is None:
        raise UserError(_("This was taken back already. Look at the list again."))
    addresses = list(word.pages.order_by("-side", "page").values_list("page__url", flat=True)[:LOGGED])
    count = word.pages.count()
    ApartPage.objects.filter(word=word).delete()
    word.delete()
    audit.record(
        project,
        ChangeKind.COPIES,
        user=user,
        subject=f"Taken back, not the same: {addresses[0] if addresses else ''}",
        before={"pages": count, "addresses": addresses},
    )


@dataclass(frozen=True)
class Said:
    """A manager's word, with the addresses of the first pages it is about and how many there are."""

    word: NotTheSame
    addresses: list[str]
    pages: int


def said_apart(project: Project) -> tuple[list[Said], int]:
    """What managers said, the newest first; the first SAID_SHOWN, and how many in all."""
    words = NotTheSame.objects.filter(project=project)
    shown = words.select_related("user").annotate(count=Count("pages")).order_by("-pk")[:SAID_SHOWN]
    found = [
        Said(word, list(word.pages.order_by("-side", "page").values_list("page__url", flat=True)[:3]), word.count)
        for word in shown
    ]
    return found, words.count()
