"""The pages that the project has, by which the addresses in a file are understood."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

from django.db import connection
from django.utils.translation import gettext

from ingest.addresses.destinations import KnownPage, PageFinder, destinations
from ingest.addresses.normalise import Site
from ingest.errors import FileError
from linker.models import Page
from linker.models.project import UrlPolicy
from linker.models.querysets import MISSING, sql
from linker.pages.identity import record
from linker.storage.cursors import batches, stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from linker.models import Project

NAMED_AT_A_TIME = 5_000  # addresses that a query is given


def site_of(project: Project) -> Site:
    """How the project's addresses become keys."""
    return Site(
        project.base_url,
        strip_slash=project.trailing_slash == UrlPolicy.STRIP,
        strip_www=project.www == UrlPolicy.STRIP,
    )


def page_ids(project: Project, *, hold: bool) -> dict[str, int]:
    """Every page's id by its key, and by the keys of addresses that it had before it moved. With `hold`, none of the
    pages, nor the project, can be deleted until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT canonical_url, page_id FROM linker_pageaddress WHERE project_id = %s", [project.pk])
        ids = dict(cursor.fetchall())
        cursor.execute(
            f"SELECT canonical_url, id FROM linker_page WHERE project_id = %s{' FOR KEY SHARE' if hold else ''}",
            [project.pk],
        )
        own = dict(cursor.fetchall())
    return ids | own if ids else own


def without_pages(first: str) -> str:
    """What is said of a project that has no pages; `first` says what to do then."""
    none = gettext("The project has no pages yet.")
    return f"{none} {gettext(first)}"


def find_named_pages(
    project: Project, name: str, addresses: Iterable[str], *, first: str
) -> tuple[PageFinder, dict[str, int], set[str]]:
    """Finds the pages that some addresses mean, for a file that names few of many: a finder that knows no other, the
    pages by the keys that they have now, and the addresses in full. Nobody can delete these pages until the transaction
    ends.

    Raises FileError as find_pages() does.
    """
    if not project.pages.exists():
        raise FileError(name, without_pages(first))
    finder = PageFinder({}, site_of(project))
    own: dict[str, int] = {}
    former: dict[str, int] = {}
    named: set[str] = set()
    for some in batches(addresses, NAMED_AT_A_TIME):
        named.update(map(finder.in_full, some))
        digests = [record.digest(form) for address in some for form in finder.forms(address)]
        with connection.cursor() as cursor:
            for found, table, page, locked in (
                (own, "linker_page", "id", " FOR KEY SHARE"),
                (former, "linker_pageaddress", "page_id", ""),
            ):
                cursor.execute(
                    f"SELECT canonical_url, {page} FROM {table} WHERE project_id = %s "
                    f"AND md5(canonical_url) = ANY(%s){locked}",
                    [project.pk, digests],
                )
                found.update(cursor.fetchall())
    movers = Page.objects.filter(pk__in=set(former.values()))
    own.update(movers.values_list("canonical_url", "pk"))
    finder.ids = former | own
    return finder, own, named


def leading_pages(project: Project, *, crawled_at: datetime | None = None) -> Iterator[KnownPage]:
    """What destinations() has to know of the project's pages: those that redirect, that name another address as their
    canonical, or that are gone. Streamed. What was known of a page until now, that it leads to another or that it was
    removed, holds whatever the crawl says of it; but not for pages that answered the crawl of the time `crawled_at`,
    which is the newest to be known."""
    answered = "coalesce(p.last_seen_at = %(crawled_at)s::timestamptz AND p.status_code = 200, false)"
    gone = (
        f"({sql(MISSING, 'p')} OR coalesce(p.status_code IN (404, 410), false) "
        f"OR p.status = 'removed' AND NOT {answered})"
    )
    rows = stream(
        "leading_pages",
        f"SELECT p.id, p.url, coalesce(nullif(p.redirect_url, ''), n.url, ''), p.canonical_link, p.indexable, {gone} "
        f"FROM linker_page p LEFT JOIN linker_page n ON n.id = p.successor_id AND NOT {answered} "
        "WHERE p.project_id = %(project)s "
        "AND (p.redirect_url <> '' OR p.canonical_link NOT IN ('', p.url, p.canonical_url) "
        f"OR p.successor_id IS NOT NULL OR {gone})",
        {"crawled_at": crawled_at, "project": project.pk},
    )
    return starmap(KnownPage, rows)


def find_pages(project: Project, name: str, *, first: str, of_links: bool = False, hold: bool = True) -> PageFinder:
    """Finds the pages that a file's addresses mean, and those at which they end.

    Raises FileError where the project has no pages; `first` says what to do then. `hold` as in page_ids().
    """
    ids = page_ids(project, hold=hold)
    if not ids:
        raise FileError(name, without_pages(first))
    finder = PageFinder(ids, site_of(project))
    finder.moves = destinations(leading_pages(project), finder.find_on, of_links=of_links)
    return finder
