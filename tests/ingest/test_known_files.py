"""Files that people hand in are known by what is in them, whatever they are called, and told what they are for."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ingest import services
from ingest.asked_from import the_command_line
from ingest.errors import FileError
from ingest.fields import skipped
from ingest.files import peek
from ingest.formats import recognise
from ingest.formats.known_file import KnownFileError
from ingest.formats.known_files import FILES
from ingest.models import Upload
from ingest.preview import FilePreview, preview_file
from ingest.web import source_links
from linker.models import Project, Run
from review.models import ReleaseFormat
from review.queue import sheet_out
from review.releases.columns import COLUMNS
from tests.factories import make_page
from tests.ingest.files import LINK_HEADER, SITE, csv_text, link
from tests.ingest.test_import_pages import choices, upload_of
from tests.markup import compact

INTERNAL = {
    "English": (
        *("Address", "Content Type", "Status Code", "Status", "Indexability", "Indexability Status", "Title 1"),
        *("Title 1 Length", "Meta Description 1", "H1-1", "H2-1", "Canonical Link Element 1", "Word Count"),
        *("Crawl Depth", "Inlinks", "Redirect URL", "URL Encoded Address"),
    ),
    "French": (
        *("Adresse", "Type de contenu", "Code HTTP", "Statut", "Indexabilité", "Statut d'indexabilité", "Title 1"),
        *("Longueur du Title 1", "Meta Description 1", "H1-1", "H2-1", "Élément de lien en version canonique 1"),
        *("Nombre de mots", "Crawl profondeur", "Liens entrants", "URL de redirection"),
    ),
    "German": (
        *("Adresse", "Inhaltstyp", "Status-Code", "Status", "Indexierbarkeit", "Indexierbarkeitsstatus", "Titel 1"),
        *("Meta-Beschreibung 1", "H1-1", "H2-1", "Canonical-Link-Element 1", "Wortanzahl", "Crawl-Tiefe"),
    ),
    "Spanish": (
        *("Dirección", "Tipo de contenido", "Código de respuesta", "Respuesta", "Indexabilidad"),
        *("Estado de indexabilidad", "Título 1", "Meta description 1", "H1-1", "Elemento de enlace canónico 1"),
        *("Recuento de palabras", "Nivel de profundidad", "URL de redirección"),
    ),
    "Italian": (
        *("Indirizzo", "Tipo di contenuto", "Codice di stato", "Stato", "Indicizzabilità", "Titolo 1"),
        *("Meta description 1", "H1-1", "H2-1", "Elemento di link canonical 1", "Conteggio delle parole"),
    ),
}
CONSOLE = {
    "English": ("Clicks", "Impressions", "CTR", "Position"),
    "French": ("Clics", "Impressions", "Taux de clics", "Position"),
    "German": ("Klicks", "Impressionen", "CTR", "Position"),
    "Spanish": ("Clics", "Impresiones", "CTR", "Posición"),
    "Italian": ("Clic", "Impressioni", "CTR", "Posizione"),
    "Dutch": ("Klikken", "Vertoningen", "CTR", "Positie"),
    "Polish": ("Kliknięcia", "Wyświetlenia", "CTR", "Pozycja"),
}
NUMBERS = ("120", "3400", "3.53%", "4.2")
PAGE = f"{SITE}/tents/"
LOG = '192.0.2.7 - - [12/Mar/2026:06:25:24 +0100] "GET /tents/ HTTP/1.1" 200 5120'
AGENT = ' "https://search.example/" "Mozilla/5.0 (compatible; Examplebot/2.1)"'


def row(header, **cells) -> list[str]:
    return [cells.get(name, "") for name in header]


def table(header, *rows, delimiter=",") -> bytes:
    return csv_text(header, rows or [[PAGE] + ["1"] * (len(header) - 1)], delimiter).encode("utf-8-sig")


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return out.getvalue()


FROG_TABS = {
    "frog_titles": ("Address", "Occurrences", "Title 1", "Title 1 Length", "Indexability", "Indexability Status"),
    "frog_descriptions": ("Address", "Occurrences", "Meta Description 1", "Indexability", "Indexability Status"),
    "frog_headings": ("Address", "Occurrences", "H1-1", "H1-1 Length", "Indexability", "Indexability Status"),
    "frog_canonicals": ("Address", "Occurrences", "Indexability", "Canonical Link Element 1", "Meta Robots 1"),
    "frog_directives": ("Address", "Occurrences", "Meta Robots 1", "X-Robots-Tag 1"),
    "frog_responses": ("Address", "Content Type", "Status Code", "Status", "Indexability", "Inlinks", "Redirect URL"),
    "frog_external": ("Address", "Content Type", "Status Code", "Status", "Crawl Depth", "Inlinks"),
    "frog_images": ("Address", "Content Type", "Size (Bytes)", "IMG Inlinks", "Indexability", "Indexability Status"),
    "frog_hreflang": ("Address", "Title 1", "Occurrences", "HTML hreflang 1", "HTML hreflang 1 URL", "Indexability"),
    "frog_structured_data": ("Address", "Errors", "Warnings", "Total Types", "Unique Types", "Type-1"),
    "frog_extraction": ("Address", "Status Code", "Status", "Author 1", "Price 1", "Price 2"),
    "frog_search": ("Address", "Content Type", "Status Code", "Contains: tents", "Does Not Contain: stoves"),
    "frog_duplicates": ("Address", "Near Duplicate Address", "Similarity", "Indexability", "Indexability Status"),
    "frog_tab": ("Address", "Content Type", "Status Code", "Status", "Indexability", "Indexability Status"),
    "frog_segments": ("Segment", "URLs", "% of Total", "Issues"),
    "frog_issues": ("Issue Name", "Issue Type", "Issue Priority", "URLs", "% of Total", "Description", "How To Fix"),
    "frog_speed": ("Address", "Performance Score", "Largest Contentful Paint Time (ms)", "Status Code"),
    "frog_search_console": ("Address", "Status Code", "Clicks", "Impressions", "CTR", "Position"),
    "frog_analytics": ("Address", "Status Code", "GA4 Sessions", "GA4 Views"),
    "frog_redirects": (
        *("Chain Type", "Number of Redirects", "Loop", "Temp Redirect in Chain", "Source", "Alt Text", "Anchor Text"),
        *("Link Path", "Link Position", "Address", "Final Address", "Redirect Type 1", "Redirect URL 1"),
    ),
}
TOOLS = {
    "shopify_customers": ("First Name", "Last Name", "Email", "Accepts Email Marketing", "Total Spent", "Total Orders"),
    "shopify_orders": ("Name", "Email", "Financial Status", "Paid at", "Fulfillment Status", "Lineitem name"),
    "woocommerce_products": (
        "ID",
        "Type",
        "SKU",
        "Name",
        "Published",
        "Short description",
        "Description",
        "Regular price",
    ),
    "backlinks_ahrefs": (
        *("Referring page title", "Referring page URL", "Domain rating", "UR", "Target URL", "Left context", "Anchor"),
        *("Right context", "Type", "Nofollow"),
    ),
    "backlinks_semrush": (
        "Page ascore",
        "Source title",
        "Source url",
        "Target url",
        "Anchor",
        "Nofollow",
        "First seen",
    ),
    "backlinks_majestic": (
        "TargetURL",
        "SourceURL",
        "AnchorText",
        "SourceTrustFlow",
        "SourceCitationFlow",
        "FlagNoFollow",
    ),
    "backlinks_sistrix": ("Link source", "Link target", "Link text", "First seen"),
    "backlinks_moz": ("URL", "Title", "Anchor Text", "Spam Score", "PA", "DA", "Target URL", "Link Type"),
    "best_pages_ahrefs": ("URL", "Current traffic", "Traffic change", "Current top keyword", "Referring domains"),
    "best_pages_semrush": ("URL", "Traffic (%)", "Number of Keywords", "Traffic"),
    "best_pages_sistrix": ("URL", "Visibility Index", "Keywords"),
    "best_pages_majestic": ("URL", "TrustFlow", "CitationFlow", "RefDomains"),
    "best_pages_moz": ("URL", "Page Authority", "Linking Domains", "HTTP Status Code"),
    "rankings_ahrefs": ("Keyword", "Country", "Volume", "KD", "Current position", "Current URL"),
    "rankings_semrush": ("Keyword", "Position", "Search Volume", "Keyword Difficulty", "CPC", "URL", "Traffic"),
    "rankings_sistrix": ("Keyword", "Position", "URL", "Suchvolumen"),
    "own_export": ("donor_url", "anchor_text", "acceptor_url"),
    "own_release": COLUMNS[ReleaseFormat.FULL],
    "own_held_back": ("donor_url", "acceptor_url", "anchor_text", "reason", "detail", "operation", "status"),
    "own_review": sheet_out.COLUMNS,
    "own_skipped": skipped.COLUMNS,
    "own_copies": ("group_number", "group_kind", "kind", "stands_for_group", "address", "title"),
    "own_faulty_links": source_links.HEADER,
    "similar_pairs": ("Source URL", "Target URL", "Similarity Score"),
    "joil_anchors": ("url", "query", "importance"),
    "joil_links": ("url", "target_url"),
    "console_page_query": ("query", "page", "clicks", "impressions", "ctr", "position"),
    "console_links": ("Target page", "Incoming links", "Linking sites"),
    "analytics_table": ("Page path and screen class", "Views", "Active users"),
}
BEGINNINGS = {
    "log_combined": f"{LOG}{AGENT}\n".encode() * 5,
    "log_combined (common)": f"{LOG}\n".encode() * 5,
    "log_combined (host first)": f"www.shop.example {LOG}{AGENT} 0.012\n".encode() * 5,
    "log_combined (gzip)": gzip.compress(f"{LOG}{AGENT}\n".encode() * 5000, mtime=0),
    "log_combined (zip)": zipped(**{"logs/access.log": f"{LOG}{AGENT}\n".encode() * 50}),
    "log_iis": b"#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Fields: date time s-ip "
    b"cs-method cs-uri-stem cs-uri-query sc-status\r\n2026-03-12 06:25:24 192.0.2.1 GET /tents/ - 200\r\n",
    "log_cloudfront": b"#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs-uri-stem\n"
    b"2026-03-12\t06:25:24\tFRA2\t5120\t192.0.2.7\tGET\t/tents/\n",
    "log_balancer": b"https 2026-03-12T06:25:24.000000Z app/web/5 192.0.2.7:2817 10.0.0.1:80 0.0 0.1 0.0 200 200 34 "
    b'366 "GET https://shop.example:443/tents/ HTTP/2.0" "agent" - -\n' * 3,
    "log_json": b'{"ClientRequestURI":"/tents/","EdgeResponseStatus":200,"ClientRequestUserAgent":"x"}\n' * 4,
    "sitemap": b'<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by a plugin -->\n<urlset xmlns="http://www.sitemaps.org/'
    b'schemas/sitemap/0.9"><url><loc>https://shop.example/</loc></url></urlset>',
    "sitemap (gzip)": gzip.compress(b"<urlset><url><loc>https://shop.example/</loc></url></urlset>", mtime=0),
    "sitemap_index": b'<?xml version="1.0"?><sitemapindex><sitemap><loc>https://shop.example/a.xml</loc></sitemap>'
    b"</sitemapindex>",
    "wordpress": b'<?xml version="1.0"?><!-- an export --><rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/">'
    b"<channel><wp:wxr_version>1.2</wp:wxr_version></channel></rss>",
    "feed": b'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title></channel></rss>',
    "xml": b'<?xml version="1.0"?><products><product/></products>',
    "html": b"\n<!DOCTYPE html><title>Sign in</title>",
    "html (bare)": b"<html><body>Sign in</body></html>",
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
    "image": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image (vector)": b'<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    "excel": zipped(**{"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook/>"}),
    "old_excel": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
    "open_document": zipped(mimetype=b"application/vnd.oasis.opendocument.spreadsheet", **{"content.xml": b"<x/>"}),
    "office": zipped(**{"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<x/>"}),
    "google_shortcut": b'{"url": "https://docs.google.com/open?id=1", "doc_id": "1", "email": "a@b.example"}',
    "robots": b"# hello\nUser-agent: *\nDisallow: /cart\nSitemap: https://shop.example/sitemap.xml\n",
    "own_lines": b'{"donor_url": "https://shop.example/a", "acceptor_url": "https://shop.example/b"}\n' * 3,
    "json": b'[{"url": "https://shop.example/", "title": "Tents"}]',
    "bare_list": f"{SITE}/a\n{SITE}/b\n{SITE}/c\n".encode(),
    "frog_overview": b'"Site Crawled","https://shop.example/"\n"Date","12/03/2026"\n"Time","06:25"\n\n"Summary","URLs"\n',
    "frog_crawl": zipped(**{"DbSeoSpiderFileKey": b"name=x", "results/seg0/c10.dat": bytes(50)}),
}


@pytest.fixture
def shop() -> Project:
    return Project(slug="shop", base_url=SITE)


def handed_in(shop, path, content: bytes, kind: str = "") -> FilePreview:
    """What a file looks like that is handed in under a name that says nothing."""
    path = path / "download (3).csv"
    path.write_bytes(content)
    return preview_file(shop, kind or services.find_kind(path, path.name), path, path.name, None)


@pytest.mark.parametrize("language", INTERNAL)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_list_of_pages_is_known_in_every_language_and_as_spreadsheets_save_it(shop, tmp_path, language, delimiter):
    header = INTERNAL[language]
    values = [PAGE, "text/html; charset=UTF-8", "200", "OK", "Indexable", *["Tents"] * (len(header) - 5)]
    looked = handed_in(shop, tmp_path, table(header, values, delimiter=delimiter))
    assert (looked.known.key, looked.kind.name, looked.warns) == ("frog_internal", "pages", False)
    assert {"url", "title", "status_code", "content_type", "indexability"} <= set(looked.mapping)


@pytest.mark.parametrize(
    "header",
    [
        LINK_HEADER,
        ("Type", "Source", "Destination", "Size", "Alt Text", "Anchor", "Status Code", "Status", "Follow"),
        ("Tipo", "Fuente", "Destino", "Tamaño (bytes)", "Texto ALT", "Ancla", "Código de estado"),
        (
            "Type",
            "Source",
            "Destination",
            "Taille (octets)",
            "Texte Alt",
            "Ancrage",
            "Code de statut",
            "Position du lien",
        ),
    ],
)
def test_links_are_known_old_and_new(shop, tmp_path, header):
    cells = {"Type": "Hyperlink", "Tipo": "Hipervínculo", "Source": PAGE, "Fuente": PAGE, "Status Code": "200"}
    cells |= {"Destination": f"{SITE}/b", "Destino": f"{SITE}/b", "Anchor": "tents", "Status": "OK"}
    looked = handed_in(shop, tmp_path, table(header, row(header, **cells)))
    assert (looked.known.key, looked.kind.name, looked.warns) == ("frog_links", "links", False)


@pytest.mark.parametrize(
    ("key", "cells"),
    [
        ("frog_image_links", {"Type": "Image", "Source": PAGE, "Destination": f"{SITE}/a.png", "Status Code": "200"}),
        ("frog_broken_links", {"Type": "Hyperlink", "Source": PAGE, "Destination": f"{SITE}/x", "Status Code": "404"}),
        (
            "frog_insecure",
            {"Type": "Hyperlink", "Source": PAGE, "Destination": "http://shop.example/x", "Status Code": "200"},
        ),
    ],
)
def test_a_part_of_the_links_is_not_taken_for_all_of_them(shop, tmp_path, key, cells):
    header = (*LINK_HEADER, "Status Code")
    looked = handed_in(shop, tmp_path, table(header, *[row(header, **cells)] * 5))
    assert looked.known.key == key
    assert "All Inlinks" in looked.objection


@pytest.mark.parametrize(("key", "header"), [*FROG_TABS.items(), *TOOLS.items()])
def test_exports_that_are_handed_in_by_mistake_are_known_by_their_columns(shop, tmp_path, key, header):
    path = tmp_path / "x.csv"
    path.write_bytes(table(header))
    told = recognise.of_columns(peek.columns_of(peek.start_of(path, "x.csv")))
    assert told is not None
    assert told.key == key


@pytest.mark.parametrize(("key", "content"), BEGINNINGS.items())
def test_what_is_no_table_is_known_by_how_it_begins(shop, tmp_path, key, content):
    with pytest.raises(KnownFileError) as caught:
        handed_in(shop, tmp_path, content)
    assert caught.value.known.key == key.partition(" ")[0]
    assert "Nothing was imported" in str(caught.value)


def test_a_workbook_says_what_its_columns_are(shop, tmp_path):
    texts = "".join(f"<si><t>{name}</t></si>" for name in INTERNAL["English"])
    content = zipped(**{"xl/workbook.xml": b"<workbook/>", "xl/sharedStrings.xml": f"<sst>{texts}</sst>".encode()})
    with pytest.raises(KnownFileError, match=r"Excel workbook.*Screaming Frog's list of the site's pages"):
        handed_in(shop, tmp_path, content)


@pytest.mark.parametrize("language", CONSOLE)
@pytest.mark.parametrize(
    ("key", "first", "values"),
    [
        ("console_pages", "x", [PAGE, f"{PAGE}#a"]),
        ("console_dates", "x", ["2026-03-01", "2026-03-02"]),
        ("console_devices", "x", ["Mobile", "Desktop", "Tablet"]),
    ],
)
def test_tables_of_search_console_are_known_by_their_contents_in_any_language(
    shop, tmp_path, language, key, first, values
):
    header = (first, *CONSOLE[language])
    looked = handed_in(shop, tmp_path, table(header, *[[value, *NUMBERS] for value in values], delimiter=";"))
    assert looked.known.key == key


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("console_countries", ["Country", "Pays", "Land", "País", "Paese", "Land", "Kraj"]),
        (
            "console_queries",
            [
                *("Top queries", "Requêtes les plus fréquentes", "Häufigste Suchanfragen", "Consultas principales"),
                *("Query principali", "Populairste zoekopdrachten", "Zapytania"),
            ],
        ),
        ("console_appearance", ["Search Appearance", "Apparence dans les résultats de recherche"]),
    ],
)
def test_tables_of_search_console_are_known_by_their_first_column(shop, tmp_path, key, names):
    for name, numbers in zip(names, CONSOLE.values(), strict=False):
        looked = handed_in(shop, tmp_path, table((name, *numbers), ["anything", *NUMBERS]))
        assert looked.known.key == key
        assert looked.objection


@pytest.mark.parametrize("key", ["rankings_ahrefs", "rankings_semrush", "rankings_sistrix"])
def test_rankings_are_queries_weighed_by_how_often_they_are_searched_for(shop, tmp_path, key):
    header = TOOLS[key]
    cells = {"Keyword": "tents", "URL": PAGE, "Current URL": PAGE, "Volume": "90", "Search Volume": "90"}
    looked = handed_in(shop, tmp_path, table(header, row(header, **cells, Suchvolumen="90")))
    assert (looked.known.key, looked.kind.name, looked.objection) == (key, "queries", "")
    assert {"url", "query", "importance", "position"} == set(looked.mapping)


def test_filters_and_comparisons_of_search_console_are_known(shop, tmp_path):
    for header in (("Filter", "Value"), ("Filtre", "Valeur"), ("Filtro", "Valor")):
        assert handed_in(shop, tmp_path, table(header, ["Search type", "Web"])).known.key == "console_filters"
    numbers = [f"{span} {name}" for name in CONSOLE["English"] for span in ("Last 28 days", "Previous 28 days")]
    assert handed_in(shop, tmp_path, table(("Top pages", *numbers))).known.key == "console_comparison"


@pytest.mark.parametrize(
    "names",
    [
        ("Chart.csv", "Queries.csv", "Pages.csv", "Countries.csv", "Filters.csv"),
        ("Graphique.csv", "Requêtes.csv", "Pages.csv", "Pays.csv", "Filtres.csv"),
        ("Diagramm.csv", "Suchanfragen.csv", "Seiten.csv", "Länder.csv", "Filter.csv"),
    ],
)
def test_of_search_consoles_archive_the_table_of_pages_is_read(shop, tmp_path, names):
    tables = [
        table(("Date", *CONSOLE["English"]), ["2026-03-01", *NUMBERS]),
        table(("Top queries", *CONSOLE["English"]), ["tents", *NUMBERS]),
        table(("Top pages", *CONSOLE["English"]), [PAGE, *NUMBERS]),
        table(("Country", *CONSOLE["English"]), ["Germany", *NUMBERS]),
        table(("Filter", "Value"), ["Search type", "Web"]),
    ]
    looked = handed_in(shop, tmp_path, zipped(**dict(zip(names, tables, strict=True))))
    assert looked.known.key == "console_pages"
    assert looked.source.table.format.member == names[2]


def test_search_consoles_archive_is_traffic_whichever_table_comes_first(shop, tmp_path):
    tables = {
        "Queries.csv": table(("Top queries", *CONSOLE["English"]), ["tents", *NUMBERS]),
        "Pages.csv": table(("Top pages", *CONSOLE["English"]), [PAGE, *NUMBERS]),
        "Countries.csv": table(("Country", *CONSOLE["English"]), ["Germany", *NUMBERS]),
        "Devices.csv": table(("Device", *CONSOLE["English"]), ["Desktop", *NUMBERS]),
        "Chart.csv": table(("Date", *CONSOLE["English"]), ["2026-03-01", *NUMBERS]),
        "Filters.csv": table(("Filter", "Value"), ["Search type", "Web"]),
    }
    for first in tables:
        ordered = {first: tables[first]} | tables
        looked = handed_in(shop, tmp_path, zipped(**ordered))
        assert (looked.kind.name, looked.objection) == ("traffic", "")
        assert looked.source.table.format.member == "Pages.csv"


def test_of_a_crawls_archive_each_import_reads_its_own_table(shop, tmp_path):
    content = zipped(
        **{
            "export/internal.csv": table(INTERNAL["English"]),
            "export/links.csv": table(LINK_HEADER, link("/a", "/b")),
            "export/titles.csv": table(FROG_TABS["frog_titles"]),
        }
    )
    for kind, member in (("", "internal"), ("pages", "internal"), ("links", "links")):
        assert handed_in(shop, tmp_path, content, kind).source.table.format.member == f"export/{member}.csv"


def test_ones_own_tables_are_not_mistaken_for_others(shop, tmp_path):
    for header in (
        ("Address", "Title 1"),
        ("url", "title", "category"),
        ("URL", "Title", "Clicks", "Impressions"),
        ("URL", "Traffic", "Title"),
        ("Permalink", "Headline", "Text", "Image URL"),
        ("Address", "Extract embeddings from page content"),
        ("Source", "Destination", "Anchor"),
        ("Page", "Visibility", "Type"),
        ("Handle", "Title", "Body"),
        ("Adresse", "Titel", "Überschrift 1", "Beschreibung", "Kategorie", "Statuscode", "Text"),
        ("Adresse", "Seitentitel", "H1 1", "Status-Code"),
        ("Adresse", "Titre", "Titre principal 1", "Code HTTP", "Texte"),
        ("Dirección", "Título", "Encabezado 1", "Código de estado", "Texto"),
        ("Indirizzo", "Titolo", "Intestazione 1", "Codice di stato", "Testo"),
    ):
        assert handed_in(shop, tmp_path, table(header)).known is None, header


def test_the_custom_extraction_tab_has_no_titles(shop, tmp_path):
    for header in (
        ("Address", "Status Code", "Status", "Content 1"),
        ("Adresse", "Status-Code", "Status", "Titel H 1"),
    ):
        assert handed_in(shop, tmp_path, table(header)).known.key == "frog_extraction"


def test_each_entry_says_three_things_in_whole_sentences_and_names_a_kind_of_import():
    assert len({told.key for told in FILES}) == len(FILES)
    for told in FILES:
        assert told.kind in {"", "pages", "links", "queries", "traffic"}
        assert (told.columns is None) != (told.start is None)
        assert told.what.startswith(("This is ", "These are "))
        for text in (told.what, told.good_for, told.advice):
            assert text.endswith(".")
            assert "anchorline" not in text
            assert "  " not in text


# ---------------------------------------------------------------------------------------------------- in the browser

pytestmark = pytest.mark.django_db


def preview(upload: Upload) -> str:
    return reverse("import_preview", args=["shop", upload.pk])


def test_a_known_good_file_says_what_it_is(project, manager, client_for):
    upload = upload_of(project, INTERNAL["English"], [row(INTERNAL["English"], Address=PAGE)])
    page = client_for(manager).get(preview(upload)).text
    assert "This is Screaming Frog&#x27;s list of the site&#x27;s pages" in page
    assert 'value="start"' in page


@pytest.mark.nightly
def test_a_table_that_no_import_takes_is_named_and_not_started_unless_told_to(project, manager, client_for):
    upload = upload_of(project, ("Country", *CONSOLE["English"]), [["Germany", *NUMBERS]])
    client = client_for(manager)
    page = client.get(preview(upload)).text
    assert "Search Console&#x27;s Countries table" in page
    assert 'value="start"' not in page
    answer = client.post(preview(upload), {**choices(upload), "action": "start"})
    assert answer.status_code == 422
    assert not Run.objects.exists()
    upload = upload_of(project, FROG_TABS["frog_directives"], [[PAGE, "1", "noindex", ""]])
    answer = client.post(preview(upload), {**choices(upload), "action": "anyway"})
    assert answer.url == reverse("run", args=["shop", Run.objects.get().pk])


@pytest.mark.nightly
def test_links_handed_in_as_pages_are_read_as_links_in_one_click(project, manager, client_for):
    make_page(project)
    upload = upload_of(project, LINK_HEADER, [link("/a", "/b")], kind="pages")
    client = client_for(manager)
    page = client.get(preview(upload)).text
    assert "the links between pages" in page
    assert '<button class="button button--primary" name="kind" value="links">Read it as links</button>' in compact(page)
    answer = client.post(preview(upload), {**choices(upload), "action": "start"})
    assert (answer.status_code, Run.objects.count()) == (422, 0)
    assert "import it as links" in answer.text
    answer = client.post(preview(upload), {"kind": "links"})
    assert answer.url == preview(upload)
    upload.refresh_from_db()
    assert upload.kind == "links"
    assert 'value="start"' in client.get(preview(upload)).text


@pytest.mark.parametrize(
    "header",
    [
        ("Keyword", "Volume", "KD", "CPC", "Traffic", "Position", "URL", "SERP features"),
        ("Keyword", "Country", "SERP features", "Volume", "KD", "Organic traffic", "Current position", "Current URL"),
    ],
)
def test_keywords_of_ahrefs_are_queries_whatever_they_are_handed_in_as(project, manager, client_for, header):
    make_page(project)
    content = csv_text(header, [row(header, Keyword="tents", URL=PAGE, **{"Current URL": PAGE})], "\t")
    client = client_for(manager)
    for kind in ("", "pages"):
        file = SimpleUploadedFile("organic-keywords.csv", content.encode("utf-16"))
        upload = services.take_upload(project, None, file=file, kind=kind)
        page = client.get(preview(upload)).text
        assert "This is Ahrefs&#x27;s list of keywords" in page
        assert ('value="start"' in page) == (kind == "")
        assert (">Read it as queries</button>" in compact(page)) == (kind == "pages")


@pytest.mark.nightly
def test_queries_of_no_known_tool_handed_in_as_pages_are_read_as_queries_in_one_click(project, manager, client_for):
    make_page(project)
    header = ("Keyword", "Position", "URL")
    upload = upload_of(project, header, [("tents", "3", PAGE)], kind="pages")
    client = client_for(manager)
    page = client.get(preview(upload)).text
    assert "This looks like a file of queries, not of pages" in page
    assert ">Read it as queries</button>" in compact(page)
    assert 'value="start"' not in page
    assert 'value="anyway"' not in page  # it would be refused
    assert client.post(preview(upload), {**choices(upload), "action": "start"}).status_code == 422
    client.post(preview(upload), {"kind": "queries"})
    upload.refresh_from_db()
    assert 'value="start"' in client.get(preview(upload)).text


def test_links_before_any_page_are_refused_in_the_preview_with_the_way_to_the_import_of_pages(
    project, manager, client_for
):
    upload = upload_of(project, LINK_HEADER, [link("/a", "/b")], kind="links")
    client = client_for(manager)
    page = client.get(preview(upload)).text
    assert "The project has no pages yet. Import the pages first, then their links." in page
    assert f'<a href="{reverse("import", args=["shop"])}">Import pages</a>' in page
    assert 'value="start"' not in page
    answer = client.post(preview(upload), {**choices(upload), "action": "start"})
    assert (answer.status_code, Run.objects.count()) == (422, 0)
    make_page(project)
    assert 'value="start"' in client.get(preview(upload)).text


def test_a_kind_that_does_not_exist_changes_nothing(project, manager, client_for):
    upload = upload_of(project, LINK_HEADER, [link("/a", "/b")], kind="pages")
    answer = client_for(manager).post(preview(upload), {"kind": "nonsense"}, follow=True)
    assert "There is no import of “nonsense”" in answer.text
    upload.refresh_from_db()
    assert upload.kind == "pages"


def test_only_managers_change_what_a_file_is_read_as(project, viewer, editor, outsider, client_for):
    upload = upload_of(project, LINK_HEADER, [link("/a", "/b")], kind="pages")
    for user, code in ((viewer, 403), (editor, 403), (outsider, 404)):
        assert client_for(user).post(preview(upload), {"kind": "links"}).status_code == code
    upload.refresh_from_db()
    assert upload.kind == "pages"


@pytest.mark.parametrize(("name", "words"), [("log_combined", "This is an access log"), ("pdf", "This is a PDF")])
def test_what_is_no_table_is_answered_at_the_upload_and_not_kept(project, manager, client_for, settings, name, words):
    answer = client_for(manager).post(
        reverse("import", args=["shop"]), {"file": SimpleUploadedFile("file.csv", BEGINNINGS[name])}
    )
    assert answer.status_code == 422
    assert words in answer.text
    assert not Upload.objects.exists()
    assert not list((settings.UPLOAD_ROOT / str(project.pk)).iterdir())


def test_customers_are_not_kept(project, manager, client_for, settings):
    content = table(TOOLS["shopify_customers"], ["Ann", "Lee", "ann@mail.example", "yes", "12.00", "1"])
    answer = client_for(manager).post(
        reverse("import", args=["shop"]), {"file": SimpleUploadedFile("customers_export.csv", content)}
    )
    assert "It contains personal data" in answer.text
    assert not Upload.objects.exists()
    assert not list((settings.UPLOAD_ROOT / str(project.pk)).iterdir())


# -------------------------------------------------------------------------------------------- on the command line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BEGINNINGS["log_iis"], "This is an access log in W3C format"),
        (table(LINK_HEADER, link("/a", "/b")), "import it as links. The command is import_links."),
        (table(("Device", *CONSOLE["English"]), ["Mobile", *NUMBERS]), "Search Console's Devices table"),
    ],
)
def test_commands_say_what_a_file_is_instead_of_asking_for_columns(project, tmp_path, content, words):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    with the_command_line(), pytest.raises(FileError) as caught:
        services.import_file(project, "pages", path)
    assert words in str(caught.value)
    assert "--map" not in str(caught.value)


def test_columns_named_by_hand_overrule_what_a_file_looks_like(project, tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(table(FROG_TABS["frog_directives"], [PAGE, "1", "noindex", ""]))
    with pytest.raises(FileError, match="Directives"):
        services.import_file(project, "pages", path)
    report = services.import_file(project, "pages", path, mapping={"url": ["Address"], "title": ["Meta Robots 1"]})
    assert report["new"] == 1


def test_json_of_pages_in_lines_is_no_log(tmp_path):
    start = peek.Start("x", json.dumps({"url": PAGE, "title": "Tents"}).encode() + b"\n")
    assert recognise.of_start(start).key == "json"
