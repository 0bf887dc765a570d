"""Where a page's address is taken from: the column that holds it in each row, never a picture's, and in full."""

from __future__ import annotations

import pytest

from ingest import services
from ingest.addresses.normalise import Site
from ingest.errors import FileError
from ingest.kinds import registry
from ingest.preview import preview_file
from linker.models import Page
from tests.ingest.files import SITE, write

pytestmark = pytest.mark.django_db


def imported(project, tmp_path, header, rows, **options) -> list[str]:
    """The addresses of the pages that a file makes."""
    services.import_file(project, "pages", write(tmp_path / "pages.csv", header, rows), **options)
    return sorted(Page.objects.filter(project=project).values_list("url", flat=True))


@pytest.mark.nightly
def test_a_column_of_encoded_addresses_that_is_empty_throughout_is_passed_over(project, tmp_path):
    header = ("Address", "Title 1", "URL Encoded Address")
    rows = [(f"{SITE}/{n}", f"Page {n}", "") for n in range(3)]
    assert imported(project, tmp_path, header, rows) == [f"{SITE}/{n}" for n in range(3)]


@pytest.mark.nightly
def test_in_each_row_the_first_column_that_is_filled_counts(project, tmp_path):
    header = ("Original Url", "Address", "Title 1", "URL Encoded Address")
    rows = [
        (f"{SITE}/old", f"{SITE}/new", "Moved", f"{SITE}/new"),
        ("", f"{SITE}/Größe", "Both", f"{SITE}/Gr%C3%B6%C3%9Fe"),
        ("", f"{SITE}/plain", "Address alone", ""),
    ]
    assert imported(project, tmp_path, header, rows) == sorted(
        [f"{SITE}/old", f"{SITE}/Gr%C3%B6%C3%9Fe", f"{SITE}/plain"]
    )


def test_a_row_with_no_address_at_all_is_listed(project, tmp_path):
    header = ("Address", "Title 1", "URL Encoded Address")
    path = write(tmp_path / "pages.csv", header, [(f"{SITE}/a", "A", ""), ("", "B", "")])
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    assert report["skipped"] == {"no_address": 1}


def guessed(header, *rows) -> list[str] | None:
    return registry.get("pages").guess(header, rows).get("url")


def test_columns_of_pictures_are_no_addresses_of_pages():
    picture = f"{SITE}/cdn/tent.jpg"
    assert guessed(("Name", "Image Src", "Deep"), ("Tent", picture, f"{SITE}/tent")) == ["Deep"]
    assert guessed(("Name", "Featured image"), ("Tent", f"{SITE}/media/12")) is None
    assert guessed(("Name", "Where"), ("Tent", picture)) is None
    assert guessed(("URL", "Link", "Title"), (picture, f"{SITE}/tent", "Tent")) == ["Link"]


def test_a_crawl_whose_first_rows_are_pictures_still_has_its_address():
    rows = [(f"{SITE}/{n}.png", "image/png", "200", "") for n in range(50)]
    assert guessed(("Address", "Content Type", "Status Code", "Title 1"), *rows) == ["Address"]


def test_a_column_with_addresses_comes_before_one_with_words():
    assert guessed(("Page", "Title", "Link"), ("3", "Tents", f"{SITE}/tents")) == ["Link"]


def test_pictures_and_scripts_are_no_pages_even_where_no_column_says_what_they_are(project, tmp_path):
    rows = [
        (f"{SITE}/a", "A"),
        (f"{SITE}/a.jpg?v=1", "Picture"),
        (f"{SITE}/app.js", ""),
        (f"{SITE}/guide.pdf", "Guide"),
    ]
    path = write(tmp_path / "pages.csv", ("URL", "Title"), rows)
    report = services.import_file(project, "pages", path)
    assert (report["pages"], report["not_pages"]) == (2, 2)


@pytest.mark.parametrize(
    ("base", "address", "prefix", "full"),
    [
        ("https://shop.example", "/tents/", "", "https://shop.example/tents/"),
        ("https://shop.example/de", "/de/zelte", "", "https://shop.example/de/zelte"),
        ("https://shop.example", "//shop.example/tents", "", "https://shop.example/tents"),
        ("https://shop.example", "http://shop.example/a", "/x/", "http://shop.example/a"),
        ("https://shop.example", "tents", "/products/", "https://shop.example/products/tents"),
        ("https://shop.example", "/tents", "/de/", "https://shop.example/de/tents"),
        ("https://shop.example", "/tents", "https://www.shop.example/de", "https://www.shop.example/de/tents"),
        ("https://shop.example", "12", "/?p=", "https://shop.example/?p=12"),
        ("https://shop.example", "mailto:a@shop.example", "/x/", "mailto:a@shop.example"),
        ("https://shop.example", "tents", "", "tents"),
        ("https://shop.example", "", "/products/", ""),
    ],
)
def test_relative_addresses_are_completed(base, address, prefix, full):
    assert Site(base).full_address(address, prefix) == full


def test_pages_keep_the_full_address_which_exports_print(project, tmp_path):
    assert imported(project, tmp_path, ("URL", "Title"), [("/tents", "Tents")]) == [f"{SITE}/tents"]


def test_a_prefix_makes_addresses_of_slugs(project, tmp_path):
    header, rows = ("Slug", "Headline"), [("first", "First"), ("/second", "Second")]
    mapping = {"url": ["Slug"], "title": ["Headline"], "prefix": ["/blog/"]}
    assert imported(project, tmp_path, header, rows, mapping=mapping) == [f"{SITE}/blog/first", f"{SITE}/blog/second"]


def test_a_prefix_that_is_none_is_refused(project, tmp_path):
    path = write(tmp_path / "pages.csv", ("Slug", "Title"), [("a", "A")])
    with pytest.raises(FileError, match="begins with / or https://"):
        services.import_file(project, "pages", path, mapping={"url": ["Slug"], "prefix": ["blog"]})


def test_a_prefix_is_remembered_with_its_column_and_not_used_for_another(project, tmp_path):
    path = write(tmp_path / "slugs.csv", ("Slug", "Title"), [("a", "A")])
    wanted = {"url": ["Slug"], "prefix": ["/blog/"], "title": ["Title"]}
    services.remember_mapping(project, preview_file(project, "pages", path, path.name, wanted))
    project.refresh_from_db()
    again = preview_file(project, "pages", path, path.name, None)
    assert (again.mapping["url"], again.mapping["prefix"]) == (["Slug"], ["/blog/"])
    assert again.values(registry.get("pages").fields.fields[0]) == [f"{SITE}/blog/a"]
    other = write(tmp_path / "crawl.csv", ("Address", "Title 1"), [(f"{SITE}/a", "A")])
    assert "prefix" not in preview_file(project, "pages", other, other.name, None).mapping


def test_a_file_of_another_site_is_said_to_be_before_it_is_imported(project, tmp_path):
    header, others = ("Address", "Title 1"), [("https://other.example/a", "A"), ("https://www.other.example/b", "B")]
    for rows, warns in (
        (others, True),
        ([*others, (f"{SITE}/a", "A")], False),
        ([("", ""), ("no address", "A")], False),
    ):
        looked = preview_file(project, "pages", write(tmp_path / "crawl.csv", header, rows), "crawl.csv", None)
        said = " ".join(note.text for note in looked.notes)
        assert ("are pages of other.example, and this project is of https://shop.example" in said) is warns


def test_rows_of_files_that_lack_their_last_cells_are_counted_as_what_they_are(project, tmp_path):
    path = tmp_path / "internal_all.csv"
    path.write_text(
        "Address,Content Type,Status Code,Title 1,H1-1,Crawl Depth\n"
        f"{SITE}/a,text/html; charset=UTF-8,200,A,A,1\n"
        f"{SITE}/app.js,text/javascript,200\n"
        f"{SITE}/style,text/css,200\n"
        f"{SITE}/logo.png,,200\n"
        f"{SITE}/b,text/html,200,B\n"
    )
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    assert (report["pages"], report["not_pages"]) == (1, 3)
    assert report["skipped"] == {"bad_width": 1}
