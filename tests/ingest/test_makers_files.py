"""Files as their makers write them in the languages of their interfaces: every number goes where it belongs."""

from __future__ import annotations

import gzip

import pytest

from ingest.errors import UnusableFile
from ingest.files.peek import Columns, columns_of, start_of
from ingest.formats import recognise
from ingest.kinds import registry
from ingest.kinds.traffic.fields import traffic_source
from ingest.preview import preview_file
from ingest.sources.file import FileSource
from linker.models import TrafficSource
from tests.factories import make_project

# The first lines of Search Console's table of pages, as exports that people have published have them.
CONSOLE = {
    "English": "Top pages,Clicks,Impressions,CTR,Position",
    "German": "Die häufigsten Seiten,Klicks,Impressionen,CTR,Position",
    "French": "Pages les plus populaires,Clics,Impressions,CTR,Position",
    "Spanish": "Páginas principales,Clics,Impresiones,CTR,Posición",
    "Italian": "Pagine principali,Clic,Impressioni,CTR,Posizione",
    "Portuguese": "Páginas principais,Cliques,Impressões,CTR,Posição",
    "Dutch": "Populairste pagina's,Klikken,Vertoningen,CTR,Positie",
    "Polish": "Najpopularniejsze strony,Kliknięcia,Wyświetlenia,CTR,Pozycja",
    "Japanese": "上位のページ,クリック数,表示回数,CTR,掲載順位",
    "Russian": "Самые популярные страницы,Клики,Показы,CTR,Позиция",
    "Chinese": "排名靠前的网页,点击次数,展示,点击率,排名",
    "Korean, whose names are not known": "인기 페이지,클릭수,노출수,클릭률,평균 게재순위",
}
ROWS = [
    ("https://shop.example/a", "1,234", "24 541", "5.03%", "4.2"),
    ("https://shop.example/b", "3", "40", "7,5 %", "12,25"),
]


def guess(kind: str, header: tuple[str, ...], rows=()):
    return registry.get(kind).guess(header, rows)


@pytest.mark.parametrize("language", CONSOLE)
def test_search_console_is_read_in_every_language(language):
    header = tuple(CONSOLE[language].split(","))
    known = recognise.of_columns(Columns("Pages.csv", header, ROWS))
    assert (known.key, known.kind) == ("console_pages", "traffic")
    found = guess("traffic", header, ROWS)
    assert [found[field] for field in ("url", "clicks", "impressions", "position")] == [
        [header[0]], [header[1]], [header[2]], [header[4]],
    ]  # fmt: skip
    assert traffic_source(found) == TrafficSource.SEARCH_CONSOLE


def test_numbers_of_another_order_are_not_taken_for_clicks():
    header = ("인기 페이지", "a", "b", "c", "d")
    for rows in (
        [("https://shop.example/a", "7", "5%", "40", "4.2")],
        [("https://shop.example/a", "x", "1", "5%", "2")],
    ):
        assert recognise.of_columns(Columns("a.csv", header, rows)) is None
        assert set(guess("traffic", header, rows)) == {"url"}


@pytest.mark.parametrize(
    ("header", "hits"),
    [
        ("pagePath,sessions,screenPageViews,activeUsers", "screenPageViews"),
        ("unifiedPagePathScreen,date,screenPageViews", "screenPageViews"),
        ("pagePathPlusQueryString,sessions", "sessions"),
        ("Page path and screen class,Active users,Sessions,Views", "Views"),
        ("Seitenpfad und Bildschirmklasse,Aktive Nutzer,Aufrufe", "Aufrufe"),
        ("Путь к странице и класс экрана,Сеансы,Просмотры", "Просмотры"),
        ("网页路径和屏幕类,浏览次数,活跃用户", "浏览次数"),
        ("ページ パスとスクリーン クラス,表示回数,アクティブ ユーザー", "表示回数"),
        ("Ścieżka strony i klasa ekranu,Wyświetlenia,Aktywni użytkownicy", "Wyświetlenia"),
    ],
)
def test_views_come_before_sessions_and_users_of_analytics(header, hits):
    columns = tuple(header.split(","))
    known = recognise.of_columns(Columns("report.csv", columns, [("/a", *"9" * (len(columns) - 1))]))
    assert known.key == "analytics_table"
    found = guess("traffic", columns)
    assert (found["url"], found["hits"]) == ([columns[0]], [hits])
    assert "impressions" not in found
    assert traffic_source(found) == TrafficSource.ANALYTICS


def test_columns_that_name_their_period_are_all_taken():
    header = ("url", "clicks_3m", "impressions_3m", "ctr_3m", "position_3m", "clicks_12m")
    assert guess("traffic", header) == {
        "url": ["url"], "clicks": ["clicks_3m"], "impressions": ["impressions_3m"], "position": ["position_3m"],
    }  # fmt: skip
    exact = ("url", "clicks_3m", "Clicks", "Impressions last 28 days")
    assert guess("traffic", exact) == {
        "url": ["url"], "clicks": ["Clicks"], "impressions": ["Impressions last 28 days"],
    }  # fmt: skip


def test_a_crawl_in_a_language_that_is_not_known_is_read_by_its_values():
    header = (
        "アドレス",
        "コンテンツ タイプ",
        "コード",
        "状態",
        "タイトル 1",
        "文字数",
        "ピクセル",
        "説明 1",
        "説明の文字数",
        "H1-1",
    )
    rows = [
        ("https://shop.example/a", "text/html; charset=utf-8", "200", "OK", "テント", "3", "9", "軽い", "2", "Tents"),
        ("https://shop.example/b", "text/html", "301", "Moved", "Stoves", "6", "88", "", "0", "Stoves"),
        ("https://shop.example/c", "text/css", "200", "OK", "", "0", "0", "Small stoves", "12", ""),
    ]  # fmt: skip
    found = guess("pages", header, rows)
    wanted = {"url": 0, "content_type": 1, "status_code": 2, "title": 4, "description": 7, "h1": 9}
    assert {field: columns for field, columns in found.items() if field in wanted} == {
        field: [header[place]] for field, place in wanted.items()
    }


@pytest.mark.parametrize(
    "text",
    [
        "Path,URLs,% of Total,Indexable,Non-Indexable\nshop.example,120,100,90,30\n> tents,40,33.3,40,0\n",
        "Chemin,URL,% du total\nshop.example,120,100\n",
    ],
)
def test_a_tree_of_folders_is_refused_with_what_to_export_instead(tmp_path, text):
    path = tmp_path / "structure.csv"
    path.write_text(text)
    known = recognise.of_columns(columns_of(start_of(path, path.name)))
    assert known.key == "frog_tree"
    assert not known.kind
    assert "internal_html.csv" in known.text


@pytest.mark.parametrize("warns", [False, True])
def test_only_a_table_that_its_maker_ends_with_a_line_break_is_doubted_without_one(tmp_path, warns):
    path = tmp_path / "Pages.csv"
    more = ",mine" if warns else ""
    path.write_text(f"{CONSOLE['English']}{more}\nhttps://shop.example/a,1,2,50%,4.2{',x' if warns else ''}")
    source = FileSource.open(path, path.name, kind="traffic", known_columns=registry.known_columns(), preferred=())
    assert len(list(source)) == 1
    assert [bool(source.warnings()), "open_line" in source.describe()] == [warns, warns]


@pytest.mark.parametrize(
    ("content", "key", "button"),
    [
        (b"<urlset><url><loc>https://shop.example/</loc></url></urlset>", "sitemap", "add a Sitemap"),
        (gzip.compress(b"<urlset/>", mtime=0), "sitemap", "add a Sitemap"),
        (b"<sitemapindex/>", "sitemap_index", "add a Sitemap"),
        (b"<rss><channel/></rss>", "feed", "add a Sitemap"),
        (b"<rss xmlns:wp='http://wordpress.org/export/1.2/'><wp:a/></rss>", "wordpress", "add WordPress"),
        (b"<!doctype html><title>Sign in</title>", "html", "add a Crawl of the site"),
        (b"https://shop.example/a\nhttps://shop.example/b\n", "bare_list", "add a Sitemap"),
    ],
)
def test_what_a_source_reads_is_refused_with_the_page_that_takes_it(tmp_path, content, key, button):
    path = tmp_path / "upload"
    path.write_bytes(content)
    known = recognise.of_start(start_of(path, path.name))
    assert known.key == key
    assert f"pen Sources, {button}" in known.text or f"pen sources and {button}".lower() in known.text.lower()


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (b"SQLite format 3\0" + bytes(90), "database"),
        (b"PAR1" + bytes(90), "columnar"),
        (b"\0\0\0\x20ftypisom" + bytes(90), "media"),
        (b"%PDF-1.7", "pdf"),
        (b"\x89PNG\r\n\x1a\n" + bytes(90), "image"),
    ],
)
def test_a_binary_file_is_called_what_it_is(tmp_path, content, key):
    path = tmp_path / "pages.csv"
    path.write_bytes(content)
    assert recognise.of_start(start_of(path, path.name)).key == key


@pytest.mark.django_db
def test_a_binary_file_of_any_kind_is_not_asked_to_be_saved_as_utf_8(tmp_path):
    path = tmp_path / "pages.csv"
    path.write_bytes(b"\xf3\x07own\x01" + bytes(range(1, 256)) * 20)
    with pytest.raises(UnusableFile, match="binary file, such as") as told:
        preview_file(make_project("shop"), "pages", path, path.name, None)
    assert "UTF-8" not in str(told.value)
