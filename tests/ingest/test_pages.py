"""Pages come in from crawls of every dialect, update in place, and are never lost."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile

import numpy as np
import pytest
from django.urls import reverse

from ingest import services
from ingest.errors import FileError, ImportStopped
from ingest.files.sniff import inspect
from ingest.kinds import registry
from ingest.preview import preview_file
from linker.models import Category, EmbeddingModel, Page, PageEmbedding
from tests.factories import make_page, make_project, make_run
from tests.ingest.files import SITE, csv_text, write, write_pages

REAL_HEADER = (
    "Address",
    "Content Type",
    "Status Code",
    "Status",
    "Indexability",
    "Indexability Status",
    "Title 1",
    "Title 1 Length",
    "Meta Description 1",
    "H1-1",
    "H2-1",
    "H2-2",
    "Canonical Link Element 1",
    "Word Count",
    "Crawl Depth",
    "Last Modified",
    "Redirect URL",
    "Language",
    "Clicks",
    "Impressions",
    "CTR",
    "Position",
    "Content 1",
    "Content 2",
    "URL Encoded Address",
    "Crawl Timestamp",
)
HTML = "text/html; charset=utf-8"


def real_row(path: str, **cells: str) -> tuple[str, ...]:
    values = {
        "Address": SITE + path,
        "Content Type": HTML,
        "Status Code": "200",
        "Indexability": "Indexable",
        "Title 1": f"Title of {path}",
        "URL Encoded Address": SITE + path,
        **cells,
    }
    return tuple(values.get(column, "") for column in REAL_HEADER)


def page(path: str) -> Page:
    return Page.objects.get(canonical_url=SITE + path)


def crumbs(path: str) -> list[str]:
    category = page(path).category
    return category.path if category else []


def test_a_real_crawl_fills_every_field(project, tmp_path):
    cells = {
        "Meta Description 1": "All about domes",
        "H1-1": "Dome 2¶",
        "H2-1": "Weight #",
        "H2-2": "Care, by hand",
        "Canonical Link Element 1": f"{SITE}/dome-2",
        "Word Count": "1,204",
        "Crawl Depth": "3",
        "Last Modified": "Thu, 12 Feb 2026 16:48:29 GMT",
        "Language": "en-GB",
        "Clicks": "17",
        "Impressions": "2304",
        "CTR": "0.007",
        "Position": "11.2",
        "Content 1": 'First "part",\nwith a line break',
        "Content 2": "Second part",
    }
    report = services.import_file(
        project, "pages", write(tmp_path / "internal_html.csv", REAL_HEADER, [real_row("/dome-2", **cells)])
    )
    found = page("/dome-2")
    assert (found.title, found.h1, found.headings) == ("Title of /dome-2", "Dome 2", ["Weight", "Care, by hand"])
    assert found.body == 'First "part",\nwith a line break\n\nSecond part'
    assert (found.word_count, found.crawl_depth, found.language) == (1204, 3, "en-GB")
    assert (found.clicks, found.impressions, found.position) == (17, 2304, 11.2)
    assert found.last_modified.isoformat() == "2026-02-12T16:48:29+00:00"
    assert found.indexable
    assert (report["rows"], report["pages"], report["new"], report["skipped"]) == (1, 1, 1, {})


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("header", "cell", "value"),
    [
        ("Business Value", "80", 80), ("value", "1,234.50", 1234.5), ("Priority", "0.8", 0.8),
        ("Revenue", "€ 12.5", 12.5), ("Value", "0.800", 0.8),
        ("Conversions", "3", 3), ("Revenue", "1.000,50 EUR", 1000.5), ("Revenue", "$1,000", 1000), ("Umsatz", "", None),
    ],
)  # fmt: skip
def test_what_a_page_is_worth_comes_from_a_column_of_its_own(project, tmp_path, header, cell, value):
    services.import_file(project, "pages", write_pages(tmp_path / "crawl.csv", "/a", **{header: cell}))
    assert page("/a").value == value


@pytest.mark.parametrize("header", ["Link Score", "PageRank", "Authority", "UR"])
def test_authority_comes_from_the_columns_of_crawlers_and_link_tools(project, tmp_path, header):
    services.import_file(project, "pages", write_pages(tmp_path / "crawl.csv", "/a", **{header: "12.5"}))
    assert page("/a").authority == 12.5


@pytest.mark.nightly
def test_a_table_of_values_adds_to_the_pages_there_are_and_removes_nothing(project, tmp_path):
    services.import_file(project, "pages", write_pages(tmp_path / "crawl.csv", "/a", "/b", **{"Link Score": "5"}))
    rows = [(f"{SITE}/a", "80"), (f"{SITE}/new", "9")]
    report = services.import_file(project, "pages", write(tmp_path / "values.csv", ("URL", "Business value"), rows))
    assert (report["new"], report["missing"], report["updated"]) == (0, 0, 1)
    assert (page("/a").value, page("/a").authority, page("/a").title) == (80, 5, "Title of /a")
    assert (page("/b").value, page("/b").missing_since) == (None, None)
    again = services.import_file(project, "pages", write_pages(tmp_path / "crawl.csv", "/a", "/b"))
    assert (page("/a").value, again["missing"]) == (80, 0)


@pytest.mark.parametrize("cell", ["-3", "high", "1e999"])
def test_a_value_that_is_no_amount_is_listed_and_left_out(project, tmp_path, cell):
    skipped = tmp_path / "skipped.csv"
    path = write_pages(tmp_path / "crawl.csv", "/a", Value=cell)
    report = services.import_file(project, "pages", path, skipped_file=skipped)
    assert page("/a").value is None
    assert report["skipped_cells"] == 1
    assert cell in skipped.read_text()


def test_a_table_of_clicks_and_revenue_is_still_one_of_traffic():
    header = ("Page", "Clicks", "Impressions", "Position", "Revenue")
    assert registry.kind_of(header).name == "traffic"


def test_internal_all_keeps_pages_redirects_and_errors_but_no_files(project, tmp_path):
    rows = [
        real_row("/a"),
        real_row("/style.css", **{"Content Type": "text/css"}),
        real_row("/logo.png", **{"Content Type": "image/png"}),
        real_row(
            "/old",
            **{
                "Content Type": "",
                "Status Code": "301",
                "Indexability": "Non-Indexable",
                "Indexability Status": "Redirected",
                "Redirect URL": f"{SITE}/a",
            },
        ),
        real_row("/gone", **{"Content Type": "", "Status Code": "404", "Indexability": ""}),
        real_row("/gone.js", **{"Content Type": "", "Status Code": "404", "Indexability": ""}),
    ]
    report = services.import_file(project, "pages", write(tmp_path / "internal_all.csv", REAL_HEADER, rows))
    assert set(Page.objects.values_list("canonical_url", flat=True)) == {f"{SITE}/a", f"{SITE}/old", f"{SITE}/gone"}
    assert (report["not_pages"], report["html"], report["indexable"]) == (3, 1, 1)
    assert (page("/old").status_code, page("/old").redirect_url, page("/old").indexable) == (301, f"{SITE}/a", False)
    assert (page("/gone").indexable, page("/gone").indexability_status) == (False, "Client Error")


@pytest.mark.sample(7)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_encodings_and_delimiters_are_found_out(project, tmp_path, encoding, delimiter):
    path = tmp_path / "crawl.csv"
    rows = [(f"{SITE}/{n}", "Grüße; mit, Zeichen\tund 日本") for n in range(30)]
    path.write_bytes(csv_text(("Address", "Title 1"), rows, delimiter).encode(encoding))
    services.import_file(project, "pages", path)
    assert Page.objects.filter(title="Grüße; mit, Zeichen\tund 日本").count() == 30


def test_rows_that_are_equally_wide_outweigh_a_word_between_commas_of_a_text(tmp_path):
    """The texts have commas, as many as they like, and between two of them stands the name of a column."""
    path = tmp_path / "seiten.csv"
    rows = [f"{SITE}/{n};Beitrag {n};{'Wie man sagt, title, und so weiter, ' * (n % 4)}Ende;Rat" for n in range(40)]
    path.write_text("\n".join(["Adresse der Seite;Überschrift des Beitrags;Worte;Ressort", *rows]))
    found = inspect(path, path.name, known={"title", "address"})
    assert (found.delimiter, found.header_line, len(found.header)) == (";", 1, 4)


@pytest.mark.sample(5)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_table_in_utf_16_inside_an_archive_is_read(project, tmp_path, encoding, method):
    rows = [(f"{SITE}/{n}", "Grüße, 日本") for n in range(30)]
    links = csv_text(("Type", "Source", "Destination"), [("Hyperlink", f"{SITE}/1", f"{SITE}/2")])
    path = tmp_path / "crawl.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("export/internal_html.csv", csv_text(("Address", "Title 1"), rows, "\t").encode(encoding))
        archive.writestr("export/all_inlinks.csv", links.encode(encoding))
    assert services.import_file(project, "pages", path)["encoding"] == "UTF-16"
    assert Page.objects.filter(title="Grüße, 日本").count() == 30
    assert services.import_file(project, "links", path)["links"] == 1


def test_packed_files_are_unpacked_and_macos_debris_is_ignored(project, tmp_path):
    text = csv_text(("Address", "Title 1"), [(SITE + "/a", "A")])
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    services.import_file(project, "pages", tmp_path / "a.csv.gz")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("__MACOSX/._b.csv", b"\0\1")
        archive.writestr("crawl/.hidden.csv", "x")
        archive.writestr("crawl/b.csv", text.replace("/a", "/b"))
    report = services.import_file(project, "pages", tmp_path / "b.zip", allow_shrink=True)
    assert report["packed"] == "zip (crawl/b.csv)"
    assert {p.canonical_url for p in Page.objects.all()} == {f"{SITE}/a", f"{SITE}/b"}


@pytest.mark.parametrize(
    "header",
    [
        ("Adresse", "Type de contenu", "Code HTTP", "Indexabilité", "Title 1", "Nombre de mots", "Crawl profondeur"),
        ("Adresse", "Inhaltstyp", "Statuscode", "Indexierbarkeit", "Titel 1", "Wortanzahl", "Crawl-Tiefe"),
        ("ADDRESS", "content type", "STATUS CODE", "indexability", "title  1", "word count", "crawl depth"),
    ],
)
@pytest.mark.parametrize(("yes", "no"), [("Indexable", "Non indexable"), ("Indexierbar", "Nicht indexierbar")])
def test_headers_and_values_in_other_languages_mean_the_same(project, tmp_path, header, yes, no):
    rows = [(f"{SITE}/a", HTML, "200", yes, "A", "1\u202f234", "2"), (f"{SITE}/b", HTML, "200", no, "B", "5", "2")]
    services.import_file(project, "pages", write(tmp_path / "crawl.csv", header, rows))
    assert (page("/a").indexable, page("/a").title, page("/a").word_count, page("/a").crawl_depth) == (
        True,
        "A",
        1234,
        2,
    )
    assert not page("/b").indexable


def test_a_title_row_above_the_header_and_a_separator_line_are_passed_over(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_text(f'"Internal - HTML"\n\nAddress,Title 1\n{SITE}/a,"A\nin two lines"\nnot an address,B\n')
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    assert report["header_line"] == 3
    assert page("/a").title == "A\nin two lines"
    [row] = csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig"))
    assert (row["line"], row["column"], row["address"]) == ("6", "Address", "not an address")
    path.write_text(f"sep=;\nAddress;Title 1\n{SITE}/b;B;\n{SITE}/c;C\n")
    report = services.import_file(project, "pages", path)
    assert report["skipped"] == {"bad_width": 1}
    assert page("/c").title == "C"


def test_any_csv_is_imported_through_a_mapping(project, tmp_path):
    path = write(
        tmp_path / "cms.csv", ("Wo", "Wie", "Was"), [(f"{SITE}/a", "Tents", "Long text"), (f"{SITE}/b", "B", "")]
    )
    services.import_file(project, "pages", path, mapping={"url": ["Wo"], "h1": ["wie"], "body": ["Was"]})
    assert (page("/a").h1, page("/a").body, page("/a").title) == ("Tents", "Long text", "")
    with pytest.raises(FileError, match=r"no column “Warum”.*Wo, Wie, Was"):
        services.import_file(project, "pages", path, mapping={"h1": ["Warum"]})
    with pytest.raises(FileError, match=r"no field “headline”.*title"):
        services.import_file(project, "pages", path, mapping={"headline": ["Wie"]})


def test_a_plain_text_is_imported_as_it_reads(project, tmp_path):
    path = write_pages(tmp_path / "pages.csv", "/a", **{"Content 1": "R&amp;D"})
    services.import_file(project, "pages", path)
    assert page("/a").body == "R&D"


def test_columns_are_guessed_by_what_they_hold(project, tmp_path):
    header = ("Seite", "Zeile", "Prosa")
    path = write(tmp_path / "cms.csv", header, [(f"{SITE}/{n}", f"H {n}", "word " * 200) for n in range(5)])
    looked = preview_file(project, "pages", path, "cms.csv", None)
    assert looked.mapping == {"url": ["Seite"], "body": ["Prosa"]}


def test_content_is_the_text_or_the_type_going_by_its_cells(project, tmp_path):
    text = write(tmp_path / "a.csv", ("Address", "Title", "Content"), [(f"{SITE}/a", "A", "Prose")])
    kind = write(tmp_path / "b.csv", ("Address", "Title", "Content"), [(f"{SITE}/a", "A", HTML)])
    assert preview_file(project, "pages", text, "a", None).mapping["body"] == ["Content"]
    assert preview_file(project, "pages", kind, "b", None).mapping["content_type"] == ["Content"]


# ------------------------------------------------------------------------------------------------- categories


def test_breadcrumb_columns_make_a_tree_without_home_and_without_the_page_itself(project, tmp_path):
    header = (
        "Address",
        "Title 1",
        "H1-1",
        "Breadcrumb_Name 1",
        "Breadcrumb_Name 2",
        "Link Score",
        "Breadcrumb_Name 10",
        "Breadcrumb_Name 3",
    )
    rows = [
        (f"{SITE}/dome", "Dome 2 | Shop", "", "Home", "Camping", "1", "Dome 2", "Tents / Tarps"),
        (f"{SITE}/tents", "Tents / Tarps | Shop", "Tents / Tarps", "Home", "Camping", "1", "", "Tents / Tarps"),
        (f"{SITE}/about", "About us", "About us", "Home", "About us", "1", "", ""),
        (f"{SITE}/bare", "Bare", "Bare", "", "", "1", "", ""),
    ]
    report = services.import_file(project, "pages", write(tmp_path / "crawl.csv", header, rows))
    assert crumbs("/dome") == ["Camping", "Tents / Tarps"]
    assert crumbs("/tents") == ["Camping"]
    assert crumbs("/about") == crumbs("/bare") == []
    assert (report["category_source"], report["categories"]) == ("columns", 2)
    leaf = Category.objects.get(name="Tents / Tarps")
    assert (leaf.depth, leaf.parent.name) == (2, "Camping")


def test_a_first_crumb_that_is_no_word_for_home_stays(project, tmp_path):
    rows = [(f"{SITE}/{n}", "T", "Shop", "Tents") for n in range(5)]
    services.import_file(
        project, "pages", write(tmp_path / "c.csv", ("Address", "Title", "Breadcrumb 1", "Breadcrumb 2"), rows)
    )
    assert crumbs("/1") == ["Shop", "Tents"]


def test_a_home_department_of_some_pages_stays(project, tmp_path):
    rows = [(f"{SITE}/{n}", "T", "Home" if n < 3 else "Garden", "Beds") for n in range(6)]
    services.import_file(
        project, "pages", write(tmp_path / "c.csv", ("Address", "Title", "Breadcrumb 1", "Breadcrumb 2"), rows)
    )
    assert crumbs("/1") == ["Home", "Beds"]


def test_breadcrumbs_in_json_ld_are_found_by_content(project, tmp_path):
    def cell(path, *names):
        items = [
            {"@type": "ListItem", "position": n, "name": name, "item": f"{SITE}/{'/'.join(names[:n])}"}
            for n, name in enumerate(names, 1)
        ]
        items.append({"@type": "ListItem", "position": len(names) + 1, "name": "The page", "item": SITE + path})
        return json.dumps({"@graph": [{"@type": "BreadcrumbList", "itemListElement": items}]})

    rows = [
        (f"{SITE}/a", "A", '{"@type":"Product"}', cell("/a", "Camping", "Tents")),
        (f"{SITE}/b", "B", cell("/b#main", "Camping", "Stoves"), ""),
        (f"{SITE}/c", "C", '{"@type":"BreadcrumbList", broken', ""),
    ]
    report = services.import_file(
        project, "pages", write(tmp_path / "c.csv", ("Address", "Title 1", "JSON-LD 1", "JSON-LD 2"), rows)
    )
    assert (crumbs("/a"), crumbs("/b"), crumbs("/c")) == (["Camping", "Tents"], ["Camping", "Stoves"], [])
    assert report["category_source"] == "json-ld"
    assert report["skipped"] == {"bad_cell": 1}


def test_folders_are_the_last_resort_and_do_not_replace_a_breadcrumb(project, tmp_path):
    header = ("Address", "Title 1", "Breadcrumb")
    services.import_file(project, "pages", write(tmp_path / "a.csv", header, [(f"{SITE}/x/a", "A", "Camping > Tents")]))
    report = services.import_file(project, "pages", write_pages(tmp_path / "b.csv", "/x/a", "/x/y/b"))
    assert report["category_source"] == "folders"
    assert crumbs("/x/a") == ["Camping", "Tents"]
    assert crumbs("/x/y/b") == ["x", "y"]


@pytest.mark.nightly
def test_pages_that_were_missing_and_are_in_the_file_again_came_back(project, tmp_path):
    both = write_pages(tmp_path / "a.csv", "/a", "/b")
    services.import_file(project, "pages", both)
    services.import_file(project, "pages", write_pages(tmp_path / "b.csv", "/a"))
    report = services.import_file(project, "pages", both)
    assert (report["came_back"], report["new"], report["updated"], report["unchanged"]) == (1, 0, 0, 1)
    assert "came_back" not in services.import_file(project, "pages", both)


CRUMBS = ("Address", "Title 1", "Breadcrumb_Name 1", "Breadcrumb_Name 2")


@pytest.mark.nightly
def test_breadcrumb_columns_that_no_row_fills_give_way_to_the_folders(project, tmp_path):
    services.import_file(
        project, "pages", write(tmp_path / "a.csv", CRUMBS, [(f"{SITE}/x/a", "A", "Camping", "Tents")])
    )
    path = write(tmp_path / "b.csv", CRUMBS, [(f"{SITE}/x/a", "A", "", " "), (f"{SITE}/x/y/b", "B", "", "")])
    [note] = preview_file(project, "pages", path, "b.csv", None).notes
    assert note.warn
    assert "“Breadcrumb_Name 1” and 1 more are empty in the first rows" in note.text
    assert "categories come from the folders of the addresses" in note.text
    report = services.import_file(project, "pages", path)
    assert (report["category_source"], report["categories"], report["without_category"]) == ("folders", 2, 0)
    assert report["empty_breadcrumb"] == ["Breadcrumb_Name 1", "Breadcrumb_Name 2"]
    assert "breadcrumb" not in report["mapping"]
    assert (crumbs("/x/a"), crumbs("/x/y/b")) == (["Camping", "Tents"], ["x", "y"])


def test_breadcrumb_columns_that_no_row_fills_give_way_to_json_ld_first(project, tmp_path):
    items = [{"position": 1, "name": "Camping", "item": f"{SITE}/camping"}, {"position": 2, "name": "A"}]
    trail = json.dumps({"@type": "BreadcrumbList", "itemListElement": items})
    path = write(tmp_path / "a.csv", (*CRUMBS, "JSON-LD 1"), [(f"{SITE}/x/a", "A", "", "", trail)])
    [note] = preview_file(project, "pages", path, "a.csv", None).notes
    assert "categories come from the breadcrumb in JSON-LD in JSON-LD 1" in note.text
    assert services.import_file(project, "pages", path)["category_source"] == "json-ld"
    assert crumbs("/x/a") == ["Camping"]


def test_one_breadcrumb_far_down_the_file_is_enough_to_keep_its_columns(project, tmp_path):
    rows = [(f"{SITE}/x/{n}", "T", "", "") for n in range(200)] + [(f"{SITE}/x/last", "T", "Camping", "Tents")]
    report = services.import_file(project, "pages", write(tmp_path / "a.csv", CRUMBS, rows))
    assert (report["category_source"], report["without_category"]) == ("columns", 200)
    assert "empty_breadcrumb" not in report


def test_empty_breadcrumb_columns_beside_numbers_leave_categories_alone(project, tmp_path):
    services.import_file(
        project, "pages", write(tmp_path / "a.csv", CRUMBS, [(f"{SITE}/x/a", "A", "Camping", "Tents")])
    )
    header = ("Address", "Word Count", "Breadcrumb_Name 1")
    report = services.import_file(project, "pages", write(tmp_path / "b.csv", header, [(f"{SITE}/x/a", "7", "")]))
    assert (report["updated"], crumbs("/x/a")) == (1, ["Camping", "Tents"])


def test_a_category_is_one_row_however_often_it_is_imported(project, tmp_path):
    path = write(
        tmp_path / "a.csv", ("Address", "Title", "Category"), [(f"{SITE}/{n}", "T", "A > B") for n in range(3)]
    )
    services.import_file(project, "pages", path)
    before = list(Category.objects.order_by("pk").values())
    services.import_file(project, "pages", path)
    assert list(Category.objects.order_by("pk").values()) == before


# ---------------------------------------------------------------------------------------------------- vectors


def vector_text(*numbers: float, length: int = 60) -> str:
    return ",".join(map(repr, [*numbers, *([0.0] * (length - len(numbers)))]))


def test_vectors_are_found_by_content_made_units_and_kept_in_the_most_common_length(project, tmp_path):
    rows = [
        (f"{SITE}/a", "A", vector_text(3, 4)),
        (f"{SITE}/b", "B", f"[{vector_text(0, 1e-05)}]"),
        (f"{SITE}/short", "C", vector_text(1, length=59)),
        (f"{SITE}/zero", "D", vector_text(0)),
        (f"{SITE}/error", "E", "Error: 429 rate limit"),
        (f"{SITE}/blank", "F", ""),
    ]
    path = write(tmp_path / "c.csv", ("Address", "Title 1", "Extract embeddings from page content"), rows)
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    model = EmbeddingModel.objects.get()
    assert (model.name, model.project, model.dimensions) == (
        "imported: Extract embeddings from page content",
        project,
        60,
    )
    stored = {e.page.url: np.array(e.vector) for e in PageEmbedding.objects.select_related("page")}
    assert set(stored) == {f"{SITE}/a", f"{SITE}/b"}
    np.testing.assert_allclose(stored[f"{SITE}/a"][:3], [0.6, 0.8, 0], atol=1e-3)
    np.testing.assert_allclose(stored[f"{SITE}/b"][:3], [0, 1, 0], atol=1e-3)
    assert Page.objects.count() == 6
    assert report["vectors"] | {"model": ""} == {
        "column": "Extract embeddings from page content",
        "model": "",
        "dimensions": 60,
        "stored": 2,
        "new_or_changed": 2,
        "other_length": 1,
        "not_understood": 2,
    }
    listed = {row["address"]: row for row in csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig"))}
    assert (listed[f"{SITE}/short"]["line"], listed[f"{SITE}/short"]["value"]) == ("4", "59 numbers, not 60")


@pytest.mark.nightly
def test_an_unchanged_vector_is_not_written_again_and_another_length_is_another_model(project, tmp_path):
    def load(length, first=1.0):
        rows = [(f"{SITE}/{n}", "T", vector_text(first, n + 1.0, length=length)) for n in range(3)]
        return services.import_file(project, "pages", write(tmp_path / "c.csv", ("Address", "Title", "Vectors"), rows))

    load(60)
    assert load(60)["vectors"]["new_or_changed"] == 0
    assert load(60, first=2.0)["vectors"]["new_or_changed"] == 3
    assert PageEmbedding.objects.count() == 3
    load(70)
    assert sorted(EmbeddingModel.objects.values_list("dimensions", flat=True)) == [60, 70]


# --------------------------------------------------------------------------------------------------- again


@pytest.mark.nightly
def test_importing_again_updates_in_place_and_counts_it(project, tmp_path):
    services.import_file(project, "pages", write_pages(tmp_path / "a.csv", "/a", "/b"))
    ids = dict(Page.objects.values_list("canonical_url", "id"))
    rows = [(f"{SITE}/a", "Title of /a"), (f"{SITE}/b#top", "New title"), (f"{SITE}/c", "C")]
    report = services.import_file(project, "pages", write(tmp_path / "b.csv", ("Address", "Title 1"), rows))
    assert {key: report[key] for key in ("new", "updated", "unchanged", "missing")} == {
        "new": 1,
        "updated": 1,
        "unchanged": 1,
        "missing": 0,
    }
    assert (page("/b").pk, page("/b").title) == (ids[f"{SITE}/b"], "New title")


ODD = ("back\\slash", "tab\tand\nbreak", 'a "quote", {braces}', "NULL", "\\N", "", "é☃", "\\.")


@pytest.mark.nightly
def test_pages_of_a_new_project_are_those_that_come_to_pages_that_are_there(project, tmp_path):
    rows = [
        real_row(
            f"/camping/{n % 3}/{n}?x={word.encode().hex()}",
            **{"Title 1": word, "H1-1": word, "H2-1": word, "H2-2": "second", "Content 1": word},
            **{"Word Count": str(n or ""), "Indexability": "", "Status Code": ("200", "404", "", "x")[n % 4]},
        )
        for n, word in enumerate(ODD * 2)
    ]
    rows += [
        real_row("/twice", **{"Status Code": "404"}),
        real_row("/twice"),
        real_row("/style.css", **{"Content Type": "text/css"}),
    ]
    path = write(tmp_path / "internal_html.csv", REAL_HEADER, rows)
    other = make_project("other", base_url=SITE)
    make_page(other, f"{SITE}/twice")
    first, second = (services.import_file(each, "pages", path) for each in (project, other))
    columns = (
        *("url", "title", "h1", "headings", "body", "word_count", "status_code", "indexable", "indexability_status"),
        *("category__path", "inlinks", "missing_since"),
    )
    stored, beside = (
        list(Page.objects.filter(project=each).order_by("url").values_list(*columns)) for each in (project, other)
    )
    assert stored == beside
    assert {row[1] for row in stored} == {word.strip() for word in ODD} | {"Title of /twice"}
    assert (first["new"], first["duplicates"], first["not_pages"]) == (len(ODD) * 2 + 1, 1, 1)
    assert {**second, "new": 0, "updated": 0} == {**first, "new": 0, "updated": 0}
    again = services.import_file(project, "pages", path)
    assert (again["new"], again["updated"], again["unchanged"]) == (0, 0, first["new"])
    assert list(Page.objects.filter(project=project).order_by("url").values_list(*columns)) == stored


def test_what_is_left_out_is_listed_by_line(project, tmp_path):
    rows = [
        real_row("/a", **{"Word Count": "many", "Last Modified": "soon"}),
        ("too", "short"),
        real_row("/b", **{"Indexability": "perhaps", "Status Code": "x"}),
        real_row("", **{"Address": "https://other.example/", "URL Encoded Address": "https://other.example/"}),
    ]
    path = tmp_path / "skipped.csv"
    services.import_file(project, "pages", write(tmp_path / "internal_html.csv", REAL_HEADER, rows), skipped_file=path)
    with path.open(encoding="utf-8-sig", newline="") as content:
        listed = [(row["line"], row["column"]) for row in csv.DictReader(content)]
    assert listed == [
        ("2", "Word Count"),
        ("2", "Last Modified"),
        ("3", ""),
        ("4", "Status Code"),
        ("4", "Indexability"),
        ("5", "URL Encoded Address"),
    ]


@pytest.mark.nightly
def test_columns_that_a_file_lacks_keep_what_they_hold(project, tmp_path):
    services.import_file(
        project, "pages", write(tmp_path / "a.csv", REAL_HEADER, [real_row("/a", **{"H1-1": "H", "Content 1": "Text"})])
    )
    services.import_file(project, "pages", write_pages(tmp_path / "b.csv", "/a"))
    assert (page("/a").h1, page("/a").body, page("/a").status_code) == ("H", "Text", 200)


@pytest.mark.nightly
def test_pages_that_are_gone_are_marked_and_come_back(project, tmp_path):
    names = [f"/{n}" for n in range(10)]
    services.import_file(project, "pages", write_pages(tmp_path / "a.csv", *names))
    report = services.import_file(project, "pages", write_pages(tmp_path / "b.csv", *names[:8]))
    assert report["missing"] == 2
    assert page("/9").missing_since is not None
    services.import_file(project, "pages", write_pages(tmp_path / "c.csv", *names))
    assert page("/9").missing_since is None
    assert Page.objects.count() == 10


@pytest.mark.nightly
def test_the_shrink_guard_holds_below_four_fifths_of_twenty_pages_or_more(project, tmp_path):
    names = [f"/{n}" for n in range(20)]
    services.import_file(project, "pages", write_pages(tmp_path / "a.csv", *names))
    before = list(Page.objects.order_by("pk").values())
    with pytest.raises(ImportStopped, match=r"15 pages where the project has 20.*tick box in the preview") as stopped:
        services.import_file(project, "pages", write_pages(tmp_path / "b.csv", *names[:15]))
    assert stopped.value.report["pages"] == 15
    assert list(Page.objects.order_by("pk").values()) == before
    assert services.import_file(project, "pages", write_pages(tmp_path / "c.csv", *names[:16]))["missing"] == 4
    assert (
        services.import_file(project, "pages", write_pages(tmp_path / "d.csv", *names[:3]), allow_shrink=True)[
            "missing"
        ]
        == 13
    )


def test_a_page_that_stands_in_a_file_twice_is_taken_once_the_answering_row_first(project, tmp_path):
    project.trailing_slash = "strip"
    rows = [
        real_row("/a/", **{"Title 1": "The page"}),
        real_row("/a", **{"Status Code": "301", "Indexability": "Non-Indexable"}),
        real_row("/a?utm_source=x", **{"Status Code": "404", "Indexability": ""}),
    ]
    path = write(tmp_path / "c.csv", REAL_HEADER, rows)
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    assert (report["duplicates"], report["pages"]) == (2, 1)
    assert page("/a").title == "The page"
    assert [row["line"] for row in csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig"))] == ["3", "4"]


def test_a_file_of_numbers_alone_adds_to_pages_and_makes_and_misses_none(project, tmp_path):
    services.import_file(project, "pages", write_pages(tmp_path / "a.csv", *[f"/{n}" for n in range(30)]))
    rows = [(f"{SITE}/1", "1,204", "de"), (f"{SITE}/unknown", "1", "en")]
    path = write(tmp_path / "counts.csv", ("Address", "Word Count", "Language"), rows)
    report = services.import_file(project, "pages", path)
    assert (page("/1").word_count, page("/1").language, page("/1").title) == (1204, "de", "Title of /1")
    assert (report["updated"], report["new"], report["missing"]) == (1, 0, 0)
    assert report["skipped"] == {"no_title": 1}


def test_rows_of_another_site_are_left_out_and_listed_safe_for_spreadsheets(project, tmp_path):
    rows = [(f"{SITE}/a", "A"), ("https://other.example/x", "B"), ('=HYPERLINK("http://evil")', "C"), ("", "D")]
    path = write(tmp_path / "c.csv", ("Address", "Title 1"), rows)
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    assert report["skipped"] == {
        "another_site": 1,
        "bad_address": 1,
        "no_address": 1,
    }
    listed = list(csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig")))
    assert [row["line"] for row in listed] == ["3", "4", "5"]
    assert listed[1]["address"] == '\'=HYPERLINK("http://evil")'


def test_a_cell_that_is_not_understood_is_left_empty_and_listed(project, tmp_path):
    rows = [real_row("/a", **{"Status Code": "99999999999", "Word Count": "many", "Last Modified": "soon"})]
    report = services.import_file(project, "pages", write(tmp_path / "c.csv", REAL_HEADER, rows))
    assert (page("/a").status_code, page("/a").word_count, page("/a").last_modified) == (None, None, None)
    assert report["skipped"] == {"bad_cell": 2, "out_of_range": 1}


def test_a_report_tells_rows_left_out_from_cells_and_from_repeated_rows(project, manager, client_for, tmp_path):
    rows = [(f"{SITE}/a", "A", "many"), (f"{SITE}/a", "A", "1"), ("https://other.example/x", "X", "1")]
    report = services.import_file(
        project, "pages", write(tmp_path / "c.csv", ("Address", "Title 1", "Word Count"), rows)
    )
    assert (report["skipped_rows"], report["duplicates"], report["skipped_cells"]) == (1, 1, 1)
    make_run(project, "import_pages", report=report)
    shown = client_for(manager).get(reverse("import", args=["shop"])).text
    assert "1 row, 1 repeated row, 1 cell" in shown


def test_hostile_cells_are_kept_as_they_are_and_harm_nothing(project, tmp_path):
    hostile = '<script>alert(1)</script>\'; DROP TABLE linker_page; --\\N \\. {a,"b"} \u202e \x00 \x1f%s'
    rows = [real_row("/a", **{"Title 1": hostile, "H2-1": hostile, "Content 1": hostile})]
    services.import_file(project, "pages", write(tmp_path / "c.csv", REAL_HEADER, rows))
    kept = hostile.replace("\0", "").strip()
    assert (page("/a").title, page("/a").headings, page("/a").body) == (kept, [kept], kept)


@pytest.mark.nightly
def test_projects_do_not_see_each_other_s_pages(project, tmp_path):
    from tests.factories import make_project

    other = make_project(slug="other", base_url=SITE)
    services.import_file(project, "pages", write_pages(tmp_path / "a.csv", "/a", "/b"))
    services.import_file(other, "pages", write_pages(tmp_path / "b.csv", "/a"))
    assert Page.objects.filter(project=project, missing_since=None).count() == 2
    assert Page.objects.filter(project=other).count() == 1


@pytest.mark.nightly
def test_a_large_file_is_read_in_bounded_memory(project, tmp_path):
    import tracemalloc

    path, small = tmp_path / "large.csv", tmp_path / "small.csv"
    for file_of, rows in ((small, 30), (path, 1_500)):
        with file_of.open("w") as file:
            file.write("Address,Title 1,Content 1\n")
            for n in range(rows):
                file.write(f"{SITE}/{n},T {n},{'word ' * 8000}\n")
    services.import_file(project, "pages", small)  # loads the words of languages, once for the process
    assert path.stat().st_size > 55 * 2**20
    tracemalloc.start()
    try:
        services.import_file(project, "pages", path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert Page.objects.count() == 1_500
    assert peak < 40 * 2**20
