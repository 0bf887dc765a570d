"""What a spreadsheet that came back says: a workbook, or a CSV as Excel, LibreOffice and others save it.

Rows are read one by one; only those that decide something are kept, and of them no more than MAX_DECISIONS.
"""

from __future__ import annotations

import codecs
import csv
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TextIO

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import override

from linker.errors import UserError
from linker.models import Reach
from linker.query_strings import is_id
from linker.storage import workbook
from linker.storage.cells import safe_cell
from linker.wording import number
from review.models import Reason, Verb
from review.rulings import Ruling, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

NEEDED = ("suggestion", "run", "donor", "acceptor", "anchor", "decision")
USED = (*NEEDED, "new_anchor", "reason", "reach", "note")
MAX_DECISIONS = 1000  # that are carried out within one request; rows without a decision do not count
MAX_ROWS = 250_000  # that a file has: more than a workbook of the queue holds
MAX_BYTES = 250_000_000
MAX_LINE = 1_000_000  # characters of a CSV: a row may go over several lines
MAX_NOTE = 500
PIECE = 2**18
# What may stand under "decision"; an empty cell decides nothing.
WORDS = {
    **dict.fromkeys(("accept", "accepted", "a", "yes", "y", "ok", "x"), Verb.ACCEPT),
    **dict.fromkeys(("reject", "rejected", "r", "no", "n"), Verb.REJECT),
}
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


@dataclass(frozen=True)
class Wish:
    """A row that decides something. `row` is its place in the file, from 1, the header included; `donor` and `acceptor`
    are the addresses that it names, and `shown` its anchor."""

    row: int
    edge: int
    run: int
    donor: str
    acceptor: str
    shown: str
    verb: Verb
    anchor: str = ""
    reason: str = ""
    note: str = ""
    reach: str = Reach.GOOD.value

    @classmethod
    def unpacked(cls, cells: Sequence[Any]) -> Self:
        """The inverse of `packed`."""
        wish = cls(*cells)
        return replace(wish, verb=Verb(wish.verb))

    @property
    def packed(self) -> list[str | int]:
        """As JSON values."""
        return [str(value) if isinstance(value, Verb) else value for value in astuple(self)]

    @property
    def ruling(self) -> Ruling:
        return Ruling(anchor=self.anchor or None, reason=self.reason, reach=Reach(self.reach), note=self.note)

    @property
    def what_was_shown(self) -> Shown:
        return Shown(runs={self.edge: self.run}, anchors={self.edge: self.shown})

    @property
    def reason_label(self) -> str:
        return str(Reason(self.reason).label) if self.reason else ""

    @property
    def reach_label(self) -> str:
        return str(Reach(self.reach).label) if self.verb == Verb.REJECT else ""


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


def read_sheet(path: Path) -> Sheet:
    """What a file that came back says. Raises UserError where it is no such file, or decides on too much."""
    if path.stat().st_size > MAX_BYTES:
        raise UserError(
            _("The file is larger than %(most)s MB. Split it, or leave out rows.") % {"most": MAX_BYTES // 1_000_000}
        )
    rows = _filled(_rows(path))
    columns = _columns(_header(rows))
    wishes: list[Wish] = []
    unread: list[Refused] = []
    empty = 0
    for row, cells in rows:
        found = _read({name: cells[at].strip() for name, at in columns.items() if at < len(cells)}, row)
        if found is None:
            empty += 1
        elif isinstance(found, Wish):
            wishes.append(found)
        else:
            unread.append(found)
        if len(wishes) + len(unread) > MAX_DECISIONS:
            raise UserError(
                _("The file decides on more than %(most)s suggestions, from row %(row)s on. Split it.")
                % {"most": number(MAX_DECISIONS), "row": number(row)}
            )
    return Sheet(tuple(wishes), tuple(unread), empty)


# ------------------------------------------------------------------------------------------------- files as rows


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file of any kind with their numbers, from 1."""
    with path.open("rb") as file:
        start = file.read(4)
    if start == _OLE:
        raise UserError(_("This is an old Excel workbook (.xls), or one with a password. Save it as .xlsx or CSV."))
    if start != _ZIP:
        return _csv_rows(path)
    if not workbook.is_workbook(path):
        raise UserError(_("This is a packed file, but no Excel workbook. Send back the .xlsx file or the CSV itself."))
    return workbook.rows(path)


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    with path.open(encoding=_encoding(path), errors="replace", newline="") as file:
        header = file.readline(PIECE)
        file.seek(0)
        reader = csv.reader(_lines(file), delimiter=max(",;\t", key=header.count), strict=True)
        try:
            yield from enumerate(reader, start=1)
        except csv.Error as error:
            raise UserError(
                _("Line %(line)s of the file cannot be read: %(error)s.") % {"line": reader.line_num, "error": error}
            ) from error


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, none so long that it fills the memory, without characters that no text may hold."""
    while line := file.readline(MAX_LINE):
        if len(line) == MAX_LINE:
            raise UserError(_("A line of the file has more than %(most)s characters.") % {"most": number(MAX_LINE)})
        yield line.replace("\0", "")


def _encoding(path: Path) -> str:
    """UTF-16 has its mark; what is no UTF-8 is taken for what Excel writes in Western Europe."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    with path.open("rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        try:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _filled(rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold something. Raises UserError where there are too many of them."""
    filled = 0
    for row, cells in rows:
        if not any(cells):
            continue
        filled += 1
        if filled > MAX_ROWS:
            raise UserError(
                _("The file has more than %(most)s rows. Leave out those without a decision.")
                % {"most": number(MAX_ROWS)}
            )
        yield row, cells


# ------------------------------------------------------------------------------------------------ rows as wishes


def _header(rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    """The first row that holds something."""
    _row, header = next(rows, (0, []))
    if not header:
        raise UserError(_("The file is empty. Send back the file that the queue has made, filled in."))
    if not set(NEEDED) & {name.strip().lower() for name in header}:
        raise UserError(
            _(
                "This is no list of the queue: its first row has none of the columns “suggestion”, “run”, “anchor” and "
                "“decision”. Send back a file that the queue has made, as XLSX or CSV."
            )
        )
    return header


def _columns(header: list[str]) -> dict[str, int]:
    """Where the columns are that are read; others may stand between them, in any order."""
    names = [name.strip().lower() for name in header]
    for name in USED:
        if name in NEEDED and name not in names:
            raise UserError(
                _("The first row names no column “%(name)s”. Send back a file that the queue has made.")
                % {"name": name}
            )
        if names.count(name) > 1:
            raise UserError(_("The first row names two columns “%(name)s”. Remove one of them.") % {"name": name})
    return {name: names.index(name) for name in USED if name in names}


def _read(cells: dict[str, str], row: int) -> Wish | Refused | None:
    word = cells.get("decision", "").lower()
    if not word:
        return _without_decision(cells, row)
    if problem := _problem(cells, word):
        return Refused(row, problem)
    verb, anchor = WORDS[word], _own(cells.get("new_anchor", ""))
    if verb == Verb.ACCEPT and anchor:
        verb = Verb.EDIT
    reason = _named(Reason).get(cells.get("reason", "").lower(), "")
    reach = _named(Reach).get(cells.get("reach", "").lower(), Reach.GOOD.value)
    return Wish(
        row, int(cells["suggestion"]), int(cells["run"]), _own(cells["donor"]), _own(cells["acceptor"]),
        _own(cells.get("anchor", "")), verb, anchor,
        reason if verb == Verb.REJECT else "", _own(cells.get("note", ""))[:MAX_NOTE],
        reach if verb == Verb.REJECT else Reach.GOOD.value,
    )  # fmt: skip


def _without_decision(cells: dict[str, str], row: int) -> Refused | None:
    """What is said of a row that holds words or a reason and decides nothing; None of one that holds neither."""
    for name in ("new_anchor", "reason"):
        if cells.get(name):
            said = _("The row holds something under “%(column)s” and nothing under “decision”: write accept or reject.")
            return Refused(row, said % {"column": name})
    return None


def _problem(cells: dict[str, str], word: str) -> str:
    """Why a row cannot be read, with the column; empty where it can."""
    for name, text in cells.items():
        if text == workbook.NO_RESULT:
            return _(
                "The formula under “%(column)s” has no result. Open the file in a spreadsheet, save it, and send it "
                "again, or write the text itself."
            ) % {"column": name}
    if word not in WORDS:
        return _("“%(word)s” under “decision” is no decision: write accept or reject.") % {
            "word": cells["decision"][:40]
        }
    for name in ("suggestion", "run"):
        if not is_id(cells.get(name, "")):
            return _("The column “%(column)s” has been changed: it holds “%(text)s”, and no number.") % {
                "column": name,
                "text": cells.get(name, "")[:40],
            }
    for name in ("donor", "acceptor"):
        if not cells.get(name):
            return _("The cell under “%(column)s” is empty, so that the row does not say which link it is about.") % {
                "column": name
            }
    if WORDS[word] == Verb.REJECT and cells.get("new_anchor"):
        return _("The row rejects the link and holds words under “new_anchor”: remove them, or write accept.")
    if WORDS[word] == Verb.ACCEPT and cells.get("reason"):
        return _("The row accepts the link and holds something under “reason”: remove it, or write reject.")
    reason, reach = cells.get("reason", "").lower(), cells.get("reach", "").lower()
    if reason and reason not in _named(Reason):
        return _("“%(word)s” under “reason” is no reason. Known are: %(known)s.") % {
            "word": cells["reason"][:40],
            "known": " · ".join(str(one.label) for one in Reason),
        }
    if reach and reach not in _named(Reach):
        return _("“%(word)s” under “reach” does not say for how long. Known are: %(known)s.") % {
            "word": cells["reach"][:40],
            "known": " · ".join(str(one.label) for one in Reach),
        }
    return ""


def _named(choices: type[Reason] | type[Reach]) -> dict[str, str]:
    """What may stand for a choice: its names in every language, since an editor may read another than the sheet has
    been made in, and the values themselves."""
    known: dict[str, str] = {}
    for language, _name in settings.LANGUAGES:
        with override(language):
            known |= {str(one.label).lower(): one.value for one in choices}
    return known | {value: value for value in choices.values}


def _own(text: str) -> str:
    """The text without the apostrophe that keeps spreadsheets from running it."""
    return text[1:] if text.startswith("'") and safe_cell(text[1:]) == text else text
