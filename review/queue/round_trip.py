"""A list of suggestions as a spreadsheet that is filled in and comes back.

What an editor has written is shown before it is carried out, and each row by itself is compared with what the file said
of the suggestion: one that has changed in the meantime is refused, and the others are not.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from linker.errors import UserError
from linker.models import CandidateEdge
from linker.query_strings import is_id
from linker.storage.cells import safe_cell
from linker.wording import count
from review.decisions import AnchorError, Ruling, Shown, decide_edges
from review.models import Reason, Verb
from review.queue.filters import Cursor
from review.queue.selectors import Line, lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.contrib.auth.models import User

    from linker.models import Project
    from review.queue.filters import QueueFilter

COLUMNS = (
    "suggestion", "run", "donor", "donor_title", "sentence", "anchor", "acceptor", "acceptor_title", "probability",
    "sensitive", "decision", "new_anchor", "reason", "note",
)  # fmt: skip
NEEDED = ("suggestion", "run", "anchor", "decision")
MAX_ROWS = 1000  # that are decided on, within one request; rows without a decision do not count
NOT_HERE = "This suggestion is not in this project."
MAX_BYTES = 20_000_000
_AT_A_TIME = 500
# What may stand under "decision"; an empty cell decides nothing.
WORDS = {
    **dict.fromkeys(("accept", "accepted", "a", "yes", "y", "ok", "x"), Verb.ACCEPT),
    **dict.fromkeys(("reject", "rejected", "r", "no", "n"), Verb.REJECT),
}
_REASONS = {str(reason.label).lower(): reason.value for reason in Reason} | {value: value for value in Reason.values}


@dataclass(frozen=True)
class Wish:
    """A row that decides something. `row` is its place in the file, from 1, the header included."""

    row: int
    edge: int
    run: int
    shown: str
    verb: Verb
    anchor: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Refused:
    row: int
    text: str


@dataclass(frozen=True)
class Sheet:
    """What a file says: what it wants, the rows that cannot be read, and how many decide nothing."""

    wishes: tuple[Wish, ...]
    unread: tuple[Refused, ...]
    empty: int


@dataclass(frozen=True)
class Outcome:
    """`accepted` and `rejected` count decisions; `refused` says of each other row why nothing was done."""

    accepted: int
    rejected: int
    refused: tuple[Refused, ...]


# ---------------------------------------------------------------------------------------------------------- out


def csv_pieces(project: Project, chosen: QueueFilter, user: User) -> Iterator[bytes]:
    """The list as CSV in UTF-8 with a byte-order mark, which spreadsheets want; in constant memory."""
    yield "\ufeff".encode() + _csv_line(COLUMNS)
    after: Cursor | None = None
    while True:
        found = lines(project, chosen, user, after, _AT_A_TIME)
        yield b"".join(_csv_line(_cells(line)) for line in found.lines)
        if not found.next:
            return
        after = found.lines[-1].cursor


def _cells(line: Line) -> list[str]:
    edge = line.edge
    said = [edge.source.url, edge.source.title, edge.sentence, edge.anchor, edge.target.url, edge.target.title]
    probability = f"{edge.probability:.4f}" if edge.probability is not None else ""
    known = [str(edge.pk), str(edge.run_id), *map(safe_cell, said), probability, safe_cell(edge.sensitive)]
    return known + [""] * (len(COLUMNS) - len(known))


def _csv_line(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()


# ----------------------------------------------------------------------------------------------------------- in


def read_sheet(content: bytes) -> Sheet:
    """What a file that came back says. Raises UserError where it is no such file, or decides on too much."""
    if len(content) > MAX_BYTES:
        raise UserError(f"The file is larger than {MAX_BYTES // 1_000_000} MB. Split it, or leave out rows.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    header, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = {name.strip().lower(): name for name in reader.fieldnames or ()}
    if missing := [name for name in NEEDED if name not in names]:
        raise UserError(f"The first row names no column “{missing[0]}”. Send back a file that the queue has made.")
    wishes: list[Wish] = []
    unread: list[Refused] = []
    empty = 0
    try:
        for row, cells in enumerate(reader, start=2):
            found = _read({name: (cells.get(column) or "").strip() for name, column in names.items()}, row)
            if found is None:
                empty += 1
            elif isinstance(found, Wish):
                wishes.append(found)
            else:
                unread.append(found)
            if len(wishes) > MAX_ROWS:
                raise UserError(f"The file decides on more than {MAX_ROWS:,} suggestions. Split it.")
    except csv.Error as error:
        raise UserError(f"Line {reader.line_num} of the file cannot be read: {error}.") from error
    return Sheet(tuple(wishes), tuple(unread), empty)


def _read(cells: dict[str, str], row: int) -> Wish | Refused | None:
    word = cells["decision"].lower()
    if not word:
        return None
    if word not in WORDS:
        return Refused(row, f"“{cells['decision'][:40]}” is no decision: write accept or reject.")
    if not (is_id(cells["suggestion"]) and is_id(cells["run"])):
        return Refused(row, "The columns “suggestion” and “run” have been changed.")
    reason = cells.get("reason", "").lower()
    if reason and reason not in _REASONS:
        return Refused(row, f"“{reason[:40]}” is no reason. Known are: {', '.join(_REASONS)}.")
    verb, anchor = WORDS[word], _own(cells.get("new_anchor", ""))
    if verb == Verb.ACCEPT and anchor:
        verb = Verb.EDIT
    return Wish(
        row, int(cells["suggestion"]), int(cells["run"]), _own(cells["anchor"]), verb, anchor,
        _REASONS.get(reason, "") if verb == Verb.REJECT else "", cells.get("note", "")[:500],
    )  # fmt: skip


def _own(text: str) -> str:
    """The text without the apostrophe that keeps spreadsheets from running it."""
    return text[1:] if text.startswith("'") and safe_cell(text[1:]) == text else text


def apply(project: Project, user: User, wishes: Sequence[Wish]) -> Outcome:
    """Decides row by row; all decisions share a batch, which one undo takes back."""
    batch = uuid4()
    asked = CandidateEdge.objects.filter(project=project, pk__in=[wish.edge for wish in wishes])
    known = set(asked.values_list("pk", flat=True))
    refused: list[Refused] = []
    done = {Verb.ACCEPT: 0, Verb.EDIT: 0, Verb.REJECT: 0}
    for wish in wishes:
        problem = _apply(project, user, wish, batch) if wish.edge in known else NOT_HERE
        if problem:
            refused.append(Refused(wish.row, problem))
        else:
            done[wish.verb] += 1
    return Outcome(done[Verb.ACCEPT] + done[Verb.EDIT], done[Verb.REJECT], tuple(refused))


def _apply(project: Project, user: User, wish: Wish, batch: UUID) -> str:
    """Decides on one suggestion; the text says why nothing was done, and is empty where it was."""
    ruling = Ruling(anchor=wish.anchor or None, reason=wish.reason, note=wish.note)
    shown = Shown(runs={wish.edge: wish.run}, anchors={wish.edge: wish.shown} if wish.shown else {})
    try:
        outcome = decide_edges(project, [wish.edge], wish.verb, user, ruling, shown, batch=batch)
    except AnchorError as error:
        return str(error)
    if outcome.doubts:
        return " ".join(warning.text for warning in outcome.doubts[0].warnings)
    if outcome.conflicts and not outcome.conflicts[0].is_saved:
        return outcome.conflicts[0].message
    return ""


def in_words(outcome: Outcome) -> str:
    """One sentence on what was done."""
    said = f"{count(outcome.accepted, 'link', 'links')} accepted, {outcome.rejected:,} rejected, undone as one."
    return f"{said} {count(len(outcome.refused), 'row was', 'rows were')} refused." if outcome.refused else said
