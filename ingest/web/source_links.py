"""The broken and redirected links that the newest fetch of a source has found."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from django.http import StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ingest.fetching import faults
from ingest.fetching.run import newest_store
from ingest.web.source_views import source_of
from linker.projects import access
from linker.query_strings import is_id, unknown_fields
from linker.storage.cells import safe_cell
from linker.web.page_context import shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

    from ingest.fetching.faults import FaultyLink

HEADER = ("page", "anchor", "block", "link", "status", "leads_to", "fault")


@require_safe
def faulty_links(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    membership = access.member(request, slug)
    source = source_of(membership, source_id)
    store, only, after, in_texts = newest_store(source), _only(request), _after(request), _in_texts(request)
    found = faults.faulty_links(store, only, after, faults.SHOWN + 1, in_texts=in_texts) if store is not None else []
    links = found[: faults.SHOWN]
    context = shell(
        membership,
        "sources",
        source=source,
        counts=faults.counts(store) if store is not None else None,
        links=links,
        only=only,
        in_texts=in_texts,
        # The same list without what is switched by the tabs and the button behind it.
        kept="&where=text" if in_texts else "",
        is_first="after" not in request.GET,
        after="_".join(map(str, links[-1].at)) if len(found) > faults.SHOWN else "",
        ignored=unknown_fields(request.GET, {"only", "after", "where"}),
    )
    return render(request, "ingest/faulty_links.html", context)


@require_safe
def faulty_links_csv(request: HttpRequest, slug: str, source_id: int) -> HttpResponseBase:
    source = source_of(access.member(request, slug), source_id)
    response = StreamingHttpResponse(
        _lines(newest_store(source), _only(request), in_texts=_in_texts(request)),
        content_type="text/csv; charset=utf-8",
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-links-{source.pk}.csv"'
    return response


def _lines(store: Path | None, only: str, *, in_texts: bool) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(HEADER)
    found = faults.every_faulty_link(store, only, in_texts=in_texts) if store is not None else ()
    for link in found:
        cells = (link.source, link.anchor, link.block, link.target, link.status, link.redirect, _fault(link))
        writer.writerow([safe_cell("" if cell is None else str(cell)) for cell in cells])
        if buffer.tell() > 2**16:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _fault(link: FaultyLink) -> str:
    if link.is_loop:
        return "redirect loop"
    return "no longer listed" if link.is_gone else "not listed" if link.is_unlisted else link.fault


def _in_texts(request: HttpRequest) -> bool:
    return request.GET.get("where") == "text"


def _only(request: HttpRequest) -> str:
    wanted = request.GET.get("only", "")
    return wanted if wanted in faults.ONLY else ""


def _after(request: HttpRequest) -> tuple[int, int, int]:
    parts = request.GET.get("after", "").split("_")
    if len(parts) != 3 or not all(map(is_id, parts)):
        return faults.FIRST
    page, source, number = map(int, parts)
    return page, source, number
