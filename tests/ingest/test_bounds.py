"""Bounds on what a file may hold: each ends in a sentence with its line, or in one cell left out, within 1 GiB."""

from __future__ import annotations

import gzip
import io
import json
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from ingest import memo, services
from ingest.addresses.destinations import PageFinder
from ingest.addresses.normalise import Site
from ingest.errors import UnusableFile
from ingest.fields.skipped import Skipped
from ingest.files.column_names import unique_names
from ingest.files.sniff import MAX_COLUMNS
from ingest.files.table import MAX_LINE
from ingest.kinds.links.parse import LinkParser
from ingest.preview import preview_file
from linker.models import Category, Page, Project
from tests.ingest.damage import gzipped, with_flags, with_method, zipped
from tests.ingest.files import LINK_HEADER, SITE, write

ROOT = Path(__file__).resolve().parents[2]
HEAD = b"Address,Title 1\n"
ROW = f"{SITE}/a,A\n".encode()


def refused(path: Path, content: bytes, **options: str) -> str:
    """The sentence that a file is refused with before any row is read."""
    path.write_bytes(content)
    with pytest.raises(UnusableFile) as caught:
        preview_file(Project(base_url=SITE), "pages", path, path.name, None, **options)
    return str(caught.value)


def refused_by_import(project: Project, path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(UnusableFile) as caught:
        services.import_file(project, "pages", path)
    assert not Page.objects.exists()
    assert not Category.objects.exists()
    return str(caught.value)


# ---------------------------------------------------------------------------------------------------------- headers


def test_more_columns_than_any_crawl_has_are_refused_with_the_line(tmp_path):
    names = ",".join(["Title"] * (MAX_COLUMNS + 1)).encode()
    assert "line 1: The header has 2,001 columns" in refused(tmp_path / "a.csv", names + b"\n" + ROW)


def test_equal_names_stay_apart():
    assert unique_names(["A", "A (2)", "A", "", "a b", "a  b"]) == (
        *("A", "A (2)", "A (3)", "Column 4", "a b", "a b (2)"),
    )
    assert len(set(unique_names(["x" * 900] * 1_500))) == 1_500


def test_a_header_without_end_is_refused(tmp_path):
    assert "The header does not end" in refused(tmp_path / "a.csv", b"a b c d " * 50_000 + b"\n" + ROW)


@pytest.mark.parametrize("content", [b'""\n""\n', b"\n\n \n,,\n\n", b'" "\r\n"\t"\r\n'])
def test_a_header_of_blanks_is_refused(tmp_path, content):
    assert "there is no header" in refused(tmp_path / "a.csv", content) or "empty" in refused(tmp_path / "a", content)


def test_blank_lines_above_the_header_are_passed_over(project, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\n\n\n" + HEAD + ROW)
    assert services.import_file(project, "pages", path)["pages"] == 1


# --------------------------------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_read_where_it_is_chosen_too(project, tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes((HEAD + ROW).decode().encode(encoding))
    report = services.import_file(project, "pages", path, encoding="utf-16")
    assert (report["pages"], report["encoding"]) == (1, "UTF-16")


def test_utf16_chosen_for_another_file_is_a_sentence(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(HEAD + ROW + b"x" * (1 - len(HEAD + ROW) % 2))
    with pytest.raises(UnusableFile, match="is not UTF-16"):
        list(preview_file(Project(base_url=SITE), "pages", path, "a.csv", None, "utf-16").source.table)


# ---------------------------------------------------------------------------------------------------------- archives


@pytest.mark.nightly
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_is_a_sentence_and_a_whole_one_is_read(project, tmp_path, method):
    packed = zipped(HEAD + b"".join(f"{SITE}/{n},{n * n}\n".encode() for n in range(3_000)), method)
    for cut in range(60, len(packed) - 200, 997):
        damaged = bytearray(packed)
        damaged[cut : cut + 20] = bytes(20)
        path = tmp_path / "a.zip"
        path.write_bytes(damaged)
        with pytest.raises(UnusableFile, match=r"damaged|cut off|memory"):
            services.import_file(project, "pages", path)
    path.write_bytes(packed)
    assert services.import_file(project, "pages", path)["pages"] == 3_000


@pytest.mark.parametrize(
    ("pack", "words"),
    [
        (lambda content: with_flags(zipped(content), 0x800, b"t\xff\xfe\xb1e.csv"), "cut off or damaged"),
        (lambda content: with_flags(zipped(content), 0x1), "password"),
        (lambda content: with_method(zipped(content), 9), "a method that cannot be read"),
        (lambda content: with_method(zipped(content), 99), "a method that cannot be read"),
        (lambda content: zipped(zipped(content)), "packed twice"),
        (lambda content: gzipped(gzipped(content)), "packed twice"),
        (lambda content: gzipped(content)[:-9], "cut off"),
        (lambda content: gzipped(content) + b"more", "damaged"),
        (lambda content: gzipped(b"") * 2_000 + gzipped(content), "damaged"),
    ],
)
def test_odd_archives_are_a_sentence(project, tmp_path, pack, words):
    assert words in refused_by_import(project, tmp_path / "a.packed", pack(HEAD + ROW))


def test_streams_one_after_the_other_and_padding_are_one_file(project, tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzipped(HEAD) + gzipped(b"") + gzipped(ROW) + bytes(2_000))
    assert services.import_file(project, "pages", path)["pages"] == 1


@pytest.mark.nightly
def test_more_rows_than_packed_bytes_can_hold_are_a_bomb(project, tmp_path):
    packed = gzip.compress(HEAD + ROW * 2_400_000)
    assert len(packed) < 200_000
    assert "more than 5 rows for each of its bytes" in refused_by_import(project, tmp_path / "a.gz", packed)


def test_blank_lines_without_end_are_refused(project, tmp_path):
    message = refused_by_import(project, tmp_path / "a.csv", HEAD + ROW + b"\n" * 300_000)
    assert "are blank" in message
    assert "line " in message


@pytest.mark.nightly
def test_a_row_of_lines_without_end_is_refused_by_its_line(project, tmp_path):
    cell = '"' + "a line of a cell\n" * 250_000 + '",'
    message = refused_by_import(
        project, tmp_path / "a.csv", HEAD + ROW + (cell * (2 * MAX_LINE // len(cell) + 2)).encode()
    )
    assert "line 3: The row that begins here is longer than" in message


HOSTILE = """
import resource, sys
import django
django.setup()
from pathlib import Path
from ingest import memo
from ingest.preview import preview_file
from ingest.errors import UnusableFile
from linker.models import Project
begun = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (begun + 2**30, begun + 2**30))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
for path in map(Path, sys.argv[1:]):
    try:
        list(preview_file(Project(base_url="https://shop.example"), "pages", path, path.name, None).source.table)
    except UnusableFile as error:
        print(error)
    else:
        print("read", path)
"""


def hostile_files() -> dict[str, bytes]:
    lzma = bytearray(zipped(HEAD + ROW * 100, zipfile.ZIP_LZMA))
    place = 30 + len("table.csv") + 5
    lzma[place : place + 4] = struct.pack("<I", 2**32 - 1)
    blocks = io.BytesIO()
    with zipfile.ZipFile(blocks, "w", zipfile.ZIP_BZIP2) as archive, archive.open("a.csv", "w") as member:
        member.write(HEAD)
        for _ in range(300):
            member.write(b"x" * 2**20)
    directory = bytearray(zipped(HEAD))
    end = directory.rindex(b"PK\x05\x06")
    directory[end + 12 : end + 16] = struct.pack("<I", 2**31)
    return {
        "dictionary.zip": bytes(lzma),
        "bzip2.zip": blocks.getvalue(),
        "directory.zip": bytes(2**21) + bytes(directory),
        "name.gz": b"\x1f\x8b\x08\x08\0\0\0\0\0\0" + b"n" * 30_000_000,
        "empty.gz": gzipped(b"") * 500_000,
        "zeros.gz": gzip.compress(HEAD + bytes(100_000_000)),
    }


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux alone")
def test_archives_made_to_fill_the_memory_or_the_time_are_refused_within_1_gib(tmp_path):
    files = hostile_files()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE, *(str(tmp_path / name) for name in files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = done.stdout.splitlines()
    assert [line.partition(":")[0].partition(",")[0] for line in told] == list(files), told


# ------------------------------------------------------------------------------------------------- depth and cells


def pages_with(project: Project, path: Path, **cells: str) -> dict:
    rows = [(f"{SITE}/a/1", "A", *cells.values()), (f"{SITE}/b/2", "B", *["" for _ in cells])]
    return services.import_file(project, "pages", write(path, ("Address", "Title 1", *cells), rows))


def test_an_address_of_thousands_of_folders_makes_twenty_categories_and_is_listed(project, tmp_path):
    listed = tmp_path / "skipped.csv"
    rows = [(SITE + "/f" * 3_500, "Deep"), (f"{SITE}/a/b", "B")]
    report = services.import_file(
        project, "pages", write(tmp_path / "a.csv", ("Address", "Title 1"), rows), skipped_file=listed
    )
    assert report["pages"] == 2
    assert Category.objects.count() == 21
    assert report["skipped"] == {"deep_category": 1}
    assert '2,,"The category is more than 20 levels deep' in listed.read_text("utf-8-sig")


def test_a_breadcrumb_of_thousands_of_levels_is_cut_likewise(project, tmp_path):
    trail = " > ".join(f"c{n}" for n in range(3_000))
    report = pages_with(project, tmp_path / "a.csv", Breadcrumb=trail)
    assert (report["pages"], report["categories"], Category.objects.count()) == (2, 20, 20)
    assert Page.objects.get(canonical_url=f"{SITE}/a/1").category.depth == 20


def test_an_address_longer_than_any_server_takes_is_left_out_with_its_line(project, tmp_path):
    rows = [(SITE + "/" + "a" * 9_000, "Long"), (f"{SITE}/b", "B")]
    report = services.import_file(project, "pages", write(tmp_path / "a.csv", ("Address", "Title 1"), rows))
    assert (report["pages"], sum(report["skipped"].values())) == (1, 1)


@pytest.mark.parametrize("name", ['"\\ud800"', '"a\\u0000b"', '"\\udc00\\ud800"'])
def test_json_that_the_database_cannot_hold_is_one_cell_left_out(project, tmp_path, name):
    trail = '{"@type": "BreadcrumbList", "itemListElement": [{"position": 1, "name": NAME, "item": "x"}]}'
    report = pages_with(project, tmp_path / "a.csv", **{"JSON-LD 1": trail.replace("NAME", name)})
    assert report["pages"] == 2
    assert report["skipped"] == {"bad_cell": 1}
    assert Category.objects.count() == 0


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("JSON-LD 1", '{"@type": "BreadcrumbList", "x": ' + "[" * 100_000),
        ("JSON-LD 1", json.dumps({"@type": "BreadcrumbList", "x": "a" * 2**20})),
        ("Last Modified", "Thu, 12 Feb 99999999999 16:48:29 GMT"),
        ("Last Modified", "Thu, 12 Feb"),
        ("Word Count", "9" * 100_000),
        ("Word Count", "1 " * 50_000),
        ("Status Code", "٣" * 6_000),
        ("Position", "1e" + "9" * 300),
    ],
)
def test_one_hostile_cell_is_left_empty_and_no_more(project, tmp_path, column, cell):
    report = pages_with(project, tmp_path / "a.csv", **{column: cell})
    assert report["pages"] == 2
    assert sum(report["skipped"].values()) == 1


def test_a_great_number_as_a_position_in_json_is_no_fault(project, tmp_path):
    trail = '{"@type": "BreadcrumbList", "itemListElement": [{"position": %s, "name": "Boots", "item": "x"}]}'
    assert pages_with(project, tmp_path / "a.csv", **{"JSON-LD 1": trail % ("9" * 400)})["categories"] == 1


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("length", [pytest.param(20_000, marks=pytest.mark.nightly), 450])
def test_what_a_file_says_ever_otherwise_and_at_length_is_not_all_remembered(monkeypatch, length):
    """Addresses, types, rels and places of links, each another one: a file made to fill the memory."""
    monkeypatch.setattr(memo, "MEMO_BYTES", 2**20)
    mapping = {
        "source": ["Source"],
        "target": ["Destination"],
        "type": ["Type"],
        "rel": ["Rel"],
        "link_path": ["Link Path"],
    }
    site = Site(SITE)
    parser = LinkParser(LINK_HEADER, mapping, PageFinder({f"{SITE}/a": 1, f"{SITE}/b": 2}, site), Skipped())
    row = dict.fromkeys(LINK_HEADER, "")
    rows = 60_000_000 // length // 4
    tracemalloc.start()
    try:
        for n in range(rows):
            text = f"{n:{length}}"
            for cells in (
                {"Type": text, "Source": "", "Destination": ""},
                {"Type": "Hyperlink", "Source": f"{SITE}/{n:0{length - 30}}", "Destination": f"{SITE}/b"},
                {"Type": "Hyperlink", "Source": f"{SITE}/a", "Destination": f"{SITE}/b", "Rel": text},
                {"Type": "Hyperlink", "Source": f"{SITE}/a", "Destination": f"{SITE}/b", "Link Path": text},
            ):
                parser.parse(n, list((row | cells).values()))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 8 * 2**20, "of 60 MB"
