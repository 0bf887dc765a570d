"""Files that Anchorline itself hands out, uploaded as pages or links: what each is, and what takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.known_file import Known
from ingest.formats.start_rules import objects
from ingest.formats.table_rules import has, names

if TYPE_CHECKING:
    from ingest.files.peek import Start

_DONOR, _ACCEPTOR, _ANCHOR = names("donor_url"), names("acceptor_url"), names("anchor_text")
_NOT_YET = (
    "It says which links should be set, not which the site has: once it is imported as links, Anchorline no longer "
    "proposes them."
)
_ONCE_SET = (
    "Once the links are set, fetch the site under Sources, or crawl it and import All Inlinks as links: On the site "
    "then shows which of them it found."
)


def _is_release_in_lines(start: Start) -> bool:
    """A release or a list of suggestions as JSON lines."""
    found = objects(start) if start.text.lstrip().startswith("{") else []
    return bool(found) and all({"donor_url", "acceptor_url"} <= set(one) for one in found)


OWN_FILES = (
    Known(
        "own_lines",
        "This is a list of suggestions or a release, as Anchorline exports it in JSON lines.",
        _NOT_YET,
        _ONCE_SET,
        start=_is_release_in_lines,
    ),
    Known(
        "own_held_back",
        "This is Anchorline's list of the links that a release held back.",
        "It says why approved links were not exported, and its rows are not links that the site has.",
        "It cannot be imported. Open Export: the page of the release lists the same links, and what to do about each.",
        columns=has(_DONOR, _ACCEPTOR, names("reason"), names("detail"), names("status")),
    ),
    Known(
        "own_release",
        "This is a list of suggestions or a release, as Anchorline exports it.",
        _NOT_YET,
        _ONCE_SET,
        columns=has(_DONOR, _ACCEPTOR, _ANCHOR, names("tier"), names("operation")),
    ),
    Known(
        "own_review",
        "This is a part of the queue as a spreadsheet, as Anchorline hands it out for decisions.",
        "Its rows are suggestions with decisions, not pages of the site or links that it has.",
        "Open Review, then Filter, then In a spreadsheet, and hand it in there.",
        columns=has(names("suggestion"), names("donor"), names("acceptor"), names("decision")),
    ),
    Known(
        "own_skipped",
        "This is Anchorline's list of the rows that an import left out.",
        "It says why each row was left out, but does not hold the rows themselves.",
        "Repair those rows in the file that they come from, and import that file again.",
        columns=has(names("line"), names("column"), names("reason"), names("address"), names("value"), most=5),
    ),
    Known(
        "own_copies",
        "This is Anchorline's list of copies and variants of pages.",
        "It holds only pages that are like another, so that importing it as pages would mark all others as missing.",
        "It cannot be imported. Open Copies and variants to say which pages are not the same.",
        columns=has(names("group_number"), names("group_kind"), names("stands_for_group")),
    ),
    Known(
        "own_faulty_links",
        "This is Anchorline's report of broken and redirected links of a source.",
        "It lists only the links to repair, so that importing it as links would mark all others as missing.",
        "Repair the links on the site, then fetch it again under Sources, which brings all of its links.",
        columns=has(names("page"), names("link"), names("leads_to"), names("fault")),
    ),
)
