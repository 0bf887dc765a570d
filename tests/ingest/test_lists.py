"""A file that lists pages becomes a list that a match run can be limited to; what is not known is named."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ingest.lists import read_list
from linker.errors import UserError
from linker.models import Page, PageList, Project
from linker.pages.page_lists import addresses, list_in_words, page_ids, unknown_in_words
from tests.factories import make_page, make_project, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def pages(project: Project) -> dict[str, Page]:
    found = {name: make_page(project, f"/{name}") for name in ("tents", "stoves", "boots")}
    found["old"] = make_page(project, "/old", redirect_url="/boots", status_code=301)
    found["variant"] = make_page(project, "/stoves-red", canonical_link=project.base_url + "/stoves", indexable=False)
    return found


def written(folder: Path, text: str | bytes, name: str = "list.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def names(found: PageList) -> list[str]:
    return [address.strip().rpartition("/")[2] for address in addresses(found)]


@pytest.mark.parametrize(
    "text",
    [
        "https://shop.example/tents\nhttps://shop.example/boots\n",
        "/tents\n/boots",
        "Address\nhttps://shop.example/tents\nhttps://shop.example/boots\n",
        "Title;Address;Clicks\nTents;https://shop.example/tents;3\nBoots;https://shop.example/boots;4\n",
        "1,https://shop.example/tents\n2,https://shop.example/boots\n",
        "http://www.shop.example/tents?utm_source=mail\nshop.example/boots#top\n\n",
        "https://shop.example/tents\nhttps://shop.example/old\n",  # redirects to the boots
        "https://shop.example/tents\nhttps://shop.example/tents\nhttps://shop.example/boots\n",
    ],
)
def test_addresses_of_any_form_mean_the_pages_they_lead_to(text, tmp_path, project, pages):
    found = read_list(project, written(tmp_path, text))
    assert names(found) == ["tents", "boots"]
    assert (found.size, found.unknown_lines, list_in_words(found)) == (2, 0, "2 from list.csv")


def test_a_page_that_is_not_indexable_and_names_a_canonical_means_that_one(tmp_path, project, pages):
    assert names(read_list(project, written(tmp_path, "/stoves-red\n"))) == ["stoves"]


def test_an_address_with_a_comma_is_one_address(tmp_path, project, pages):
    make_page(project, "/a,b")
    assert names(read_list(project, written(tmp_path, "/a,b\n/tents\n", "list.txt"))) == ["tents", "a,b"]


def workbook(path: Path, cells: list[list[str]], *, shared: bool = True, sheet: str = "") -> Path:
    """An Excel workbook of one sheet, as Excel writes them (with shared texts) or others do (with texts in place)."""
    texts = list(dict.fromkeys(cell for row in cells for cell in row if cell))

    def written_cell(at: str, cell: str) -> str:
        if shared:
            return f'<c r="{at}" t="s"><v>{texts.index(cell)}</v></c>'
        return f'<c r="{at}" t="inlineStr"><is><t>{cell}</t></is></c>'

    rows = "".join(
        f'<row r="{number}">'
        + "".join(written_cell(f"{'ABC'[at]}{number}", cell) for at, cell in enumerate(row) if cell)
        + "</row>"
        for number, row in enumerate(cells, 1)
        if any(row)
    )
    namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        if shared:
            items = "".join(f"<si><r><t>{text[:3]}</t></r><r><t>{text[3:]}</t></r></si>" for text in texts)
            archive.writestr("xl/sharedStrings.xml", f"<sst {namespace}>{items}</sst>")
        default = f"<worksheet {namespace}><sheetData>{rows}</sheetData></worksheet>"
        archive.writestr("xl/worksheets/sheet1.xml", sheet or default)
    return path


@pytest.mark.parametrize("shared", [True, False])
def test_a_workbook_is_read_by_its_first_sheet_with_rows_as_lines(shared, tmp_path, project, pages):
    cells = [["Title", "", "Address"], ["Tents", "", "/tents"], [], ["", "x", "/nowhere"], ["Boots", "", "/boots"]]
    found = read_list(project, workbook(tmp_path / "list.xlsx", cells, shared=shared))
    assert names(found) == ["tents", "boots"]
    assert [tuple(line) for line in found.unknown] == [(4, "/nowhere")]


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        ("<worksheet><sheetData><row", "damaged or protected"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>', "document type"),
        ('<worksheet><row r="99999999"/></worksheet>', "1,048,576 rows at most"),
        ('<worksheet><row r="one"/></worksheet>', "damaged or protected"),
        ("<worksheet/>", "is empty"),
    ],
)
def test_a_workbook_that_cannot_be_read_is_refused_with_a_sentence(sheet, said, tmp_path, project, pages):
    with pytest.raises(UserError, match=said):
        read_list(project, workbook(tmp_path / "list.xlsx", [], sheet=sheet))


def test_a_workbook_with_bytes_turned_over_is_refused_with_a_sentence(tmp_path, project, pages):
    cells = [["Address", "Title"], *([f"/nowhere-{number}", f"{number * 7919}"] for number in range(300))]
    whole = workbook(tmp_path / "list.xlsx", cells, shared=False).read_bytes()
    start = whole.index(b"xl/worksheets/sheet1.xml") + len("xl/worksheets/sheet1.xml")
    for at in range(start + 10, start + 400, 13):
        damaged = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
        with pytest.raises(UserError):
            read_list(project, written(tmp_path, damaged, "damaged.xlsx"))


def test_a_packed_file_is_unpacked(tmp_path, project, pages):
    assert names(read_list(project, written(tmp_path, gzip.compress(b"/tents\n/boots\n"), "list.csv.gz"))) == [
        "tents",
        "boots",
    ]


def test_lines_that_are_not_known_are_counted_and_the_first_are_named(tmp_path, project, pages):
    text = "Address\n/tents\n" + "".join(f"https://elsewhere.example/{n}\n" for n in range(7)) + "/boots\n"
    found = read_list(project, written(tmp_path, text))
    assert list_in_words(found) == "2 from list.csv, 7 lines unknown"
    assert unknown_in_words(found).startswith(
        "The project has no page for 7 lines of list.csv: line 3 (“https://elsewhere.example/0”), line 4"
    )
    assert unknown_in_words(found).endswith("line 7 (“https://elsewhere.example/4”) and 2 more.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/nowhere\n/nothing\n", "no page for any of its 2 lines; line 1 is “/nowhere”"),
        ("Address,Title\n", "holds no address"),
        ("", "is empty"),
        (b"%PDF-1.4", "a PDF"),
    ],
)
def test_a_file_without_one_known_page_is_refused_with_a_sentence(text, said, tmp_path, project, pages):
    with pytest.raises(UserError, match=said):
        read_list(project, written(tmp_path, text))
    assert not PageList.objects.exists()


def test_before_any_import_there_is_nothing_to_list(tmp_path, project):
    with pytest.raises(UserError, match="no pages yet"):
        read_list(project, written(tmp_path, "/tents\n"))


def test_lists_that_no_run_names_go_after_a_week(tmp_path, project, pages):
    named, unnamed, fresh = (read_list(project, written(tmp_path, "/tents\n")) for _ in range(3))
    PageList.objects.exclude(pk=fresh.pk).update(created_at="2020-01-01T00:00:00Z")
    make_run(project, params={"donors": {"page_list": named.pk}})
    newest = read_list(project, written(tmp_path, "/boots\n"))
    assert set(PageList.objects.values_list("pk", flat=True)) == {named.pk, fresh.pk, newest.pk}
    assert not PageList.objects.filter(pk=unnamed.pk).exists()


# ------------------------------------------------------------------------------------------------------ in the form


def sent(client, project, text: str, side: str = "donors", **fields):
    file = {f"{side}-file": SimpleUploadedFile("list.csv", text.encode())} if text else {}
    return client.post(reverse("page_list_add", args=[project.slug]), {"side": side, **file, **fields}, follow=True)


def test_the_form_comes_back_with_the_list_chosen_and_everything_else_as_it_was(project, pages, manager, client_for):
    page = sent(client_for(manager), project, "/tents\n/nowhere\n", threshold="0.7", **{"acceptors-url_pattern": "/b"})
    found = PageList.objects.get(project=project)
    assert found.created_by == manager
    text = page.content.decode()
    assert "Donors: 1 from list.csv, 1 line unknown." in text
    assert "no page for 1 line of list.csv: line 2 (“/nowhere”)" in text
    assert f'<option value="{found.pk}" selected>list.csv: 1 page</option>' in text
    assert 'name="threshold" value="0.7"' in text
    assert page.context["sides"]["acceptors"].initial["url_pattern"] == "/b"


@pytest.mark.nightly
def test_what_is_no_list_is_said_and_the_form_stays(project, pages, manager, client_for):
    page = sent(client_for(manager), project, "/nowhere\n", threshold="0.7")
    assert "no page for any of its 1 lines" in page.content.decode()
    assert page.context["form"].initial["threshold"] == "0.7"
    assert "First choose a file" in sent(client_for(manager), project, "").content.decode()
    assert not PageList.objects.exists()


def test_a_file_that_was_chosen_and_not_read_starts_no_run(project, pages, manager, client_for):
    page = client_for(manager).post(reverse("match", args=[project.slug]), {"donors-file": "list.csv"})
    assert page.status_code == 422
    assert "list.csv has been chosen but not read yet" in page.content.decode()


def test_only_managers_add_lists_and_members_alone_read_them(project, pages, editor, manager, outsider, client_for):
    assert sent(client_for(editor), project, "/tents\n").status_code == 403
    sent(client_for(manager), project, "/tents\n")
    address = reverse("page_list", args=[project.slug, PageList.objects.get().pk])
    answer = client_for(editor).get(address)
    assert b"".join(answer.streaming_content).decode() == "https://shop.example/tents\n"
    assert "attachment" in answer["Content-Disposition"]
    assert client_for(outsider).get(address).status_code == 404


def test_a_list_of_another_project_is_not_to_be_had(tmp_path, project, pages, manager, client_for):
    other = make_project("other")
    make_page(other, "/tents")
    theirs = read_list(other, written(tmp_path, "/tents\n"))
    client = client_for(manager)
    assert client.get(reverse("page_list", args=[project.slug, theirs.pk])).status_code == 404
    page = client.post(reverse("match", args=[project.slug]), {"donors-page_list": theirs.pk})
    assert page.context["sides"]["donors"].errors["page_list"]


def test_ids_are_kept_each_once_and_in_order(tmp_path, project, pages):
    found = read_list(project, written(tmp_path, "/boots\n/tents\n/boots\n"))
    assert np.array_equal(page_ids(found), sorted([pages["tents"].pk, pages["boots"].pk]))
    assert found.lines == 3
