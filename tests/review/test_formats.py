"""The formats of a release: each says what the release keeps, the same way every time."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest

from linker.models import EdgeStatus, Page
from linker.storage.workbook import rows as rows_of_workbook
from review.models import ReleaseFormat
from review.releases import create, outgoing
from review.releases.formats.base import kept_rows
from review.releases.formats.registry import FORMATS, by_name, formats_for
from review.releases.formats.workbook import Workbook
from review.web.release_words import to_do
from tests.factories import make_edge, make_page
from tests.review.test_release import release_of

if TYPE_CHECKING:
    from linker.models import CandidateEdge
    from review.models import Release

TEXT = "Dry feet\nWear warm socks [wool] in boots.\nAnd <dry> them at night."


def file_of(release: Release, name: str) -> bytes:
    fmt = by_name(name)
    assert fmt is not None
    return b"".join(fmt.pieces(release))


def sheets_of(release: Release) -> list[str]:
    """The sheets of the workbook, as XML."""
    with zipfile.ZipFile(io.BytesIO(file_of(release, "xlsx"))) as book:
        return [book.read(name).decode() for name in sorted(book.namelist()) if name.startswith("xl/worksheets/sheet")]


@pytest.fixture
def donor(project) -> Page:
    return make_page(project, "/feet?a=1&b=2", title="Dry feet", body=TEXT)


def placed(donor: Page, words: str, **fields) -> CandidateEdge:
    """An accepted link on words of the text."""
    start = TEXT.index(words)
    donor.refresh_from_db()
    fields = {"span_start": start, "span_end": start + len(words), "body_hash": donor.body_hash, **fields}
    fields.setdefault("sentence", next(line for line in TEXT.split("\n") if words in line))
    return make_edge(
        donor.project, donor, anchor=words, placement="inline", rel=fields.pop("rel", "follow"),
        status=EdgeStatus.ACCEPTED, reviewed=True, **fields,
    )  # fmt: skip


@pytest.fixture
def release(project, donor) -> Release:
    """Two links in the text and two beside it, one of them with words that look like a formula."""
    placed(donor, "warm socks")
    placed(donor, "dry", rel="nofollow")
    beside = {"placement": "related", "status": EdgeStatus.ACCEPTED, "reviewed": True}
    make_edge(project, donor, make_page(project, "/a--b"), anchor='<b>"=1</b>', rel="follow", **beside)
    make_edge(project, donor, anchor="=SUM(1)", rel="nofollow", **beside)
    return release_of(project)


@pytest.mark.sample(6)
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_each_format_gives_the_same_bytes_every_time_and_goes_by_a_name_of_its_own(release, fmt):
    assert b"".join(fmt.pieces(release)) == b"".join(fmt.pieces(release)) != b""
    assert fmt in formats_for(release)
    assert [one.name for one in FORMATS].count(fmt.name) == 1
    assert sum(one.file_name(release) == fmt.file_name(release) for one in FORMATS) == 1


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_a_release_of_three_columns_is_had_only_as_what_three_columns_can_say(project, donor, fmt):
    placed(donor, "warm socks")
    small = release_of(project, fmt=ReleaseFormat.JOIL)
    if fmt in formats_for(small):
        assert b"warm socks" in b"".join(fmt.pieces(small)) or fmt.name == "xlsx"
    else:
        assert fmt.needs_all


def test_the_csv_is_the_file_that_is_kept(release):
    assert file_of(release, "csv") == b"".join(create.release_pieces(release))


def test_a_workbook_and_json_lines_have_the_columns_and_texts_of_the_csv(release, tmp_path):
    kept = list(kept_rows(release))
    (tmp_path / "links.xlsx").write_bytes(file_of(release, "xlsx"))
    sheet = [cells for _number, cells in rows_of_workbook(tmp_path / "links.xlsx")]
    objects = [json.loads(line) for line in file_of(release, "jsonl").decode().splitlines()]

    assert sheet[0] == list(kept[0]) == list(objects[0])
    for name in ("donor_url", "anchor_text", "rel", "operation"):
        column = sheet[0].index(name)
        assert [cells[column] for cells in sheet[1:]] == [row[name] for row in kept] == [one[name] for one in objects]
    assert {"=SUM(1)", '<b>"=1</b>'} < {one["anchor_text"] for one in objects}, "no apostrophe, nothing escaped"
    assert [one["score"] for one in objects] == [float(row["score"]) for row in kept]
    assert [one["probability"] for one in objects] == [None] * 4


def test_what_looks_like_a_formula_is_a_text_of_the_workbook(release):
    (sheet,) = sheets_of(release)
    assert 't="inlineStr"><is><t>=SUM(1)</t>' in sheet
    assert "<f>" not in sheet


def test_a_workbook_goes_on_on_the_next_sheet(release, monkeypatch):
    monkeypatch.setattr(Workbook, "sheet_rows", 3)
    sheets = sheets_of(release)
    assert [sheet.count("<row ") for sheet in sheets] == [4, 2]
    assert all("<t>donor_url</t>" in sheet for sheet in sheets)


def test_joil_has_what_is_added_and_nothing_else(project, donor, editor):
    changed, kept = placed(donor, "warm socks"), placed(donor, "dry")
    release_of(project)
    outgoing.withdraw(project, project.edges.filter(pk=changed.pk), editor)
    new = placed(donor, "boots")
    second = release_of(project)

    rows = list(csv.reader(io.StringIO(file_of(second, "joil").decode())))

    assert rows == [["donor_url", "anchor_text", "acceptor_url"], [donor.url, "boots", new.target.url]]
    assert kept.anchor not in file_of(second, "joil").decode()


def test_a_change_says_what_it_replaces(project, donor, editor):
    edge = placed(donor, "warm socks")
    first = release_of(project)
    outgoing.confirm(project, project.edges.filter(pk=edge.pk), editor, "nofollow")
    second = release_of(project)

    says = [(row["operation"], row["rel"], row["previous_anchor"], row["previous_rel"]) for row in kept_rows(second)]
    assert says == [("change", "nofollow", "warm socks", "follow")]
    assert [(row["previous_anchor"], row["previous_rel"]) for row in kept_rows(first)] == [("", "")]


def test_a_related_block_names_its_donor_and_escapes_its_links(release, donor):
    text = file_of(release, "related").decode()

    assert text.splitlines()[0] == "<!-- https://shop.example/feet?a=1&amp;b=2 -->"
    assert text.count('<ul class="related-links">') == 1
    assert '<li><a href="https://shop.example/a--b">&lt;b&gt;"=1&lt;/b&gt;</a></li>' in text
    assert 'rel="nofollow">=SUM(1)</a>' in text
    assert "warm socks" not in text, "links in the text have no place beside it"


def test_a_patch_puts_links_on_their_words_and_lists_the_others(release, donor, tmp_path):
    patch = file_of(release, "patch-md").decode()
    path = tmp_path / "shop.example/feet_a_1_b_2.md"
    path.parent.mkdir()
    path.write_text(f"{TEXT}\n")

    ended = subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, text=True, capture_output=True)

    assert ended.returncode == 0, ended.stderr
    socks, night = (
        next(row["acceptor_url"] for row in kept_rows(release) if row["anchor_text"] == words)
        for words in ("warm socks", "dry")
    )
    assert path.read_text() == (
        f"Dry feet\nWear [warm socks]({socks}) [wool] in boots.\n"
        f'And <<a href="{night}" rel="nofollow">dry</a>> them at night.\n'
    )
    assert patch.count("# not patched: ") == 2
    assert patch.count("(it goes into the list at the end)") == 2
    assert f'<a href="{socks}">warm socks</a>' in file_of(release, "patch-html").decode()


@pytest.mark.parametrize("text", ["", f"New. {TEXT}", TEXT.replace("Wear ", "Put ")])
def test_a_text_that_has_changed_since_is_not_patched(release, donor, text):
    Page.objects.filter(pk=donor.pk).update(body=text)

    patch = file_of(release, "patch-md").decode()

    assert "@@" not in patch
    assert patch.count("# not patched: ") == 4


def test_two_links_on_the_same_words_are_one_link_and_a_note(project, donor):
    placed(donor, "warm socks", score=0.9)
    placed(donor, "socks", score=0.8)
    patch = file_of(release_of(project), "patch-md").decode()

    assert patch.count("(another link stands on these words)") == 1


def test_the_page_of_a_release_offers_its_formats_and_the_command_writes_them(release, client_for, editor, tmp_path):
    from django.core.management import call_command

    client = client_for(editor)
    page = client.get(f"/p/shop/export/{release.number}/links/").content.decode()
    answer = client.get(f"/p/shop/export/{release.number}/as/?format=jsonl")
    call_command("export_links", "shop", str(tmp_path / "out"), release=release.number, format="jsonl")

    assert [f'value="{fmt.name}"' in page for fmt in FORMATS] == [True] * len(FORMATS)
    assert answer.getvalue() == (tmp_path / "out").read_bytes() == file_of(release, "jsonl")
    assert answer["Content-Disposition"] == 'attachment; filename="anchorline-shop-release-1.jsonl"'


def test_a_format_that_is_not_known_or_too_large_for_a_request_is_refused_with_a_word(
    release, client_for, editor, monkeypatch
):
    client = client_for(editor)
    monkeypatch.setattr(Workbook, "most", 3)
    for name, said in (("docx", "there is no such format"), ("xlsx", "more than 3 links")):
        answer = client.get(f"/p/shop/export/{release.number}/as/?format={name}", follow=True)
        assert said in answer.content.decode()


@pytest.mark.parametrize(
    ("operation", "before", "after", "said"),
    [
        ("add", ("", ""), ("socks", "follow"), "Add"),
        ("remove", ("socks", "follow"), ("socks", "follow"), "Remove"),
        ("change", ("socks", "follow"), ("boots", "follow"), "Change words"),
        ("change", ("socks", "follow"), ("socks", "nofollow"), "Change rel"),
        ("change", ("socks", "follow"), ("boots", "nofollow"), "Change words and rel"),
        ("change", ("socks", "follow"), ("socks", "follow"), "Put right"),
    ],
)
def test_a_change_is_said_for_what_it_changes(operation, before, after, said):
    assert to_do(operation, before, after) == said


def test_a_release_without_links_beside_the_text_says_so_in_its_block_of_html(project, donor):
    make_edge(project, donor, placement="inline", status=EdgeStatus.ACCEPTED, reviewed=True)
    release = release_of(project)
    assert file_of(release, "related").decode() == "<!-- Release 1 has no link in the list at the end. -->\n"
