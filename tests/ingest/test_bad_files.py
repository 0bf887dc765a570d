"""Each kind of bad file gets a message that says what is wrong, where and what to do; nothing is loaded by halves."""

from __future__ import annotations

import gzip
import zipfile

import pytest

from ingest import services
from ingest.asked_from import the_command_line
from ingest.errors import FileError, ImportStopped
from linker.models import Category, Page
from tests.factories import make_page
from tests.ingest.files import SITE, csv_text, write, write_pages

HEAD = "Address,Title 1\n"


def refused(project, path) -> str:
    """The message a pages import ends with; the project must be as it was."""
    with pytest.raises((FileError, ImportStopped)) as caught:
        services.import_file(project, "pages", path)
    assert not Page.objects.filter(project=project).exists()
    assert not Category.objects.filter(project=project).exists()
    assert "Nothing was imported" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"   \n\n", "empty"),
        ("\ufeff".encode(), "empty"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "Excel"),
        (b"\x7fELF\x00\x00\x01\x00" + bytes(500), "binary"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b"Name,Price\nBoots,12\n", "No column for “Address”"),
        (b"Source,Destination,Anchor\nhttps://a/,https://b/,x\n", "import it as links"),
    ],
)
def test_a_file_of_another_kind_is_named(project, tmp_path, content, words):
    path = tmp_path / "crawl.csv"
    path.write_bytes(content)
    message = refused(project, path)
    assert words in message
    assert message.startswith("crawl.csv")


def test_a_wrong_header_is_answered_with_the_columns_there_are(project, tmp_path):
    path = write(tmp_path / "crawl.csv", ("Wo", "Was"), [("x", "y")])
    message = refused(project, path)
    assert "Wo, Was" in message
    assert "choose it in the preview at “Address”" in message
    with the_command_line():
        assert "--map url=COLUMN" in refused(project, path)


@pytest.mark.nightly
def test_bytes_that_are_not_utf8_are_found_by_line_even_far_down(project, tmp_path):
    rows = "".join(f"{SITE}/{n},Page {n}\n" for n in range(40_000))
    path = tmp_path / "crawl.csv"
    path.write_bytes((HEAD + rows).encode() + f"{SITE}/x,Gr".encode() + b"\xfc\xdfe\n")
    assert "line 40,002: The byte 0xFC is not UTF-8" in refused(project, path)


@pytest.mark.nightly
def test_another_encoding_is_guessed_in_the_message_and_taken_when_it_is_named(project, tmp_path):
    text = HEAD + "".join(f"{SITE}/{n},Größe und Übergröße für große Füße\n" for n in range(30))
    path = tmp_path / "crawl.csv"
    path.write_bytes(text.encode("cp1252"))
    assert "line 2: The byte 0xF6 is not UTF-8" in refused(project, path)
    report = services.import_file(project, "pages", path, encoding="cp1252")
    assert report["encoding"] == "Windows, Western European (cp1252)"
    assert Page.objects.filter(title="Größe und Übergröße für große Füße").count() == 30


def test_a_quote_that_is_never_closed_is_found_by_its_line(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_text(HEAD + f'{SITE}/a,"A"\n{SITE}/b,"B is cut\noff here')
    message = refused(project, path)
    assert "line 3" in message
    assert "never closed" in message


def test_text_after_a_closing_quote_is_found_by_its_line(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_text(HEAD + f'{SITE}/a,"A"\n{SITE}/b,"5" screen"\n')
    assert "line 3: The quoting" in refused(project, path)


def test_a_last_line_cut_off_between_cells_stops_the_import(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_text(HEAD + f"{SITE}/a,A\n{SITE}/b,B\n{SITE}/c")
    message = refused(project, path)
    assert "line 4" in message
    assert "cut off" in message


def test_a_gzip_file_cut_off_in_the_middle_says_so(project, tmp_path):
    packed = gzip.compress((HEAD + "".join(f"{SITE}/{n},{n * 7919}\n" for n in range(20_000))).encode())
    path = tmp_path / "crawl.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    message = refused(project, path)
    assert "cut off" in message
    assert "line " in message


def test_a_gzip_file_damaged_in_the_middle_names_no_line_since_nobody_knows_it(project, tmp_path):
    packed = bytearray(gzip.compress((HEAD + "".join(f"{SITE}/{n},{n * 7919}\n" for n in range(20_000))).encode()))
    packed[-8:-4] = bytes(4)  # the checksum
    path = tmp_path / "crawl.csv.gz"
    path.write_bytes(packed)
    assert refused(project, path).startswith("crawl.csv.gz: The packed file is cut off or damaged")


def test_zeros_in_a_text_are_found_by_their_line(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_bytes((HEAD + f'{SITE}/a,"A\nB"\n{SITE}/').encode() + bytes(512) + f"\n{SITE}/c,C\n".encode())
    assert "line 4: Zeros stand here in place of a part of the text" in refused(project, path)


ZEROS = "Zeros stand here in place of a part of the text: the file is damaged"
ROWS = {
    "pages": ("Address,Title 1", f"{SITE}/%d,A title of its own"),
    "links": ("Source,Destination,Anchor", f"{SITE}/%d,{SITE}/0,an anchor"),
    "queries": ("Page,Query,Clicks", f"{SITE}/%d,a query,2000"),
    "traffic": ("Top pages,Clicks,Impressions", f"{SITE}/%d,2000,5000"),
}


@pytest.mark.sample(12)
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("of_row", [slice(None), slice(9, 29), slice(-4, None), slice(-1, None)])
@pytest.mark.parametrize("at", [5, 60, 30_000])
def test_zeros_anywhere_stop_every_import_with_their_line(project, tmp_path, kind, of_row, at):
    header, row = ROWS[kind]
    make_page(project, "/0")
    lines = [header, *(row % n for n in range(40_000 if at > 100 else 100))]
    damaged = list(lines[at - 1])
    if of_row.start == -1:  # the whole of the last cell
        of_row = slice(lines[at - 1].rindex(",") + 1, None)
    damaged[of_row] = "\0" * len(damaged[of_row])
    lines[at - 1] = "".join(damaged)
    path = tmp_path / "export.csv"
    path.write_bytes("\r\n".join([*lines, ""]).encode())
    with pytest.raises(FileError) as caught:
        services.import_file(project, kind, path)
    assert str(caught.value).startswith(f"export.csv, line {at:,}: {ZEROS}")


def test_a_cell_of_a_single_zero_is_one_in_place_of_text(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_bytes("".join([f"{HEAD}", *(f"{SITE}/{n},A\n" for n in range(500)), f"{SITE}/x,\0\n"]).encode())
    assert f"line 502: {ZEROS}" in refused(project, path)


def test_the_zeros_at_the_end_of_a_long_file_are_named_and_not_the_length_of_their_line(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_bytes((HEAD + "".join(f"{SITE}/{n},A\n" for n in range(500))).encode() + bytes(20_000_000))
    assert f"line 502: {ZEROS}" in refused(project, path)


@pytest.mark.nightly
def test_a_zip_file_cut_off_or_damaged_says_so(project, tmp_path):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("internal_html.csv", HEAD + "".join(f"{SITE}/{n},{n * 7919}\n" for n in range(20_000)))
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole.read_bytes()[:5000])
    assert "cut off or damaged" in refused(project, cut)
    content = bytearray(whole.read_bytes())
    content[20_000:20_050] = bytes(50)
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(content)
    assert "damaged" in refused(project, damaged)


@pytest.mark.nightly
def test_a_zip_bomb_is_refused_by_its_ratio(project, tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("pages.csv", "w") as member:
        member.write(HEAD.encode())
        for _ in range(40):
            member.write(b"x" * (2**20 - 1) + b"\n")
    assert "zip bomb" in refused(project, path)


@pytest.mark.nightly
def test_a_packed_file_of_a_single_endless_line_is_refused(project, tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(HEAD.encode())
        for _ in range(40):
            file.write(b"x" * 2**20)
    message = refused(project, path)
    assert "line 2" in message
    assert "longer than" in message


@pytest.mark.nightly
def test_a_file_too_large_unpacked_is_refused(project, tmp_path, settings):
    settings.UNPACKED_MAX_MB = 1
    path = tmp_path / "crawl.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write(HEAD)
        file.writelines(f"{SITE}/{n * 7919},{n * 104729}\n" for n in range(50_000))
    assert "larger than 1 MB" in refused(project, path)


def test_a_workbook_is_told_from_an_archive(project, tmp_path):
    path = tmp_path / "crawl.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    assert "Save it as CSV" in refused(project, path)


def test_an_archive_without_one_clear_csv_lists_what_it_holds(project, tmp_path):
    path = tmp_path / "crawl.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", HEAD)
        archive.writestr("b.csv", HEAD)
    assert "several CSV files (a.csv, b.csv)" in refused(project, path)
    empty = tmp_path / "empty.zip"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("notes.doc", "x")
    assert "notes.doc" in refused(project, empty)


def test_a_file_of_another_site_is_refused_with_its_first_line(project, tmp_path):
    path = write(tmp_path / "crawl.csv", ("Address", "Title 1"), [("https://other.example/a", "A")] * 3)
    message = refused(project, path)
    assert "Line 2" in message
    assert "https://other.example/a" in message
    assert "base URL" in message


def test_a_cell_without_end_does_not_fill_the_memory(project, tmp_path):
    path = tmp_path / "crawl.csv"
    with path.open("w") as file:
        file.write(HEAD + f'{SITE}/a,"')
        for _ in range(12):
            file.write("x" * 2**20)
        file.write('"\n')
    message = refused(project, path)
    assert "line 2" in message
    assert "longer than" in message


@pytest.mark.nightly
def test_an_error_far_down_leaves_an_earlier_import_as_it_was(project, tmp_path):
    services.import_file(project, "pages", write_pages(tmp_path / "good.csv", "/a", "/b"))
    before = list(Page.objects.order_by("pk").values())
    rows = [(f"{SITE}/{n}", f"New {n}") for n in range(12_000)]
    path = tmp_path / "bad.csv"
    path.write_text(csv_text(("Address", "Title 1"), [(SITE + "/a", "changed"), *rows]) + '"cut off')
    with pytest.raises(FileError, match="12,003"):
        services.import_file(project, "pages", path)
    assert list(Page.objects.order_by("pk").values()) == before
