"""Files as crawlers write them, and what happens to them: cut, flipped, packed badly, filled with what nobody expects.

`damaged_files` draws them for Hypothesis: small ones, since a fault of a reader seldom needs a large file. What needs a
large one stands in test_bounds.py. `damaged_rows` draws files whose damage is in one row, and says on which line.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.ingest.files import LINK_HEADER, SITE, csv_text, link

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp1251", "gb18030", "shift_jis")
SAID = ("", "utf-8", "utf-16", "cp1252", "cp1250", "cp1251", "iso8859-15", "shift_jis", "gb18030", "big5", "euc_kr")
LETTERS = {"cp1252": "äöüßé", "cp1251": "жшюя", "gb18030": "书籍鞋", "shift_jis": "本靴ア"}
# What a file holds; the last three are traffic: a table, Search Console's archive, a report of Google Analytics.
SHAPES = ("pages", "links", "queries", "traffic", "console", "analytics")
TRAFFIC = "traffic"
PAGE_HEADER = ("Address", "Content Type", "Status Code", "Title 1", "H1-1", "Content 1", "Breadcrumb", "Clicks")
QUERY_HEADER = ("page", "query", "clicks", "impressions", "position")
TRAFFIC_HEADER = ("Top pages", "Clicks", "Impressions", "CTR", "Position")
ANALYTICS_HEADER = ("Page path and screen class", "Views", "Active users", "Event count")
DAYS = ("2026-01-01", "2026-01-31")
COMMENTS = """# ----------------------------------------
# Pages and screens: Page path and screen class
# ----------------------------------------
#
# Start date: 20260101
# End date: 20260131
"""
Rows = list[list[str]]


@dataclass(frozen=True)
class DamagedFile:
    """`rows` is what a whole file holds; `whole` says that nothing happened to it and that it is rightly declared."""

    name: str
    content: bytes
    kind: str
    encoding: str
    rows: int
    whole: bool
    told: str

    def __repr__(self) -> str:
        return f"DamagedFile({self.told}, {len(self.content)} bytes)"


def table(shape: str, rows: int, letters: str) -> Rows:
    """A well-formed table, header first, of rows that are all imported: pages of their own, links between the pages
    /0 to /9, queries and traffic of these."""
    word = letters[:2]
    if shape in ("traffic", "console"):
        body = [[f"{SITE}/{n % 10}#{word}{n}", str(n), str(10 * n), "10%", "3.5"] for n in range(rows)]
        return [list(TRAFFIC_HEADER), *body]
    if shape == "analytics":
        body = [[f"/{n % 10}?utm_source={word}{n}", str(n), str(n), "1"] for n in range(rows)]
        return [list(ANALYTICS_HEADER), *body]
    if shape == "links":
        body = [list(link(f"/{n % 10}", f"/{(n * 7 + 3) % 10}", f"boots {word} {n}")) for n in range(rows)]
        return [list(LINK_HEADER), *body]
    if shape == "queries":
        body = [[f"{SITE}/{n % 10}", f"boots {word} {n}", str(n), str(10 * n), "3.5"] for n in range(rows)]
        return [list(QUERY_HEADER), *body]
    trail = json.dumps({"@type": "BreadcrumbList", "itemListElement": [{"position": 1, "name": "Boots", "item": SITE}]})
    body = [
        [f"{SITE}/p/{n}", "text/html", "200", f"Title {word} {n}", f"H1 {n}", f"Text of {n}.\nMore", trail, str(n)]
        for n in range(rows)
    ]
    return [list(PAGE_HEADER), *body]


# ------------------------------------------------------------------------------------------------ what befalls a table


def _anywhere(rows: Rows, random: Random) -> tuple[int, int]:
    row = random.randrange(len(rows))
    return row, random.randrange(len(rows[row]) or 1)


def _cell(value: Callable[[Random], str]) -> Callable[[Rows, Random], None]:
    def put(rows: Rows, random: Random) -> None:
        row, place = _anywhere(rows, random)
        rows[row][place : place + 1] = [value(random)]

    return put


def _address(value: str) -> Callable[[Rows, Random], None]:
    def put(rows: Rows, random: Random) -> None:
        place = 1 if len(rows[-1]) == len(LINK_HEADER) else 0
        rows[-1][place : place + 1] = [value]

    return put


def _equal_header(rows: Rows, random: Random) -> None:
    rows[0][:] = [random.choice(rows[0])] * len(rows[0])


def _blank_header(rows: Rows, random: Random) -> None:
    rows[0][:] = random.choice([[], [""], [" "] * len(rows[0])])


def _only_blank(rows: Rows, random: Random) -> None:
    rows[:] = [[""] for _ in rows]


def _wide(rows: Rows, random: Random) -> None:
    for row in rows:
        row.extend([random.choice(["", "x"])] * random.choice([1, 300, 2_500]))


def _ragged(rows: Rows, random: Random) -> None:
    row = random.choice(rows)
    row[:] = row[: random.randrange(len(row) + 1)] if random.random() < 0.5 else row + ["more"] * random.randrange(1, 9)


def _trail(text: str) -> Callable[[Rows, Random], None]:
    def put(rows: Rows, random: Random) -> None:
        for row in rows[1:]:
            if len(row) == len(PAGE_HEADER):
                row[6] = text

    return put


TRAIL = '{"@type": "BreadcrumbList", "itemListElement": %s}'
TO_TABLES: dict[str, Callable[[Rows, Random], None]] = {
    "NUL": _cell(lambda random: "a\0b\0"),
    "huge cell": _cell(lambda random: random.choice("x1 >,\"'/\u0301") * 60_000),
    "control characters": _cell(lambda random: "".join(map(chr, random.choices(range(1, 160), k=50)))),
    "quotes": _cell(lambda random: random.choice(['"', '""', '"""', 'a"b', '\n"', '",'])),
    "digits": _cell(lambda random: random.choice("19٣") * random.choice([20, 400, 5_000])),
    "a time": _cell(lambda random: random.choice(["Thu, 12 Feb 99999999999 16:48:29 GMT", "9999-12-31T23:59-12:00"])),
    "deep JSON": _trail('{"@type": "BreadcrumbList", "x": ' + "[" * 30_000),
    "a surrogate": _trail(TRAIL % '[{"name": "\\ud800", "position": 1}]'),
    "NUL in JSON": _trail(TRAIL % '[{"name": "a\\u0000", "position": 1}]'),
    "a great number in JSON": _trail(TRAIL % ('[{"name": "a", "position": ' + "9" * 400 + "}]")),
    "deep breadcrumb": _trail(" > ".join(f"c{n}" for n in range(3_000))),
    "deep address": _address(SITE + "/a" * 2_000),
    "long address": _address(SITE + "/" + "1" * 20_000),
    "an odd host": _address("https://" + "1." * 100 + "/%zz%00%ff?utm_" + "x" * 500),
    "equal header": _equal_header,
    "blank header": _blank_header,
    "only blank": _only_blank,
    "wide": _wide,
    "ragged": _ragged,
}


# ------------------------------------------------------------------------------------------------ what befalls bytes


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _flip(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 3, 20])):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _insert(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    pieces = (b'"', b"\0", b"\r", b"\n", b",", b"\xff", b"\xef\xbb\xbf", b"\xd8\x00", random.randbytes(20))
    return content[:at] + random.choice(pieces) * random.choice([1, 1, 2, 50]) + content[at:]


def _repeat(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    end = at + random.randrange(1, 200)
    return content[:end] + content[at:end] * random.choice([1, 5, 100]) + content[end:]


def _zeros(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    size = random.randrange(1, 60)
    return content[:at] + bytes(size) + content[at + size :]


TO_BYTES: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut": _cut,
    "flip": _flip,
    "insert": _insert,
    "repeat": _repeat,
    "zeros": _zeros,
}


# ------------------------------------------------------------------------------------------------ packing, well and ill


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED, name: str = "table.csv", also: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo(name), content, method)
        for n in range(also):
            archive.writestr(zipfile.ZipInfo(f"__MACOSX/{n}.csv"), b"x")
    return out.getvalue()


def with_method(packed: bytes, method: int) -> bytes:
    """An archive whose only file says that it is packed by another method."""
    changed = bytearray(packed)
    changed[8:10] = method.to_bytes(2, "little")
    directory = changed.index(b"PK\x01\x02")
    changed[directory + 10 : directory + 12] = method.to_bytes(2, "little")
    return bytes(changed)


def with_flags(packed: bytes, flags: int, name: bytes = b"") -> bytes:
    """An archive whose only file, table.csv, has these flags, and a name of as many bytes."""
    changed = bytearray(packed)
    directory = changed.index(b"PK\x01\x02")
    for at in (6, directory + 8):
        changed[at : at + 2] = flags.to_bytes(2, "little")
    if name:
        for at in (30, directory + 46):
            changed[at : at + len(name)] = name
    return bytes(changed)


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": gzipped,
    "zip": zipped,
    "zip, stored": lambda content: zipped(content, zipfile.ZIP_STORED),
    "zip, bzip2": lambda content: zipped(content, zipfile.ZIP_BZIP2),
    "zip, LZMA": lambda content: zipped(content, zipfile.ZIP_LZMA),
    "zip, more files": lambda content: zipped(content, also=20),
    "gzip, two streams": lambda content: gzipped(content[:100]) + gzipped(content[100:]),
}
ILL_PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip in gzip": lambda content: gzipped(gzipped(content)),
    "zip in zip": lambda content: zipped(zipped(content)),
    "bzip2": bz2.compress,
    "two tables": lambda content: zipped(content) + zipped(content, name="other.csv"),
    "no name": lambda content: zipped(content, name=".csv"),
    "odd name": lambda content: zipped(content, name="../\u202e\x07" + "ä" * 300 + ".csv"),
    "name not UTF-8": lambda content: with_flags(zipped(content), 0x800, b"t\xff\xfe\xb1e.csv"),
    "password": lambda content: with_flags(zipped(content), 0x1),
    "patch": lambda content: with_flags(zipped(content), 0x20),
    "deflate64": lambda content: with_method(zipped(content), 9),
    "said to be bzip2": lambda content: with_method(zipped(content), 12),
    "said to be LZMA": lambda content: with_method(zipped(content), 14),
    "said to be Zstandard": lambda content: with_method(zipped(content), 93),
    "said to be WavPack": lambda content: with_method(zipped(content), 97),
    "said to be stored": lambda content: with_method(zipped(content), 0),
    "bomb": lambda content: gzipped(content + b"\n" * 3_000_000),
    "bzip2 bomb": lambda content: zipped(content + b"\n" * 3_000_000, zipfile.ZIP_BZIP2),
    "empty streams": lambda content: gzipped(b"") * 3_000 + gzipped(content),
}


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def chart() -> bytes:
    return csv_text(("Date", *TRAFFIC_HEADER[1:]), [(day, "1", "2", "50%", "3") for day in DAYS]).encode()


def console_archive(pages: bytes, days: bytes, method: int) -> bytes:
    """As Search Console packs a table of pages: beside the days and the filters."""
    filters = csv_text(("Filter", "Value"), [("Search type", "Web"), ("Date", "Last month")])
    countries = csv_text(("Country", *TRAFFIC_HEADER[1:]), [("Germany", "1", "2", "50%", "3")])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in (("Chart", days), ("Countries", countries), ("Filters", filters), ("Pages", pages)):
            archive.writestr(zipfile.ZipInfo(f"{name}.csv"), content, method)
    return out.getvalue()


# What befalls the table of days beside the pages; the pages are whole.
TO_DAYS: dict[str, Callable[[Random], bytes]] = {
    "no days": lambda random: b"",
    "days cut": lambda random: _cut(chart(), random),
    "days flipped": lambda random: _flip(chart(), random),
    "days no text": lambda random: random.randbytes(2_000),
    "days without end": lambda random: b"Date\r\n" + b"2026-01-01\r\n" * 20_000 + b"soon",
    "days of a bomb": lambda random: b"Date\r\n" + b"\n" * 3_000_000,
    "days that are none": lambda random: csv_text(("Date",), [("9" * 60,), ("2026-02-30",)]).encode(),
}


def _said_otherwise(packed: bytes, random: Random) -> bytes:
    """An archive whose first file, the days, says that it is packed by another method, or asks for a password."""
    return random.choice(
        [
            lambda: with_method(packed, random.choice([0, 8, 9, 12, 14, 93])),
            lambda: with_flags(packed, random.choice([0x1, 0x20, 0x800])),
        ]
    )()


@st.composite
def damaged_files(draw: Any) -> DamagedFile:
    """A file, whole (one of six or so) or damaged on its way: as a table, as text, as packed bytes."""
    shape = draw(st.sampled_from(SHAPES))
    size = draw(st.integers(0, 12))
    encoding = draw(st.sampled_from(ENCODINGS))
    random = Random(draw(st.integers(0, 2**32 - 1)))
    to_table = draw(st.lists(st.sampled_from(sorted(TO_TABLES)), max_size=2))
    to_text = draw(st.lists(st.sampled_from(sorted(TO_BYTES)), max_size=1))
    packing = draw(st.sampled_from(sorted(PACKINGS) * 2 + sorted(ILL_PACKINGS)))
    to_days = draw(st.lists(st.sampled_from([*sorted(TO_DAYS), "said otherwise"]), max_size=1))
    to_packed = draw(st.lists(st.sampled_from(sorted(TO_BYTES)), max_size=2))
    said = draw(st.sampled_from(("right", *SAID)))
    delimiter = draw(st.sampled_from(",;\t|"))
    rows = table(shape, size, LETTERS.get(encoding, "äж书"))
    for name in to_table:
        TO_TABLES[name](rows, random)
    if to_table and "quotes" in to_table:
        text = "\r\n".join(delimiter.join(row) for row in rows)
    else:
        text = csv_text(rows[0], rows[1:], delimiter)
    if shape == "analytics":
        text = COMMENTS + text
    content = text.encode(encoding, "replace")
    for name in to_text:
        content = TO_BYTES[name](content, random)
    if shape == "console":
        packing = "zip, of Search Console"
        days = TO_DAYS[to_days[0]](random) if to_days and to_days[0] in TO_DAYS else chart()
        content = console_archive(content, days, random.choice(METHODS))
        content = _said_otherwise(content, random) if to_days == ["said otherwise"] else content
    else:
        to_days = []
        content = (PACKINGS | ILL_PACKINGS)[packing](content)
    for name in to_packed:
        content = TO_BYTES[name](content, random)
    found_out = encoding.startswith("utf")
    right = "" if found_out else encoding
    well_packed = shape == "console" or packing in PACKINGS
    whole = not (to_table or to_text or to_days or to_packed) and well_packed and said == "right" and size > 0
    story = [shape, encoding, *to_table, *to_text, packing, *to_days, *to_packed, f"said {said}"]
    ending = ".gz" if packing.startswith("gzip") else ".zip" if "zip" in packing else ".csv"
    kind = TRAFFIC if shape in ("traffic", "console", "analytics") else shape
    return DamagedFile(
        f"table{ending}", content, kind, right if said == "right" else said, size, whole, ", ".join(story)
    )


# ------------------------------------------------------------------------------------------------ one row among others


@dataclass(frozen=True)
class DamagedRow:
    """A file in which one row is damaged, somewhere in the middle.

    `line` is the line on which the row begins, or the line of the damage where that is a byte which is no text. The
    row, or a cell of it, is left out for `reason`; where that is empty, the file is refused. One with zeros may be
    refused, too, by the line they stand on, `zeros_on`; 0 where there are none.
    """

    kind: str
    content: bytes
    encoding: str
    line: int
    reason: str
    zeros_on: int
    told: str

    def __repr__(self) -> str:
        return f"DamagedRow({self.told}, line {self.line}, {len(self.content)} bytes)"


# Of each kind of file: the columns of the address, of a number (links have none), and of a text with line breaks.
PLACES = {"pages": (0, 7, 5), "links": (1, None, 4), "queries": (0, 2, 1), "traffic": (0, 1, 3)}
BREAKS = ("", "\n", "\r\n", "\r", "\n\n\n", "\n\r\n", '\n""\n')
# What a file begins with, and what its text is in.
MARKS = {
    "UTF-8, marked": (codecs.BOM_UTF8, "utf-8"),
    "UTF-16, marked, little end first": (codecs.BOM_UTF16_LE, "utf-16-le"),
    "UTF-16, marked, big end first": (codecs.BOM_UTF16_BE, "utf-16-be"),
}
TEXT_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252", *MARKS)
NO_TEXT = {"utf-8": b"\xff", "cp1252": b"\x81", "utf-16-le": b"\x00\xd8", "utf-16-be": b"\xd8\x00"}
# What befalls a row, and why it or its cell is left out; the last ones end in a refusal.
REASONS_OF = {
    "more cells": "bad_width",
    "fewer cells": "bad_width",
    "a wrong number": "bad_cell",
    "a wrong address": "bad_address",
    "zeros for an address": "no_address",
    "zeros for the line's end": "bad_width",
}
DAMAGES = (*REASONS_OF, "a quote left open", "a closing quote lost", "text after a quote", "no text")


def lines_of(text: str) -> int:
    """How many lines end in a text, as editors count them."""
    return len(re.findall(r"\r\n|\r|\n", text))


def _row_damaged(damage: str, cells: list[str], places: tuple[int, int | None, int], zeros: int) -> list[str]:
    address, number, _ = places
    damaged = list(cells)
    if damage == "more cells":
        damaged += ["more"] * zeros
    elif damage == "fewer cells":
        damaged.pop()
    elif damage == "a wrong number":
        damaged[number or 0] = "12x4"
    elif damage == "a wrong address":
        damaged[address] = "no address"
    elif damage == "zeros for an address":
        damaged[address] = "\0" * zeros
    return damaged


@st.composite
def damaged_rows(draw: Any) -> DamagedRow:
    """A file of pages, links, queries or traffic with one damaged row, above and below which cells have line breaks."""
    kind = draw(st.sampled_from(sorted(PLACES)))
    places = PLACES[kind]
    damage = draw(st.sampled_from([name for name in DAMAGES if name != "a wrong number" or places[1] is not None]))
    encoding = draw(st.sampled_from(TEXT_ENCODINGS))
    end = draw(st.sampled_from(("\r\n", "\n", "\r")))
    delimiter = draw(st.sampled_from(",;\t|"))
    all_quoted = draw(st.booleans())
    filling = draw(st.sampled_from((0, 0, 0, 30_000)))  # so that the file is read in several pieces
    zeros = draw(st.sampled_from((1, 3, 60)))
    rows = table(kind, 40 if filling else draw(st.integers(3, 12)), LETTERS.get(encoding, "äж书"))
    for n, row in enumerate(rows[1:]):
        row[places[2]] = f"a{'b' * filling}{draw(st.sampled_from(BREAKS))}c {n}"
    at = draw(st.integers(2, len(rows) - 2))
    rows[at] = _row_damaged(damage, rows[at], places, zeros)

    def quoted(cell: str) -> str:
        needs_quotes = all_quoted or any(letter in cell for letter in f'"\r\n{delimiter}')
        return '"{}"'.format(cell.replace('"', '""')) if needs_quotes else cell

    def written(row: list[str]) -> str:
        return delimiter.join(map(quoted, row)) + end

    texts = [written(row) for row in rows]
    bare = [cell.replace('"', "") for cell in rows[at]]
    damaged_from = 0  # characters of the row before the damage
    if damage == "a quote left open":
        texts[at] = delimiter.join(f'"{cell}' if n == places[2] else cell for n, cell in enumerate(bare)) + end
    elif damage == "a closing quote lost":
        texts[at] = delimiter.join(f'"{cell}"' for cell in bare)[:-1] + end
    elif damage == "text after a quote":
        texts[at] = delimiter.join([*(f'"{cell}"' for cell in bare[:-1]), '"5" inch"']) + end
    elif damage == "zeros for the line's end":
        texts[at] = texts[at].removesuffix(end) + "\0" * zeros
    elif damage == "no text":
        letters = [n for n, letter in enumerate(texts[at]) if letter.isalnum()]
        damaged_from = draw(st.sampled_from(letters[:200]))
    before = "".join(texts[:at]) + texts[at][:damaged_from]
    after = "".join(texts[at:])[damaged_from:]
    mark, codec = MARKS.get(encoding, (b"", encoding))
    between = NO_TEXT[codec] if damage == "no text" else b""
    story = (kind, damage, encoding, repr(end), "all quoted" if all_quoted else "few quoted", str(filling))
    return DamagedRow(
        kind,
        mark + before.encode(codec, "replace") + between + after.encode(codec, "replace"),
        "cp1252" if encoding == "cp1252" else "",
        lines_of(before) + 1,
        REASONS_OF.get(damage, ""),
        lines_of(before + texts[at].partition("\0")[0]) + 1 if "\0" in texts[at] else 0,
        ", ".join(story),
    )
