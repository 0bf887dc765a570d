"""The pages that the project has, by which the addresses in a file are understood."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

from django.db import connection
from django.utils.translation import gettext

from ingest.addresses.destinations import KnownPage, PageFinder, destinations
from ingest.addresses.normalise import Site
from ingest.errors import FileError
from linker.models.project import UrlPolicy
from linker.models.querysets import MISSING, sql
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Project


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


def leading_pages(project: Project) -> Iterator[KnownPage]:
    """What destinations() has to know of the project's pages: those that redirect, that name another address as their
    canonical, or that are gone. Streamed. A page that is known to lead to another redirects there, whatever the crawl
    says of it."""
    gone = f"({sql(MISSING, 'p')} OR coalesce(p.status_code IN (404, 410), false) OR p.status = 'removed')"
    rows = stream(
        "leading_pages",
        f"SELECT p.id, p.url, coalesce(nullif(p.redirect_url, ''), n.url, ''), p.canonical_link, p.indexable, {gone} "
        "FROM linker_page p LEFT JOIN linker_page n ON n.id = p.successor_id WHERE p.project_id = %s "
        "AND (p.redirect_url <> '' OR p.canonical_link NOT IN ('', p.url, p.canonical_url) "
        f"OR p.successor_id IS NOT NULL OR {gone})",
        [project.pk],
    )
    return starmap(KnownPage, rows)


def find_pages(project: Project, name: str, *, first: str, of_links: bool = False, hold: bool = True) -> PageFinder:
    """Finds the pages that a file's addresses mean, and those at which they end.

    Raises FileError where the project has no pages; `first` says what to do then. `hold` as in page_ids().
    """
    ids = page_ids(project, hold=hold)
    if not ids:
        raise FileError(name, f"{gettext('The project has no pages yet.')} {first}")
    finder = PageFinder(ids, site_of(project))
    finder.moves = destinations(leading_pages(project), finder.find_on, of_links=of_links)
    return finder
