"""What people searched for comes in page by page, is added up where rows repeat, and is never lost."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import services
from ingest.addresses.destinations import PageFinder
from ingest.addresses.normalise import Site
from ingest.errors import FileError, ImportStopped
from ingest.fields.skipped import OF_CELLS, REASONS, Skipped
from ingest.kinds import registry
from ingest.kinds.queries.parse import QueryParser
from linker.models import Page, SearchQuery
from tests.factories import make_page, make_project
from tests.ingest.files import SITE, write

CONSOLE = ("query", "page", "clicks", "impressions", "ctr", "position")
JOIL = ("url", "query", "importance")


@pytest.fixture
def pages(project) -> dict[str, Page]:
    return {path: make_page(project, path) for path in ("/a", "/b")}


def load(project, tmp_path, *rows, header=CONSOLE, **options):
    path = write(tmp_path / "queries.csv", header, rows)
    return services.import_file(project, "queries", path, skipped_file=tmp_path / "skipped.csv", **options)


def stored(**filters) -> set[tuple]:
    rows = SearchQuery.objects.filter(**filters).select_related("page")
    return {(row.page.url[len(SITE) :], row.query, row.clicks, row.impressions, row.position) for row in rows}


def test_rows_of_page_and_query_are_read(project, pages, tmp_path):
    report = load(
        project,
        tmp_path,
        ("tents", f"{SITE}/a", "12", "1200", "0.01", "4.5"),
        ("  best   tents ", f"{SITE}/a", "1", "300", "0.0033", "0"),
        ("stoves", f"{SITE}/b", "0", "7", "0", "61.2"),
    )
    assert stored() == {
        ("/a", "tents", 12, 1200, 4.5),
        ("/a", "best tents", 1, 300, None),
        ("/b", "stoves", 0, 7, 61.2),
    }
    assert (report["rows"], report["queries"], report["query_pages"], report["new"]) == (3, 3, 2, 3)
    assert (report["query_source"], report["rows_summed"], report["seen_before"]) == ("search_console", 0, 0)
    assert SearchQuery.objects.filter(source="search_console", importance=None).count() == 3


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (("Landing Page", "Query", "Url Clicks", "Impressions", "Average Position"), ("tents", "3", "1,200", "4.5")),
        (("Page", "Requête", "Clics", "Impressions", "Position moyenne"), ("tents", "3", "1\u202f200", "4,5")),
        (("Seite", "Suchanfrage", "Klicks", "Impressionen", "Position"), ("tents", "3", "1.200", "4,5")),
        (("Página", "Consulta", "Clics", "Impresiones", "Posición"), ("tents", "3", "1.200", "4,5")),
        (("url", "query", "clicks", "impressions", "position"), ("tents", "3", "1200", "4.5")),
    ],
)
def test_headers_of_tools_and_languages_are_known(project, pages, tmp_path, header, row):
    load(project, tmp_path, (f"{SITE}/a", *row), header=header)
    assert stored() == {("/a", "tents", 3, 1200, 4.5)}
    assert registry.kind_of(header).name == "queries"


def test_a_list_with_importance_is_read_and_lives_beside_search_console_s(project, pages, tmp_path):
    load(project, tmp_path, ("tents", f"{SITE}/a", "12", "1200", "0.01", "4.5"))
    rows = [(f"{SITE}/a", "tents", "0.8"), (f"{SITE}/a", "Family Tents", "10"), (f"{SITE}/a", "tents", "2")]
    report = load(project, tmp_path, *rows, header=JOIL)
    assert (report["query_source"], report["new"], report["rows_summed"]) == ("joil", 2, 1)
    wishes = SearchQuery.objects.filter(source="joil").order_by("query")
    assert [(row.query, row.importance, row.impressions) for row in wishes] == [
        ("Family Tents", 10.0, None),
        ("tents", 2.0, None),
    ]
    assert stored(source="search_console") == {("/a", "tents", 12, 1200, 4.5)}


def test_rows_of_the_same_page_and_query_are_added_up(project, pages, tmp_path):
    """Exports by day or device repeat them, and a page comes with fragments and tracking parameters."""
    report = load(
        project,
        tmp_path,
        ("tents", f"{SITE}/a", "3", "100", "0.03", "2"),
        ("tents", f"{SITE}/a#sizes", "1", "300", "0.01", "6"),
        ("tents", f"{SITE}/a?utm_source=x", "", "", "", ""),
        ("stoves", f"{SITE}/a", "2000000000", "2000000000", "1", "1"),
        ("stoves", f"{SITE}/a", "2000000000", "2000000000", "1", "3"),
    )
    assert stored() == {("/a", "tents", 4, 400, 5.0), ("/a", "stoves", 2**31 - 1, 2**31 - 1, 2.0)}
    assert (report["queries"], report["rows_summed"]) == (2, 3)


def test_a_second_file_updates_its_rows_and_leaves_the_others(project, pages, tmp_path):
    load(project, tmp_path, ("tents", f"{SITE}/a", "1", "100", "", "4"), ("old", f"{SITE}/a", "1", "50", "", "4"))
    first = SearchQuery.objects.get(query="old").last_seen_at
    ids = set(SearchQuery.objects.values_list("pk", flat=True))
    report = load(
        project, tmp_path, ("tents", f"{SITE}/a", "2", "200", "", "3"), ("new", f"{SITE}/b", "1", "1", "", "9")
    )
    assert (report["new"], report["seen_before"]) == (1, 1)
    assert stored() == {("/a", "tents", 2, 200, 3.0), ("/a", "old", 1, 50, 4.0), ("/b", "new", 1, 1, 9.0)}
    assert ids < set(SearchQuery.objects.values_list("pk", flat=True))
    assert (
        SearchQuery.objects.get(query="old").last_seen_at == first < SearchQuery.objects.get(query="tents").last_seen_at
    )


def test_the_same_file_again_changes_nothing_but_when_it_was_seen(project, pages, tmp_path):
    rows = [("tents", f"{SITE}/a", "1", "100", "", "4"), ("stoves", f"{SITE}/b", "1", "50", "", "4")]
    load(project, tmp_path, *rows)
    before = stored()
    report = load(project, tmp_path, *rows)
    assert (report["new"], report["seen_before"]) == (0, 2)
    assert stored() == before


def test_numbers_that_a_file_does_not_give_stay(project, pages, tmp_path):
    load(project, tmp_path, ("tents", f"{SITE}/a", "1", "100", "", "4"))
    load(project, tmp_path, (f"{SITE}/a", "tents", "300"), header=("page", "query", "impressions"))
    assert stored() == {("/a", "tents", 1, 300, 4.0)}


def test_the_pages_own_numbers_are_left_alone(project, pages, tmp_path):
    """The sum over queries misses the rare ones, which Search Console leaves out: it is no page's total."""
    load(project, tmp_path, ("tents", f"{SITE}/a", "1", "100", "", "4"))
    page = Page.objects.get(pk=pages["/a"].pk)
    assert (page.clicks, page.impressions, page.position) == (None, None, None)


def test_what_is_left_out_is_listed_with_its_line(project, pages, tmp_path):
    report = load(
        project,
        tmp_path,
        ("tents", f"{SITE}/a", "1", "many", "", "-4"),
        ("tents", f"{SITE}/nowhere", "1", "1", "", "1"),
        ("tents", "https://other.example/a", "1", "1", "", "1"),
        ("", f"{SITE}/a", "1", "1", "", "1"),
        ("tents", "", "1", "1", "", "1"),
        ("tents", "no address", "1", "1", "", "1"),
        ("short", f"{SITE}/a"),
    )
    assert stored() == {("/a", "tents", 1, None, None)}
    listed = list(csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig")))
    assert [(row["line"], row["column"], row["reason"], row["value"]) for row in listed] == [
        ("2", "impressions", REASONS["bad_cell"], "many"),
        ("2", "position", REASONS["out_of_range"], "'-4, not 0 or more"),
        ("3", "page", REASONS["page_unknown"], ""),
        ("4", "page", REASONS["another_site"], ""),
        ("5", "query", REASONS["no_query"], ""),
        ("6", "page", REASONS["no_address"], ""),
        ("7", "page", REASONS["bad_address"], ""),
        ("8", "", REASONS["bad_width"], "2 cells, not 6"),
    ]
    assert report["skipped"]["page_unknown"] == 1


def test_an_importance_below_zero_is_listed_and_left_empty(project, pages, tmp_path):
    report = load(project, tmp_path, (f"{SITE}/a", "tents", "-1"), (f"{SITE}/a", "stoves", "50 %"), header=JOIL)
    assert report["skipped"] == {"out_of_range": 1}
    assert dict(SearchQuery.objects.values_list("query", "importance")) == {"tents": None, "stoves": 0.5}


def test_queries_go_to_the_pages_of_their_own_project(project, pages, tmp_path):
    other = make_project("elsewhere", base_url=SITE)
    make_page(other, "/a")
    load(project, tmp_path, ("tents", f"{SITE}/a", "1", "1", "", "1"))
    assert SearchQuery.objects.get().page.project == project


# ------------------------------------------------------------------------------------------------- files refused


def test_search_console_s_own_list_of_queries_names_no_pages(project, pages, tmp_path):
    header = ("Top queries", "Clicks", "Impressions", "CTR", "Position")
    with pytest.raises(FileError, match=r"Search Console's Queries table.* from Search Console's API, its bulk"):
        load(project, tmp_path, ("tents", "1", "1", "1%", "1"), header=header)
    assert registry.kind_of(header).name == "queries"


def test_queries_need_pages_first(project, tmp_path):
    with pytest.raises(FileError, match="Import the pages first, then their queries"):
        load(project, tmp_path, ("tents", f"{SITE}/a", "1", "1", "", "1"))


def test_a_file_of_which_no_row_is_usable_is_refused(project, pages, tmp_path):
    with pytest.raises(ImportStopped, match=r"no row is a query of a page of .* Line 2: the address is not a page"):
        load(project, tmp_path, ("tents", f"{SITE}/nowhere", "1", "1", "", "1"))
    with pytest.raises(ImportStopped, match=r"another site.*Check the project's base URL"):
        load(project, tmp_path, ("tents", "https://other.example/a", "1", "1", "", "1"))
    assert not SearchQuery.objects.exists()


def test_a_broken_file_changes_nothing(project, pages, tmp_path):
    load(project, tmp_path, ("tents", f"{SITE}/a", "1", "100", "", "4"))
    before = list(SearchQuery.objects.values())
    path = tmp_path / "queries.csv"
    path.write_bytes(path.read_bytes() + b'"stoves","https://shop.example/b","cut o')
    with pytest.raises(FileError, match="line 3"):
        services.import_file(project, "queries", path)
    assert list(SearchQuery.objects.values()) == before


def test_files_of_another_kind_are_sent_to_their_own_import(project, pages, tmp_path):
    crawl = write(tmp_path / "c.csv", ("Address", "Title 1", "H1-1"), [(f"{SITE}/a", "A", "A")])
    with pytest.raises(FileError, match="file of pages, not of queries: import it as pages"):
        services.import_file(project, "queries", crawl)
    links = write(tmp_path / "l.csv", ("Source", "Destination", "Anchor"), [(f"{SITE}/a", f"{SITE}/b", "x")])
    with pytest.raises(FileError, match="file of links, not of queries: import it as links"):
        services.import_file(project, "queries", links)
    queries = write(tmp_path / "q.csv", CONSOLE, [("tents", f"{SITE}/a", "12", "1200", "0.01", "4.5")])
    for other in ("pages", "links"):
        with pytest.raises(FileError, match="import it as queries"):
            services.import_file(project, other, queries)
    assert Page.objects.get(pk=pages["/a"].pk).clicks is None


def test_kinds_are_told_by_the_columns(tmp_path):
    assert registry.kind_of(CONSOLE).name == registry.kind_of(JOIL).name == "queries"
    assert registry.kind_of(("URL", "Title", "Keyword")).name == "pages"
    assert registry.kind_of(("Top pages", "Clicks", "Impressions", "CTR", "Position")).name == "traffic"
    assert registry.kind_of(("url", "target_url")).name == "links"
    path = write(tmp_path / "q.csv", JOIL, [(f"{SITE}/a", "tents", "1")])
    assert services.find_kind(path, "q.csv") == "queries"


# --------------------------------------------------------------------------------------------------- the parser


@given(st.lists(st.text(max_size=30), min_size=5, max_size=7), st.booleans())
def test_any_row_becomes_a_query_or_is_skipped_with_a_reason(cells, known):
    header = ("page", "query", "clicks", "impressions", "position", "importance")
    mapping = registry.get("queries").guess(header, [])
    assert set(mapping) == {"url", *header[1:]}
    skipped = Skipped()
    parser = QueryParser(header, mapping, PageFinder({f"{SITE}/a": 7}, Site(SITE)), skipped)
    row = parser.parse(2, [f"{SITE}/a", *cells[1:]] if known else cells)
    if row is None:
        assert skipped.counts.total() == 1
        return
    assert row.page == 7
    assert row.query == " ".join(row.query.split()) != ""
    assert all(number is None or 0 <= number < float("inf") for number in row[2:])
    empty = sum(number is None for number in row[2:])
    assert skipped.count(OF_CELLS) <= empty
