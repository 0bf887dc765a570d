"""Clicks, impressions and hits add up on the pages that their addresses mean, and change nothing else."""

from __future__ import annotations

import csv
import zipfile
from contextlib import contextmanager
from datetime import date, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from ingest import services
from ingest.cells.periods import Period, parse_period
from ingest.errors import FileError, ImportStopped
from ingest.fields.skipped import REASONS
from ingest.folder import SAMPLE
from ingest.kinds import registry
from ingest.models import Upload
from ingest.preview import preview_file
from linker.models import Category, Page, PageEmbedding, PageTraffic, Run, RunStatus, TrafficPeriod
from tests.examples import tried
from tests.factories import make_page, make_project
from tests.ingest.files import SITE, csv_text, write, write_pages

PAGES = ("Top pages", "Clicks", "Impressions", "CTR", "Position")
JANUARY, FEBRUARY = "2026-01", "2026-02"


def load(project, tmp_path, *rows, header=PAGES, **options):
    path = write(tmp_path / "Pages.csv", header, rows)
    return services.import_file(project, "traffic", path, skipped_file=tmp_path / "skipped.csv", **options)


def numbers(project) -> dict[str, tuple]:
    """Each page's own numbers by path, where it has any."""
    rows = project.pages.values_list("canonical_url", "clicks", "impressions", "position")
    return {url[len(SITE) :]: tuple(rest) for url, *rest in rows if any(number is not None for number in rest)}


def stored(project) -> set[tuple]:
    rows = PageTraffic.objects.filter(period__project=project).select_related("page", "period")
    return {
        (row.page.canonical_url[len(SITE) :], row.period.source, str(row.period), row.clicks, row.impressions,
         row.position, row.hits)
        for row in rows
    }  # fmt: skip


def everything_else(project) -> tuple[list[dict], ...]:
    """Whole rows of all that traffic must not touch."""
    pages = [
        {name: value for name, value in row.items() if name not in ("clicks", "impressions", "position")}
        for row in Page.objects.filter(project=project).order_by("pk").values()
    ]
    vectors = [{**row, "vector": str(row["vector"])} for row in PageEmbedding.objects.order_by("pk").values()]
    return pages, list(Category.objects.order_by("pk").values()), vectors


@pytest.fixture
def pages(project) -> dict[str, Page]:
    return {path: make_page(project, path) for path in ("/", "/a", "/b", "/c")}


# ---------------------------------------------------------------------------------------- one page, several addresses


def test_rows_of_one_page_add_up_and_positions_are_weighted_by_impressions(project, pages, tmp_path):
    report = load(
        project,
        tmp_path,
        (f"{SITE}/a", "30", "300", "10%", "2"),
        (f"{SITE}/a#sizes", "1", "100", "1%", "6"),
        (f"{SITE}/a?utm_source=x&utm_medium=y", "2", "0", "0%", "0"),
        (f"{SITE}/b", "0", "7", "0%", "61.2"),
        (f"{SITE}/c", "5", "0", "", "0"),
    )
    assert numbers(project) == {"/a": (33, 400, 3.0), "/b": (0, 7, 61.2), "/c": (5, 0, None)}
    assert (report["traffic"], report["rows_added"], report["new"], report["set"]) == (3, 2, 3, 3)
    assert PageTraffic.objects.get(page=pages["/a"]).ctr == 33 / 400
    assert PageTraffic.objects.get(page=pages["/c"]).ctr is None


def test_a_genuine_export_keeps_every_click(project, tmp_path):
    """Sorted by clicks, the home page under several addresses, as Search Console writes it."""
    services.import_file(
        project,
        "pages",
        write_pages(tmp_path / "crawl.csv", "/", "/blog/", "/blog/pain/", "/contact", *[f"/p/{n}" for n in range(40)]),
    )
    before = everything_else(project)
    rows = [
        (f"{SITE}/", "17,403", "201,113", "8.65%", "7.1"),
        (f"{SITE}/?utm_source=gmb&utm_medium=organic&utm_campaign=listing", "4,003", "61,002", "6.56%", "3.92"),
        (f"{SITE}/#:~:text=our%20practice", "1,335", "9,001", "14.83%", "2.2"),
        (f"{SITE}/blog/pain/", "911", "120,400", "0.76%", "14.05"),
        (f"{SITE}/blog/pain/#what-helps", "212", "33,104", "0.64%", "5.5"),
        (f"{SITE}/old-page-nobody-crawled", "77", "901", "8.55%", "9"),
        *((f"{SITE}/p/{n}?srsltid=AfmBO{n}", str(40 - n), "100", "1%", "10") for n in range(40)),
        ("http://www.shop.example/contact", "9", "90", "10%", "1"),
        (f"{SITE}/p/0#reviews", "0", "12", "0%", "0"),
        ("https://other.example/", "5", "6", "83%", "1"),
    ]
    report = load(project, tmp_path, *rows)
    own = numbers(project)
    assert own["/"][:2] == (17_403 + 4_003 + 1_335, 201_113 + 61_002 + 9_001) == (22_741, 271_116)
    assert own["/"][2] == pytest.approx((7.1 * 201_113 + 3.92 * 61_002 + 2.2 * 9_001) / 271_116)
    assert own["/contact"] == (9, 90, 1.0)
    assert own["/p/0"] == (40, 112, 10.0)
    total = sum(int(row[1].replace(",", "")) for row in rows)
    on_pages = sum(clicks for clicks, *_ in own.values())
    assert report["clicks"] == {"in_file": total, "on_pages": on_pages, "on_unknown": 77, "skipped": 5}
    assert total == on_pages + 77 + 5
    assert report["impressions"]["in_file"] == sum(int(row[2].replace(",", "")) for row in rows)
    assert everything_else(project) == before
    listed = list(csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig")))
    assert [(row["line"], row["reason"], row["value"]) for row in listed] == [
        ("7", REASONS["page_unknown"], "77 clicks, 901 impressions"),
        ("50", REASONS["another_site"], "5 clicks, 6 impressions"),
    ]


def test_traffic_goes_where_redirects_and_canonicals_lead(project, tmp_path):
    make_page(project, "/new")
    make_page(project, "/old", status_code=301, redirect_url=f"{SITE}/older?utm_source=x")
    make_page(project, "/older", status_code=301, redirect_url="/new")
    make_page(project, "/copy", canonical_link="http://www.shop.example/new#top", indexable=False)
    make_page(project, "/away", status_code=301, redirect_url="https://other.example/")
    make_page(project, "/unknown", status_code=301, redirect_url=f"{SITE}/nowhere")
    make_page(project, "/own", canonical_link=f"{SITE}/own#x")
    make_page(project, "/round", redirect_url=f"{SITE}/circle")
    make_page(project, "/circle", redirect_url=f"{SITE}/round")
    report = load(
        project,
        tmp_path,
        *((f"{SITE}/{path}", "1", "10", "", "4")
          for path in ("new", "old", "older", "copy", "away", "unknown", "own", "round", "circle")),
    )  # fmt: skip
    assert numbers(project) == {
        "/new": (4, 40, 4.0),
        **dict.fromkeys(("/away", "/unknown", "/own", "/round", "/circle"), (1, 10, 4.0)),
    }
    assert report["rows_moved"] == 3


@pytest.mark.nightly
def test_traffic_changes_nothing_but_the_numbers(project, tmp_path):
    rows = [
        (f"{SITE}/guides/{n}", f"T {n}", f"Guides > G{n % 3}", ",".join(map(str, range(n, n + 60)))) for n in range(30)
    ]
    crawl = write(tmp_path / "c.csv", ("Address", "Title 1", "Breadcrumb", "Vector"), rows)
    services.import_file(project, "pages", crawl)
    services.import_file(
        project, "pages", write(tmp_path / "d.csv", ("Address", "Title 1"), [row[:2] for row in rows[:25]])
    )
    make_page(project, "/deep/folder/page", category=None)
    before = everything_else(project)
    assert Page.objects.exclude(missing_since=None).count() == 5
    load(
        project,
        tmp_path,
        *((f"{SITE}/guides/{n}?utm_source=x#f", n, 10 * n, "", "3") for n in range(30)),
        (f"{SITE}/deep/folder/page#x", "1", "2", "", "1"),
    )
    assert everything_else(project) == before
    assert len(numbers(project)) == 31


ROWS = [
    *((f"{SITE}/{page}{tail}", clicks, shown, "", position)
      for clicks, (page, tail, shown, position) in enumerate([
          ("a", "", "100", "1.37"), ("a", "#x", "33", "2.11"), ("a", "?utm_source=m", "7", "9.99"),
          ("b", "", "0", "0"), ("b", "?gclid=1", "12345", "17.3"), ("b", "#y", "1", "0.1"), ("c", "", "", ""),
          ("c", "#1", "", "3.3"), ("c", "#2", "", "4.4"), ("nowhere", "", "5", "1"),
      ])),
    ("https://other.example/", "3", "3", "", "1"),
]  # fmt: skip


@contextmanager
def undone():
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.nightly
@tried(25)
@given(st.permutations(ROWS))
def test_the_order_of_a_file_of_traffic_says_nothing(project, pages, tmp_path, rows):
    with undone():
        first = load(project, tmp_path, *ROWS)
        expected = stored(project), numbers(project)
    with undone():
        report = load(project, tmp_path, *rows)
        assert (stored(project), numbers(project)) == expected
        assert {**report, "skipped": sorted(report["skipped"])} == {**first, "skipped": sorted(first["skipped"])}


# -------------------------------------------------------------------------------------------------------- periods


def test_a_file_imported_twice_counts_once(project, pages, tmp_path):
    rows = [(f"{SITE}/a", "3", "30", "", "2"), (f"{SITE}/a#x", "1", "10", "", "6"), (f"{SITE}/b", "2", "20", "", "1")]
    load(project, tmp_path, *rows)
    before = list(PageTraffic.objects.order_by("pk").values()), list(Page.objects.order_by("pk").values())
    report = load(project, tmp_path, *rows)
    assert (list(PageTraffic.objects.order_by("pk").values()), list(Page.objects.order_by("pk").values())) == before
    assert (report["new"], report["updated"], report["unchanged"], report["set"]) == (0, 0, 2, 0)


def test_a_period_replaces_the_same_period_and_no_other(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "3", "30", "", "2"), (f"{SITE}/b", "2", "20", "", "1"), period=JANUARY)
    load(project, tmp_path, (f"{SITE}/a", "5", "50", "", "2"), (f"{SITE}/b", "1", "10", "", "1"), period=FEBRUARY)
    report = load(
        project, tmp_path, (f"{SITE}/a", "4", "40", "", "3"), (f"{SITE}/c", "1", "1", "", "9"), period=JANUARY
    )
    assert (report["new"], report["updated"], report["gone"]) == (1, 1, 1)
    january, february = "2026-01-01 to 2026-01-31", "2026-02-01 to 2026-02-28"
    assert stored(project) == {
        ("/a", "search_console", january, 4, 40, 3.0, None),
        ("/c", "search_console", january, 1, 1, 9.0, None),
        ("/a", "search_console", february, 5, 50, 2.0, None),
        ("/b", "search_console", february, 1, 10, 1.0, None),
    }
    assert numbers(project) == {"/a": (5, 50, 2.0), "/b": (1, 10, 1.0)}


def test_pages_that_a_new_file_of_the_period_lacks_lose_its_numbers(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "3", "30", "", "2"), (f"{SITE}/b", "2", "20", "", "1"))
    load(project, tmp_path, (f"{SITE}/a", "3", "30", "", "2"))
    assert numbers(project) == {"/a": (3, 30, 2.0)}


def test_pages_are_read_from_the_newest_period_whatever_was_imported_last(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "5", "50", "", "2"), period=FEBRUARY)
    load(project, tmp_path, (f"{SITE}/a", "3", "30", "", "2"), (f"{SITE}/b", "2", "20", "", "1"), period=JANUARY)
    assert numbers(project) == {"/a": (5, 50, 2.0)}
    load(project, tmp_path, (f"{SITE}/a", "8", "80", "", "2"), period="2026-01-01 to 2026-02-28")
    assert numbers(project) == {"/a": (8, 80, 2.0)}  # of those that end alike the longest
    load(project, tmp_path, (f"{SITE}/a", "9", "90", "", "2"))
    assert numbers(project) == {"/a": (9, 90, 2.0)}  # unknown: as if it ended today


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [("Date", "2026-01-31", "2026-01-05"), ("Date", "20260131", "20260105"), ("Datum", "31.01.2026", "05.01.2026"),
     ("Day", "Jan 31, 2026", "Jan 5, 2026"), ("Date", "2026-01-31T00:00:00Z", "2026-01-05 00:00")],
)  # fmt: skip
def test_a_column_of_days_tells_the_period(project, pages, tmp_path, column, first, second):
    header = ("Page", column, "Clicks", "Impressions")
    load(project, tmp_path, (f"{SITE}/a", first, "1", "10"), (f"{SITE}/a", second, "2", "20"), header=header)
    assert stored(project) == {("/a", "search_console", "2026-01-05 to 2026-01-31", 3, 30, None, None)}


def search_console_zip(path, rows, days=("2026-01-01", "2026-01-31"), filters=(("Date", "Last month"),)):
    chart = csv_text(("Date", *PAGES[1:]), [(day, "1", "2", "50%", "3") for day in days])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Chart.csv", chart)
        archive.writestr("Countries.csv", csv_text(("Country", *PAGES[1:]), [("Germany", "1", "2", "50%", "3")]))
        archive.writestr("Filters.csv", csv_text(("Filter", "Value"), filters))
        archive.writestr("Pages.csv", csv_text(PAGES, rows))
        archive.writestr("Queries.csv", csv_text(("Top queries", *PAGES[1:]), [("tents", "1", "2", "50%", "3")]))
    return path


def test_search_console_s_archive_tells_its_period(project, pages, tmp_path):
    path = search_console_zip(tmp_path / "export.zip", [(f"{SITE}/a", "1", "10", "10%", "2")])
    assert services.find_kind(path, "export.zip") == "traffic"
    report = services.import_file(project, "traffic", path)
    assert (report["period"], report["packed"]) == ("2026-01-01 to 2026-01-31", "zip (Pages.csv)")
    assert services.import_file(project, "traffic", path, period="2025")["period"] == "2025-01-01 to 2025-12-31"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_an_archive_of_tables_in_utf_16_is_read_with_its_days_and_filters(project, pages, tmp_path, encoding):
    whole = search_console_zip(
        tmp_path / "whole.zip", [(f"{SITE}/a", "1", "10", "10%", "2")], filters=[("Search type", "Image")]
    )
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).decode().encode(encoding))
    assert services.find_kind(path, "export.zip") == "traffic"
    assert "Search type Image" in warnings_of(project, path)
    report = services.import_file(project, "traffic", path)
    assert (report["period"], report["packed"], report["encoding"]) == (
        "2026-01-01 to 2026-01-31", "zip (Pages.csv)", "UTF-16",
    )  # fmt: skip
    assert numbers(project) == {"/a": (1, 10, 2.0)}


def warnings_of(project, path, mapping=None, period=None) -> str:
    looked = preview_file(project, "traffic", path, path.name, mapping, options={"period": str(period or "")})
    return "\n".join(note.text for note in looked.notes if note.warn)


def test_the_preview_says_how_many_pages_may_lose_their_numbers_to_the_file(project, pages, tmp_path):
    path = search_console_zip(tmp_path / "export.zip", [(f"{SITE}/a", "1", "10", "10%", "2")])
    assert warnings_of(project, path) == ""
    load(project, tmp_path, (f"{SITE}/a", "1", "10", "", "2"), (f"{SITE}/b", "1", "10", "", "2"), period=JANUARY)
    load(project, tmp_path, (f"{SITE}/b", "7"), header=("url", "hits"), period=JANUARY)  # of another source
    assert (
        "2 pages have numbers of this source and period (2026-01-01 to 2026-01-31) already. This import replaces"
        in (warnings_of(project, path))
    )
    assert warnings_of(project, path, period=parse_period("2026-02")) == ""
    plain = write(tmp_path / "Pages.csv", PAGES, [(f"{SITE}/a", "1", "10", "", "2")])
    assert "2 pages have numbers" in warnings_of(project, plain, period=parse_period(JANUARY))
    assert "(unknown)" not in warnings_of(project, plain)
    services.import_file(project, "traffic", plain)
    assert "1 page has numbers of this source and period (unknown) already" in warnings_of(project, plain)


def test_the_preview_names_the_days_there_are_where_a_column_tells_them(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "1", "10", "", "2"), period=JANUARY)
    path = write(tmp_path / "days.csv", ("Page", "Date", "Clicks"), [(f"{SITE}/a", "2026-01-02", "1")])
    looked = preview_file(project, "traffic", path, path.name, None)
    assert "There are numbers of Search Console of these days already: 2026-01-01 to 2026-01-31." in [
        note.text for note in looked.notes
    ]


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ([("Search type", "Web"), ("Date", "Last 3 months")], ""),
        ([("Suchtyp", "Web"), ("Datum", "Letzte 3 Monate")], ""),
        ([("Search type", "Image"), ("Date", "Last 3 months")], "Search type Image."),
        ([("Search type", "Web"), ("Date", "Last month"), ("Page", "Containing /blog/")], "Page Containing /blog/."),
        ([("Country", "Germany"), ("Device", "Mobile")], "Country Germany; Device Mobile."),
        ([("Page",), ()], ""),
    ],
)
def test_the_preview_says_which_filters_an_export_was_made_with(project, pages, tmp_path, filters, said):
    path = search_console_zip(tmp_path / "export.zip", [(f"{SITE}/a", "1", "10", "10%", "2")], filters=filters)
    part = "The export was made with a filter, so it holds a part of the site’s numbers: "
    assert warnings_of(project, path) == (f"{part}{said}" if said else "")


def test_the_sample_s_export_is_read_with_its_days(project):
    sample = SAMPLE / "search_console.zip"
    looked = preview_file(project, "traffic", sample, sample.name, None)
    assert "2025-10-18 to 2026-01-17" in " ".join(note.text for note in looked.notes)


@pytest.mark.parametrize(
    ("text", "starts", "ends"),
    [
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("20260105", date(2026, 1, 5), date(2026, 1, 5)),
        ("2026-01-01/2026-03-31", date(2026, 1, 1), date(2026, 3, 31)),
        ("2026/01/01-2026/03/31", date(2026, 1, 1), date(2026, 3, 31)),
        ("2025-11 – 2026-01", date(2025, 11, 1), date(2026, 1, 31)),
        ("1.1.2026 bis 5.1.2026", date(2026, 1, 1), date(2026, 1, 5)),
        ("2025-2026", date(2025, 1, 1), date(2026, 12, 31)),
        ("Jan 2026", date(2026, 1, 1), date(2026, 1, 31)),
    ],
)
def test_periods_are_read_as_people_write_them(text, starts, ends):
    assert parse_period(text) == Period(starts, ends)
    assert parse_period(str(parse_period(text))) == Period(starts, ends)


@given(st.text(max_size=40))
def test_any_text_is_a_period_or_a_value_error(text):
    try:
        period = parse_period(text)
    except ValueError:
        return
    assert period.starts <= period.ends


@pytest.mark.parametrize("text", ["", "soon", "2026-13", "2026-02-30", "2026-03 to 2026-01", "01/02/2026", "2026-01-"])
def test_what_is_no_period_is_refused(project, pages, tmp_path, text):
    with pytest.raises(ValueError):
        parse_period(text)
    if text:
        with pytest.raises(FileError, match="is not a period"):
            load(project, tmp_path, (f"{SITE}/a", "1", "1", "", "1"), period=text)
    assert not TrafficPeriod.objects.exists()


def test_the_database_keeps_one_row_a_page_source_and_period(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "1", "1", "", "1"))
    [period] = TrafficPeriod.objects.all()
    again = {"project": project, "imported_at": period.imported_at, "source": "search_console"}
    wrong = [
        lambda: TrafficPeriod.objects.create(**again),
        lambda: TrafficPeriod.objects.create(**{**again, "source": "hearsay"}),
        lambda: TrafficPeriod.objects.create(**again, starts=date(2026, 1, 2), ends=date(2026, 1, 1)),
        lambda: TrafficPeriod.objects.create(**again, starts=date(2026, 1, 2)),
        lambda: PageTraffic.objects.create(period=period, page=pages["/a"], clicks=1),
        lambda: PageTraffic.objects.create(period=period, page=pages["/b"]),
        lambda: PageTraffic.objects.create(period=period, page=pages["/b"], clicks=-1),
    ]
    for make in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            make()


# --------------------------------------------------------------------------------------------------- files in the wild


@pytest.mark.parametrize(
    ("header", "delimiter", "cells"),
    [
        (("Die häufigsten Seiten", "Klicks", "Impressionen", "CTR", "Position"), ";",
         ("1.204", "24.541", "4,9 %", "3,5")),
        (("Pages les plus populaires", "Clics", "Impressions", "CTR", "Position"), ";",
         ("1\u202f204", "24\u202f541", "4,9 %", "3,5")),
        (("Páginas principales", "Clics", "Impresiones", "CTR", "Posición"), "\t", ("1204", "24541", "4,9%", "3,5")),
        (("Pagine principali", "Clic", "Impressioni", "CTR", "Posizione"), ",", ("1204", "24541", "4,9%", "3,5")),
        (("Principais páginas", "Cliques", "Impressões", "CTR", "Posição"), ",", ("1204", "24541", "4,9%", "3,5")),
        (("Populairste pagina's", "Klikken", "Vertoningen", "CTR", "Positie"), ",", ("1204", "24541", "4,9%", "3,5")),
        (("Najpopularniejsze strony", "Kliknięcia", "Wyświetlenia", "CTR", "Pozycja"), ",",
         ("1204", "24541", "4,9%", "3,5")),
        (("人気のページ", "Clicks", "Impressions", "CTR", "Position"), ",", ("1,204", "24,541", "4.9%", "3.5")),
        (("url", "clicks", "impressions", "ctr", "position"), ",", ("1204", "24541", "0.049", "3.5")),
    ],
)  # fmt: skip
def test_localised_exports_mean_the_same(project, pages, tmp_path, header, delimiter, cells):
    assert registry.kind_of(header).name == "traffic"
    path = tmp_path / "x.csv"
    path.write_text(csv_text(header, [(f"{SITE}/a", *cells)], delimiter), encoding="utf-8-sig")
    services.import_file(project, "traffic", path)
    assert numbers(project) == {"/a": (1204, 24541, 3.5)}


ANALYTICS = """# ----------------------------------------
# Pages and screens: Page path and screen class
# Account: Shop
# Property: Shop - GA4
# ----------------------------------------
#
# All Users
# Start date: 20260101
# End date: 20260131
Nth day,/,/a
0000,3,4
0001,5,6

# Start date: 20260101
# End date: 20260131
Page path and screen class,Views,Active users,Views per active user,Event count
/,"1,234",800,1.54,9000
/a,50,40,1.25,100
/a?utm_source=x,7,6,1.1,10
shop.example/b,3,3,1,9
(not set),11,1,11,12
/gone,20,20,1,20
,"1,325",870,1.5,9251,Grand total

# Start date: 20260101
Country,Views
Germany,1000
"""


def test_a_report_of_google_analytics_counts_hits_by_path(project, pages, tmp_path):
    path = tmp_path / "Pages_and_screens.csv"
    path.write_text(ANALYTICS)
    assert services.find_kind(path, path.name) == "traffic"
    report = services.import_file(project, "traffic", path)
    when = "2026-01-01 to 2026-01-31"
    assert stored(project) == {
        ("/", "analytics", when, None, None, None, 1234),
        ("/a", "analytics", when, None, None, None, 57),
        ("/b", "analytics", when, None, None, None, 3),
    }
    assert report["hits"] == {"in_file": 1325, "on_pages": 1294, "on_unknown": 20, "skipped": 11}
    assert (report["total_rows"], report["other_tables"], report["header_line"]) == (1, 3, 16)
    assert numbers(project) == {}


def test_a_list_of_hits_is_kept_beside_search_console_s_numbers(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "3", "30", "", "2"))
    rows = [(f"{SITE}/a", "100"), (f"{SITE}/a?utm_source=x", "11"), ("Total", "111")]
    report = load(project, tmp_path, *rows, header=("url", "hits"))
    assert (report["traffic_source"], report["total_rows"], report["hits"]["in_file"]) == ("hits", 1, 111)
    assert PageTraffic.objects.get(period__source="hits").hits == 111
    assert numbers(project) == {"/a": (3, 30, 2.0)}


def test_rows_and_cells_that_cannot_be_read_are_listed_and_their_clicks_accounted_for(project, pages, tmp_path):
    report = load(
        project,
        tmp_path,
        (f"{SITE}/a", "1", "many", "", "-4"),
        ("", "2", "1", "", "1"),
        ("no address", "4", "1", "", "1"),
        (f"{SITE}/b", "8", "1"),
        (f"{SITE}/b", "16", "1", "", "1", "more"),
        (f"{SITE}/b", "", "", "", ""),
    )
    assert report["clicks"] == {"in_file": 31, "on_pages": 1, "on_unknown": 0, "skipped": 30}
    listed = list(csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig")))
    assert [(row["line"], row["reason"]) for row in listed] == [
        ("2", REASONS["bad_cell"]),
        ("2", REASONS["out_of_range"]),
        ("3", REASONS["no_address"]),
        ("4", REASONS["bad_address"]),
        ("5", REASONS["bad_width"]),
        ("6", REASONS["bad_width"]),
    ]
    assert numbers(project) == {"/a": (1, None, None)}


def test_more_clicks_than_a_page_can_hold_are_kept_in_full(project, pages, tmp_path):
    rows = [(f"{SITE}/a#{n}", "2000000000", "2000000000", "", "1") for n in range(3)]
    load(project, tmp_path, *rows)
    assert PageTraffic.objects.get().clicks == 6_000_000_000
    assert numbers(project) == {"/a": (2**31 - 1, 2**31 - 1, 1.0)}


def test_a_file_without_a_row_of_a_page_is_refused_and_takes_nothing_away(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", "1", "1", "", "1"))
    with pytest.raises(
        ImportStopped, match=r"no row is traffic of a page of .* Line 2: the address is not a page"
    ) as stopped:
        load(project, tmp_path, (f"{SITE}/nowhere", "7", "1", "", "1"))
    assert stopped.value.report["clicks"] == {"in_file": 7, "on_pages": 0, "on_unknown": 7, "skipped": 0}
    with pytest.raises(FileError, match="Import the pages first, then their traffic"):
        load(make_project("empty"), tmp_path, (f"{SITE}/a", "1", "1", "", "1"))
    assert numbers(project) == {"/a": (1, 1, 1.0)}


def test_projects_do_not_see_each_other_s_traffic(project, pages, tmp_path):
    other = make_project("other", base_url=SITE)
    make_page(other, f"{SITE}/a")
    load(other, tmp_path, (f"{SITE}/a", "1", "1", "", "1"))
    load(project, tmp_path, (f"{SITE}/b", "2", "2", "", "2"))
    assert (numbers(other), numbers(project)) == ({"/a": (1, 1, 1.0)}, {"/b": (2, 2, 2.0)})


def test_a_file_of_traffic_is_not_taken_for_one_of_pages(project, pages, tmp_path):
    before = everything_else(project)
    path = write(tmp_path / "Pages.csv", PAGES, [(f"{SITE}/a", "1", "1", "", "1")])
    with pytest.raises(FileError, match="file of traffic, not of pages: import it as traffic"):
        services.import_file(project, "pages", path)
    with pytest.raises(FileError, match="No column with clicks, impressions, positions or hits"):
        services.import_file(project, "traffic", write_pages(tmp_path / "c.csv", "/a"))
    assert everything_else(project) == before


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        (PAGES, "traffic"),
        (("url", "hits"), "traffic"),
        (("Page path and screen class", "Page title", "Views"), "traffic"),
        (("Address", "Title 1", "Clicks", "Impressions"), "pages"),
        (("Address", "Status Code", "Clicks"), "pages"),
        (("Address", "Extract embeddings from page content"), "pages"),
        (("Seite", "Titel", "Klicks"), "pages"),
        (("page", "query", "clicks"), "queries"),
        (("Top queries", "Clicks", "Impressions", "CTR", "Position"), "queries"),
    ],
)
def test_kinds_are_told_by_the_columns(header, kind):
    assert registry.kind_of(header).name == kind


# ------------------------------------------------------------------------------------------------------- crawls

CRAWL = (
    *("Address", "Status Code", "Indexability", "Title 1", "Canonical Link Element 1", "Breadcrumb", "Clicks"),
    *("Impressions", "Position"),
)
CRAWLED = [
    (f"{SITE}/b?utm_source=news", "200", "Indexable", "News", f"{SITE}/b", "A > B", "3", "30", "4"),
    (f"{SITE}/b", "200", "Indexable", "The page", f"{SITE}/b", "A > B", "10", "10", "2"),
    (f"{SITE}/b#top", "200", "Indexable", "Top", f"{SITE}/b", "A > C", "1", "", ""),
    (f"{SITE}/c", "404", "Non-Indexable", "Gone", "", "", "", "", ""),
    (f"{SITE}/c?gclid=1", "200", "Indexable", "Found", "", "X", "2", "20", "1"),
    (f"{SITE}/d#1", "200", "Non-Indexable", "Noindex", "", "", "", "", ""),
    (f"{SITE}/d#2", "200", "Indexable", "Indexable", "", "", "", "", ""),
    (f"{SITE}/e#1", "200", "Indexable", "Elsewhere", f"{SITE}/b", "", "", "", ""),
    (f"{SITE}/e#2", "200", "Indexable", "Its own", f"{SITE}/e#9", "", "", "", ""),
    (f"{SITE}/f#1", "200", "Indexable", "One", "", "P", "5", "5", "5"),
    (f"{SITE}/f#1", "200", "Indexable", "One", "", "Q", "5", "5", "5"),
    (f"{SITE}/f#1", "200", "Indexable", "Two", "", "Q", "5", "5", "5"),
    (f"{SITE}/old", "301", "Non-Indexable", "", "", "", "7", "70", "3"),
]


def crawled(project) -> set[tuple]:
    columns = ("url", "title", "status_code", "indexable", "category__path", "clicks", "impressions", "position")
    return {tuple(map(str, row)) for row in Page.objects.filter(project=project).values_list(*columns)}


def test_the_best_row_of_a_crawl_s_several_stands_for_the_page_and_their_clicks_add_up(project, tmp_path):
    path = write(tmp_path / "crawl.csv", CRAWL, CRAWLED)
    report = services.import_file(project, "pages", path, skipped_file=tmp_path / "skipped.csv")
    titles = dict(Page.objects.values_list("canonical_url", "title"))
    assert [titles[f"{SITE}/{name}"] for name in "bcde"] == ["The page", "Found", "Indexable", "Its own"]
    urls = dict(Page.objects.values_list("canonical_url", "url"))
    assert (urls[f"{SITE}/b"], urls[f"{SITE}/c"]) == (f"{SITE}/b", f"{SITE}/c?gclid=1")
    assert numbers(project)["/b"] == (14, 40, 3.5)
    assert numbers(project)["/f"] == (5, 5, 5.0)  # a row that repeats another's address and numbers
    assert report["duplicates"] == 7
    listed = list(csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig")))
    assert {row["reason"] for row in listed} == {REASONS["duplicate"]}
    assert {row["line"] for row in listed} > {"2", "4", "5", "7", "9"}
    assert {row[1] for row in stored(project)} == {"crawl"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("known", "crawled", "kept"),
    [
        (("/b", 200), ("/b?utm_source=news", 200), "/b"),
        (("/b", 200), ("/b#top", 200), "/b"),
        (("/b?utm_source=news", 200), ("/b#top", 200), "/b#top"),
        (("/b?utm_source=news", 200), ("/b?utm_source=a-longer-one", 200), "/b?utm_source=news"),
        (("/b?utm_source=news", 200), ("/b", 200), "/b"),
        (("/b?utm_source=news", 200), ("/b", 404), "/b"),
        (("/b", 301), ("/b?utm_source=news", 200), "/b?utm_source=news"),
    ],
)
def test_a_later_crawl_replaces_an_address_only_by_one_as_clean(project, tmp_path, known, crawled, kept):
    for n, (address, status) in enumerate((known, crawled)):
        rows = [(f"{SITE}{address}", str(status), f"Title {n}")]
        services.import_file(project, "pages", write(tmp_path / "c.csv", ("Address", "Status Code", "Title 1"), rows))
    page = Page.objects.get()
    title = "Title 1" if crawled[1] == 200 else "Title 0"  # an error has no title of the page
    assert (page.url, page.title, page.status_code) == (f"{SITE}{kept}", title, crawled[1])


@pytest.mark.nightly
@tried(25)
@given(st.permutations(CRAWLED), st.booleans())
def test_the_order_of_a_crawl_says_nothing(project, tmp_path, rows, is_known):
    def load_crawl(some):
        if is_known:
            make_page(project, f"{SITE}/b")
        services.import_file(project, "pages", write(tmp_path / "crawl.csv", CRAWL, some))
        return crawled(project), stored(project)

    with undone():
        expected = load_crawl(CRAWLED)
    with undone():
        assert load_crawl(rows) == expected


@pytest.mark.nightly
def test_a_redirect_s_clicks_in_a_crawl_go_where_it_leads(project, tmp_path):
    header = ("Address", "Status Code", "Title 1", "Redirect URL", "Clicks", "Impressions", "Position")
    rows = [
        (f"{SITE}/new", "200", "New", "", "1", "10", "2"),
        (f"{SITE}/old", "301", "", f"{SITE}/new", "3", "30", "4"),
    ]
    path = write(tmp_path / "c.csv", header, rows)
    services.import_file(project, "pages", path)
    assert numbers(project) == {"/new": (4, 40, 3.5)}
    before = list(PageTraffic.objects.values())
    services.import_file(project, "pages", path)
    assert (numbers(project), list(PageTraffic.objects.values())) == ({"/new": (4, 40, 3.5)}, before)


@pytest.mark.nightly
def test_a_later_crawl_with_search_console_replaces_its_own_numbers_alone(project, tmp_path):
    def crawl(*rows):
        return services.import_file(project, "pages", write(tmp_path / "c.csv", ("Address", "Title 1", "Clicks"), rows))

    crawl((f"{SITE}/a", "A", "1"), (f"{SITE}/b", "B", "2"), (f"{SITE}/c", "C", ""))
    assert numbers(project) == {"/a": (1, None, None), "/b": (2, None, None)}
    load(project, tmp_path, (f"{SITE}/a", "100", "1000", "", "2"), period=JANUARY)
    assert numbers(project) == {"/a": (100, 1000, 2.0), "/b": (2, None, None)}
    services.import_file(project, "pages", write_pages(tmp_path / "d.csv", "/a", "/b", "/c"))  # not a word of clicks
    assert numbers(project) == {"/a": (100, 1000, 2.0), "/b": (2, None, None)}
    report = crawl((f"{SITE}/a", "A", "5"), (f"{SITE}/b", "B", ""), (f"{SITE}/c", "C", "6"))
    assert report["page_traffic"] == {"pages": 2, "new": 1, "updated": 1, "unchanged": 0, "gone": 1}
    assert numbers(project) == {"/a": (5, None, None), "/c": (6, None, None)}  # the source imported last comes first
    assert stored(project) == {
        ("/a", "search_console", "2026-01-01 to 2026-01-31", 100, 1000, 2.0, None),
        ("/a", "crawl", "unknown period", 5, None, None, None),
        ("/c", "crawl", "unknown period", 6, None, None, None),
    }


@pytest.mark.nightly
def test_a_file_of_vectors_touches_neither_addresses_nor_categories_nor_what_is_missing(project, tmp_path):
    services.import_file(project, "pages", write_pages(tmp_path / "a.csv", *[f"/{n}" for n in range(10)]))
    services.import_file(project, "pages", write_pages(tmp_path / "b.csv", *[f"/{n}" for n in range(9)]))
    make_page(project, "/deep/down/page")
    pages, categories, _ = everything_else(project)
    vector = ",".join(map(str, range(1, 61)))
    rows = [(f"{SITE}/{path}?utm_source=x", vector) for path in ("0", "9", "deep/down/page")]
    report = services.import_file(project, "pages", write(tmp_path / "v.csv", ("Address", "Vector"), rows))
    assert everything_else(project)[:2] == (pages, categories)
    assert PageEmbedding.objects.count() == 3
    assert (report["new"], report["updated"], report["unchanged"], report["categories"]) == (0, 0, 3, 0)


# --------------------------------------------------------------------------------------------------- in the browser


def upload(project, client, name, text, **fields):
    file = SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode())
    answer = client.post(reverse("import", args=["shop"]), {"file": file, **fields})
    assert answer.status_code == 302, answer.text
    return Upload.objects.latest("pk")


@pytest.mark.parametrize("kind", ["", "pages", "traffic"])
def test_traffic_handed_in_as_pages_is_shown_as_traffic(project, pages, manager, client_for, kind):
    client = client_for(manager)
    one = upload(project, client, "Pages.csv", csv_text(PAGES, [(f"{SITE}/a", "1", "1", "", "1")]), kind=kind)
    assert one.kind == "traffic"
    text = client.get(reverse("import_preview", args=["shop", one.pk])).text
    assert "Read as <strong>traffic</strong>" in text
    assert "does not name its period" in text
    assert "allow_shrink" not in text


def days_from(first, count):
    return [str(first + timedelta(days=n)) for n in range(count)]


@pytest.mark.nightly
def test_the_days_of_search_consoles_chart_are_read_up_to_two_thousand(project, pages, tmp_path):
    rows = [(f"{SITE}/a", "1", "10", "10%", "2")]
    most = days_from(date(2020, 1, 1), 2_000)
    path = search_console_zip(tmp_path / "most.zip", rows, days=most)
    assert services.import_file(project, "traffic", path)["period"] == f"2020-01-01 to {most[-1]}"
    path = search_console_zip(tmp_path / "more.zip", rows, days=days_from(date(2020, 1, 1), 2_001))
    assert "The file does not name its period. Write it below" in warnings_of(project, path)
    assert services.import_file(project, "traffic", path)["period"] == ""


def test_a_chart_alone_is_known_and_not_imported(project, pages, tmp_path):
    path = write(
        tmp_path / "Chart.csv",
        ("Date", *PAGES[1:]),
        [(day, "1", "2", "50%", "3") for day in days_from(date(2026, 1, 1), 90)],
    )
    looked = preview_file(project, "traffic", path, "Chart.csv", None)
    assert looked.known.key == "console_dates"
    with pytest.raises(FileError, match="names no pages"):
        services.import_file(project, "traffic", path)
    assert not TrafficPeriod.objects.exists()


LONG = "The period 2006-01-01 to 2026-01-31 has 7,336 days, and 2,000 are the most. Look for a wrong year"


@pytest.mark.parametrize(
    ("told", "rows", "header"),
    [
        ({"period": "2006-01-01 to 2026-01-31"}, [("/a", "1")], ("url", "hits")),
        ({}, [("/a", "1", "2006-01-01"), ("/b", "1", "2026-01-31")], ("url", "hits", "Date")),
    ],
)
def test_a_period_of_more_than_two_thousand_days_is_refused(project, pages, tmp_path, told, rows, header):
    with pytest.raises((FileError, ImportStopped), match=LONG):
        load(project, tmp_path, *rows, header=header, **told)
    assert not TrafficPeriod.objects.exists()
    assert not numbers(project)


def test_a_chart_that_spans_too_many_days_is_refused_in_the_preview_and_by_the_import(project, pages, tmp_path):
    path = search_console_zip(
        tmp_path / "export.zip", [(f"{SITE}/a", "1", "10", "10%", "2")], days=("2006-01-01", "2026-01-31")
    )
    assert LONG in warnings_of(project, path)
    with pytest.raises(ImportStopped, match=LONG):
        services.import_file(project, "traffic", path)
    assert services.import_file(project, "traffic", path, period=JANUARY)["period"] == "2026-01-01 to 2026-01-31"


def test_the_preview_refuses_a_written_period_that_is_too_long(project, pages, manager, client_for):
    client = client_for(manager)
    one = upload(project, client, "Pages.csv", csv_text(PAGES, [(f"{SITE}/a", "1", "10", "", "2")]))
    written = {"url": '["Top pages"]', "clicks": '["Clicks"]', "period": "2006-01-01 to 2026-01-31", "action": "start"}
    assert LONG in client.post(reverse("import_preview", args=["shop", one.pk]), written).text
    assert not Run.objects.exists()


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_confirming_imports_the_traffic_of_the_period_written(project, pages, manager, client_for, run_jobs, tmp_path):
    client = client_for(manager)
    one = upload(project, client, "Pages.csv", csv_text(PAGES, [(f"{SITE}/a", "1", "10", "", "2")]))
    address = reverse("import_preview", args=["shop", one.pk])
    load(project, tmp_path, (f"{SITE}/b", "1", "10", "", "2"), period=JANUARY)
    written = {"url": '["Top pages"]', "clicks": '["Clicks"]', "period": "2026-01", "action": "preview"}
    assert "1 page has numbers of this source and period (2026-01-01 to 2026-01-31) already" in (
        client.post(address, written).text
    )
    refused = client.post(
        address, {"url": '["Top pages"]', "clicks": '["Clicks"]', "period": "soon", "action": "start"}
    )
    assert "This is not a period" in refused.text
    assert not Run.objects.exists()
    choice = {"url": '["Top pages"]', "clicks": '["Clicks"]', "impressions": '["Impressions"]', "period": "2026-01"}
    client.post(address, {**choice, "action": "start"})
    run_jobs()
    run = Run.objects.get()
    assert (run.kind, run.status, run.params["period"]) == (
        "import_traffic", RunStatus.SUCCEEDED, "2026-01-01 to 2026-01-31",
    )  # fmt: skip
    assert numbers(project) == {"/a": (1, 10, None)}
    report = client.get(reverse("run", args=["shop", run.pk])).text
    for words in (
        "Clicks: on pages",
        "Search Console",
        "2026-01-01 to 2026-01-31",
    ):
        assert words in report
    assert "Import traffic" in client.get(reverse("import", args=["shop"])).text
    page = client.get(reverse("page", args=["shop", pages["/a"].pk])).text
    assert "2026-01-01 to 2026-01-31" in page
    assert "10.0 %" in page
