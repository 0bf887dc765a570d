"""Files known by name: what each is, what it is good for, and what to do with it. See ingest.formats.recognise."""

from __future__ import annotations

import re
from typing import Any

from ingest.formats import generic, shopify
from ingest.formats.known_file import Known
from ingest.formats.link_values import looks_like_links
from ingest.formats.own_files import OWN_FILES
from ingest.formats.start_rules import (
    BALANCER,
    COMBINED,
    begins,
    holds,
    is_analytics,
    is_bare_list,
    is_frog_crawl,
    is_google_shortcut,
    is_json_log,
    is_log,
    is_open_document,
    is_overview,
    is_robots,
    is_wordpress,
    log_header,
    objects,
    root,
)
from ingest.formats.table_rules import (
    ADDRESS,
    ALL_LINKS,
    BODY,
    CANONICAL,
    CLICKS,
    CRUMB,
    DAY,
    DEPTH,
    DESCRIPTION,
    DEVICES,
    H1,
    H2,
    HTTP,
    IMPRESSIONS,
    INDEXABILITY,
    INLINKS,
    KEYWORD,
    LINK_ANCHOR,
    LINK_TYPE,
    OCCURRENCES,
    QUERY,
    QUERY_PAGE,
    REDIRECT,
    SOURCE,
    STATUS_CODE,
    TARGET,
    TITLE,
    URL,
    has,
    is_comparison,
    is_error,
    is_extraction,
    is_image_link,
    is_insecure,
    is_internal,
    is_search_console,
    is_single_tab,
    is_tree,
    links_of,
    mostly,
    names,
)

PAGES, LINKS, QUERIES, TRAFFIC = "pages", "links", "queries", "traffic"
_EXPORT_INTERNAL = (
    "In Screaming Frog, open the Internal tab, choose the HTML filter and export it. The file "
    "internal_html.csv contains this and everything else about the pages. Import it as pages."
)
_EXPORT_CSV = "Export or save the table as CSV (UTF-8) in the program it comes from, and import that file."
_SITEMAP = (
    "It is not imported as a file, because suggestions are made from the texts of the pages. Open Sources, add a "
    "Sitemap and enter its address: the pages that it names are then fetched and imported."
)
_CRAWL = (
    "Anchorline fetches sites by itself: open Sources and add a Crawl of the site. Or crawl it in Screaming Frog and "
    "import internal_html.csv as pages."
)
_NO_LOGS = (
    "Anchorline cannot read logs. Use a log tool to count the requests for each address, leaving out "
    "robots if you want visits alone, and import a CSV with the columns url,hits."
)
_LOG_USE = "A log shows which pages people and search engines really fetch, and how often."


def _tab(key: str, tab: str, what_for: str, columns: Any, *, kind: str = "", advice: str = _EXPORT_INTERNAL) -> Known:
    return Known(
        f"frog_{key}", f"This is Screaming Frog's {tab}.", what_for, advice, kind, columns=columns, doubt=bool(kind)
    )


def _log(key: str, what: str, start: Any) -> Known:
    return Known(
        f"log_{key}", f"This is an access log{what}, with one line for each request.", _LOG_USE, _NO_LOGS, start=start
    )


def _backlinks(tool: str, columns: Any) -> Known:
    return Known(
        f"backlinks_{tool.split()[0].lower()}",
        f"This is {tool}'s list of backlinks, the links from other sites.",
        "It shows which of your pages other sites link to, but says nothing about the links between your own pages.",
        "It cannot be imported. For the links within the site, export All Inlinks from a crawl and import that as "
        "links.",
        columns=columns,
    )


def _best_pages(tool: str, columns: Any) -> Known:
    return Known(
        f"best_pages_{tool.split()[0].lower()}",
        f"This is {tool}'s list of pages, with its estimates of their traffic or backlinks.",
        "It shows which pages are strong. The numbers are estimates, and pages that do not rank are left out.",
        "It is not a full list of the site's pages, so import those from a crawl. For real numbers, "
        "import Search Console's Pages table as traffic. To use the estimates, import a CSV with the "
        "columns url,hits.",
        columns=columns,
    )


def _rankings(tool: str, columns: Any) -> Known:
    return Known(
        f"rankings_{tool.split()[0].lower()}",
        f"This is {tool}'s list of keywords with the page that ranks for each.",
        "The keywords become anchors for the pages that rank for them, starting with those that are "
        "searched for most often.",
        "Import the site's pages first. If you have rows of page and query from Search Console, use "
        "those instead: they are what people really typed.",
        QUERIES,
        columns=columns,
    )


FILES: tuple[Known, ...] = (
    *OWN_FILES,
    # ------------------------------------------------------------------------------------- Screaming Frog, pages
    Known(
        "frog_crawl",
        "This is a crawl in Screaming Frog's own format.",
        "Only Screaming Frog can open it.",
        "Open it there (File, Open), then export two files and import them one after the other: "
        "internal_html.csv from the Internal tab with the HTML filter, and all_inlinks.csv from Bulk "
        "Export, Links, All Inlinks.",
        start=is_frog_crawl,
    ),
    Known(
        "frog_overview",
        "This is Screaming Frog's crawl overview.",
        "It sums up a crawl in figures, and its rows are not pages.",
        _EXPORT_INTERNAL,
        start=is_overview,
    ),
    Known(
        "frog_internal",
        "This is Screaming Frog's list of the site's pages (Internal tab).",
        "It is the file to begin with. It contains addresses, titles, headings, status codes and "
        "whatever was extracted from the pages.",
        "Import it as pages, then import All Inlinks (Bulk Export, Links) as links.",
        PAGES,
        columns=is_internal,
    ),
    _tab(
        "tree",
        "tree of the site's folders (Site Structure, or a list in tree view)",
        "It counts the addresses in each folder, and its rows are not pages, so that nothing could be linked to them.",
        is_tree,
        advice="In Screaming Frog, switch from the tree to the list (the icon to the right of the filter), choose the "
        "HTML filter of the Internal tab and export it. Import internal_html.csv as pages.",
    ),
    # ------------------------------------------------------------------------------------- Screaming Frog, links
    _tab(
        "image_links",
        "list of pictures, scripts and styles in pages",
        "It shows where pictures are used, and none of its first rows is a link to a page.",
        lambda columns: links_of(columns, LINK_TYPE, is_image_link),
        advice="For the links between pages, choose Bulk Export, Links, All Inlinks, and import that as links.",
    ),
    _tab(
        "insecure",
        "list of insecure content, links from https to http",
        "It shows what to repair on the site.",
        is_insecure,
        advice="For the links between pages, choose Bulk Export, Links, All Inlinks, and import that as links.",
    ),
    _tab(
        "broken_links",
        "list of links to errors or redirects",
        "It shows which links to repair, but leaves out all links that work.",
        lambda columns: links_of(columns, STATUS_CODE, is_error),
        advice="For all links between pages, choose Bulk Export, Links, All Inlinks, and import that as links.",
    ),
    Known(
        "frog_links",
        "This is Screaming Frog's list of the links between pages (All Inlinks or All Outlinks).",
        "Anchorline learns from it which links editors make, and does not propose links that the site already has.",
        "Import it as links, after the pages.",
        LINKS,
        columns=lambda columns: ALL_LINKS(columns) and bool(columns.keys & (LINK_ANCHOR | STATUS_CODE)),
    ),
    # --------------------------------------------------------------------------------- Screaming Frog, other tabs
    _tab(
        "redirects",
        "report of redirects or redirect chains",
        "It shows which links go through redirects and where they end.",
        has(
            names("Number of Redirects", "Nombre de redirections", "Anzahl der Weiterleitungen")
            | names(
                "Número de redirecciones", "Numero di reindirizzamenti", "Number of Redirects/Canonicals", "Chain Type"
            )
        ),
        advice="Anchorline does not need it, because internal_html.csv and all_inlinks.csv say where each "
        "redirect leads. Import those as pages and as links.",
    ),
    _tab(
        "hreflang",
        "Hreflang tab",
        "It shows which pages are translations of each other, which Anchorline does not use.",
        lambda columns: any(re.match(r"(?:html|http|sitemap) hreflang \d", key) for key in columns.keys),
    ),
    _tab(
        "structured_data",
        "Structured Data tab",
        "It shows which pages have markup for search results, but does not contain the markup itself.",
        has(ADDRESS, names("Total Types", "Unique Types", "Nombre total de types", "Rich Result Errors")),
        advice="To use breadcrumbs from JSON-LD, add a custom extraction named JSON-LD with the XPath "
        "//script[@type='application/ld+json'], crawl again, and import internal_html.csv as pages.",
    ),
    _tab(
        "images",
        "Images tab",
        "It lists pictures, not pages.",
        has(
            ADDRESS,
            names("IMG Inlinks", "Liens entrants IMG", "IMG-Inlinks", "Enlaces de entrada de imágenes")
            | names("Image Inlinks", "Link in entrata IMG"),
        ),
    ),
    _tab(
        "titles",
        "Page Titles tab",
        "It contains only the title of each page.",
        has(ADDRESS, OCCURRENCES, TITLE),
        kind=PAGES,
    ),
    _tab(
        "descriptions",
        "Meta Description tab",
        "It contains only the meta description of each page.",
        has(ADDRESS, OCCURRENCES, DESCRIPTION),
        kind=PAGES,
    ),
    _tab(
        "headings",
        "H1 or H2 tab",
        "It contains only the headings of each page.",
        lambda columns: has(ADDRESS, OCCURRENCES)(columns) and bool(columns.keys & (H1 | H2)),
        kind=PAGES,
    ),
    _tab(
        "canonicals",
        "Canonicals tab",
        "It contains only the canonical address of each page.",
        has(ADDRESS, OCCURRENCES, CANONICAL),
        kind=PAGES,
    ),
    _tab(
        "directives",
        "Meta Keywords, Directives or Pagination tab",
        "It contains only what the head of each page tells robots.",
        has(ADDRESS, OCCURRENCES),
    ),
    _tab(
        "duplicates",
        "report of near duplicates or similar pages",
        "It lists pairs of pages whose texts are alike.",
        has(
            ADDRESS,
            names("Near Duplicate Address", "Closest Near Duplicate Match", "Closest Similarity Match")
            | names("No. Near Duplicates", "Exact Duplicate Address", "Semantically Similar Address")
            | names("Closest Semantically Similar Address"),
            without=(TITLE,),
        ),
        advice="Anchorline compares the texts itself. " + _EXPORT_INTERNAL,
    ),
    _tab(
        "issues",
        "overview of issues",
        "It counts what is wrong with a site, and its rows are not pages.",
        has(names("Issue Name"), names("Issue Type", "Issue Priority")),
    ),
    _tab(
        "segments",
        "overview of segments",
        "It sums up parts of a site, and its rows are not pages.",
        has(
            names("Segment", "Segments", "Segmento", "Segmenti"),
            names("URLs", "Total URLs", "% of Total"),
            without=(ADDRESS,),
        ),
    ),
    _tab(
        "orphans",
        "report of orphan pages",
        "It lists pages that no link leads to, but that a sitemap, Analytics or Search Console knows about.",
        lambda columns: (
            has(names("URL", "Address"), names("Source"), most=3)(columns)
            and mostly(columns.cells(names("Source")), re.compile(r"(?:GA4?|GSC|Sitemaps?|XML Sitemap)\b", re.I).match)
        ),
        advice="To have the orphans in internal_html.csv too, let the crawl follow linked sitemaps and connect "
        "it to Search Console, then import that file as pages. Anchorline itself shows which pages have "
        "no links.",
    ),
    _tab(
        "speed",
        "PageSpeed tab",
        "It measures how fast pages are, which Anchorline does not use.",
        has(
            ADDRESS,
            names("Performance Score", "Largest Contentful Paint Time (ms)", "First Contentful Paint Time (ms)"),
        ),
    ),
    Known(
        "frog_search_console",
        "This is Screaming Frog's Search Console tab: pages with their clicks and impressions.",
        "It shows which pages matter to people who search.",
        "Import it as traffic, after the pages. If the crawl is connected to Search Console, "
        "internal_html.csv contains the same columns.",
        TRAFFIC,
        columns=has(ADDRESS, CLICKS, IMPRESSIONS, without=(TITLE,)),
    ),
    _tab(
        "analytics",
        "Analytics tab",
        "It shows how often pages were visited.",
        lambda columns: (
            bool(columns.keys & ADDRESS)
            and not columns.keys & TITLE
            and any(key.startswith(("ga sessions", "ga4 sessions", "ga4 views", "ga users")) for key in columns.keys)
        ),
        advice="To use the visits, keep the address column and one column of numbers, name them url and hits, "
        "and import the file as traffic.",
    ),
    _tab(
        "search",
        "Custom Search tab",
        "It shows which pages contain a text that was searched for.",
        lambda columns: (
            bool(columns.keys & ADDRESS)
            and any(key.startswith(("contains ", "does not contain ")) for key in columns.keys)
        ),
    ),
    _tab(
        "extraction",
        "Custom Extraction tab",
        "It contains what was extracted from the pages, but not their titles and status codes.",
        is_extraction,
        kind=PAGES,
        advice="It can be imported as pages, after internal_html.csv. Since that file contains the extracted "
        "columns too, importing that file alone is enough.",
    ),
    _tab(
        "responses",
        "Response Codes tab",
        "It shows how the server answers for each address.",
        has(ADDRESS, STATUS_CODE, REDIRECT, without=(TITLE,)),
        kind=PAGES,
    ),
    _tab(
        "external",
        "External tab",
        "It lists addresses of other sites that this site links to.",
        has(ADDRESS, STATUS_CODE, INLINKS, DEPTH, without=(TITLE, INDEXABILITY)),
    ),
    _tab(
        "tab",
        "export of a single tab (such as Sitemaps, Security, Content, Links or Validation)",
        "It contains only a few facts about each page.",
        lambda columns: is_single_tab(columns) and not columns.keys & (TITLE | BODY | CRUMB),
        kind=PAGES,
    ),
    # ------------------------------------------------------------------------------------------- Search Console
    Known(
        "console_comparison",
        "This is a comparison of two periods, as Search Console exports it.",
        "It shows what changed, but an import cannot tell which of the two periods to use.",
        "In Search Console, choose one period under Date instead of Compare, and export again.",
        columns=is_comparison,
    ),
    Known(
        "console_links",
        "This is a table from Search Console's Links report.",
        "It counts links to pages, or names sites that link to yours. Its lists are cut off at 1,000 rows.",
        "It cannot be imported. For the links within the site, export All Inlinks from a crawl and import that as "
        "links.",
        columns=has(
            names("Top linking page", "Linking page", "Top target pages", "Target page", "Top linking sites")
            | names("Incoming links", "Linking pages", "Site", "Top linking text"),
            names("Last crawled", "Incoming links", "Linking sites", "Linking pages", "Rank", "Target pages"),
            most=4,
        ),
    ),
    Known(
        "console_page_query",
        "These are rows of page and query, as exported by Search Console's API, its bulk export or a connector.",
        "The words that people typed to find a page become anchors of links to it.",
        "Import it as queries, after the pages.",
        QUERIES,
        columns=has(QUERY, QUERY_PAGE, CLICKS | IMPRESSIONS, without=(TITLE,)),
    ),
    Known(
        "console_pages",
        "This is a table of pages with clicks and impressions, like Search Console's Pages table.",
        "It shows which pages matter to people who search. If a page has several addresses (with # or "
        "utm_...), their numbers are added up.",
        "Import it as traffic, after the pages.",
        TRAFFIC,
        columns=is_search_console(names(*generic.PAGE_COLUMNS["url"]) - QUERY, HTTP.match),
    ),
    Known(
        "console_queries",
        "This is Search Console's Queries table: what people searched for on the whole site.",
        "It does not say which page each query led to, so no anchors can be made from it.",
        "Instead, export rows of page and query from Search Console's API, its bulk export or a "
        "connector such as Looker Studio, and import those as queries. The Pages table of the same "
        "export can be imported as traffic.",
        columns=is_search_console(QUERY),
    ),
    Known(
        "console_dates",
        "This is Search Console's table of days (Chart): clicks and impressions of the whole site.",
        "It shows how a site does over time, but names no pages.",
        "It cannot be imported, but the Pages table of the same export can be imported as traffic.",
        columns=is_search_console(
            names("Date", "Dates", "Datum", "Fecha", "Data", "Dzień", "Day", "Tag", "Jour")
            | names("Дата", "日付", "日期"),
            DAY.match,
        ),
    ),
    Known(
        "console_devices",
        "This is Search Console's Devices table: clicks and impressions by computer, phone and tablet.",
        "It shows which devices people search with, but names no pages.",
        "It cannot be imported, but the Pages table of the same export can be imported as traffic.",
        columns=is_search_console(
            names("Device", "Devices", "Appareil", "Appareils", "Gerät", "Geräte", "Dispositivo", "Dispositivos")
            | names("Dispositivi", "Apparaat", "Apparaten", "Urządzenie", "Urządzenia")
            | names("Устройство", "Устройства", "デバイス", "设备"),
            lambda cell: cell.casefold() in DEVICES,
        ),
    ),
    Known(
        "console_countries",
        "This is Search Console's Countries table: clicks and impressions by country.",
        "It shows where people search from, but names no pages.",
        "It cannot be imported, but the Pages table of the same export can be imported as traffic.",
        columns=is_search_console(
            names(
                "Country", "Countries", "Pays", "Land", "Länder", "País", "Países", "Paese", "Paesi", "Landen", "Kraj"
            )
            | names("Kraje", "Страна", "Страны", "国", "国家", "国家/地区")
        ),
    ),
    Known(
        "console_appearance",
        "This is Search Console's Search appearance table: clicks and impressions by kind of search result.",
        "It shows what the results look like, but names no pages.",
        "It cannot be imported, but the Pages table of the same export can be imported as traffic.",
        columns=is_search_console(
            names("Search Appearance", "Apparence dans les résultats de recherche", "Apparence dans la recherche")
            | names("Darstellung in der Suche", "Darstellung in Suchergebnissen", "Aspecto en la búsqueda")
            | names("Aspecto en el buscador", "Apariencia en el buscador", "Apariencia en búsquedas")
            | names("Aspetto nella ricerca", "Aspetto nei risultati di ricerca", "Aparência na pesquisa")
            | names("Aspeto da pesquisa", "Zoekopmaak", "Weergave in zoekresultaten", "Wygląd w wyszukiwarce")
        ),
    ),
    Known(
        "console_filters",
        "This is Search Console's table of the filters that an export was made with.",
        "It says which period and search type the other tables are about.",
        "Import the Pages table of the same export as traffic. Better still, import the whole ZIP as you "
        "downloaded it: the period can be read from that.",
        columns=has(
            names("Filter", "Filters", "Filtre", "Filtres", "Filtro", "Filtri", "Filtros", "Filtr")
            | names("Фильтр", "フィルタ", "过滤器", "过滤条件"),
            names("Value", "Valeur", "Wert", "Valor", "Valore", "Waarde", "Wartość", "Значение", "値", "值"),
            most=2,
        ),
    ),
    # ------------------------------------------------------------------------------------------------- Analytics
    Known(
        "analytics",
        "This is a report from Google Analytics (GA4).",
        "If its first column is the page path, it shows how often each page is viewed.",
        "Import a report by page (Pages and screens, or Landing page) as traffic, after the pages. Other reports name "
        "no pages and are of no use here.",
        TRAFFIC,
        start=is_analytics,
    ),
    Known(
        "analytics_table",
        "This is a table from Google Analytics (GA4) with one row for each page.",
        "It shows how often each page is viewed.",
        "Import it as traffic, after the pages.",
        TRAFFIC,
        columns=has(
            names(*generic.ANALYTICS_PAGES),
            names(*generic.ANALYTICS_HITS) | IMPRESSIONS,
            without=(CLICKS,),
        ),
    ),
    # ----------------------------------------------------------------------------------------------------- shops
    Known(
        "shopify_products",
        "This is Shopify's export of products.",
        "It has each product's title, description and type, but neither its address nor the shop's other pages.",
        "Import it as pages. Addresses are built from the handles, and drafts and archived products "
        "count as not indexable. A crawl of the shop brings more: its collections, articles and links.",
        PAGES,
        columns=lambda columns: shopify.is_products(columns.header),
    ),
    Known(
        "shopify_customers",
        "This is Shopify's export of customers.",
        "It contains personal data and nothing about pages.",
        "It was not kept, because nothing in it is needed here. For the products, export Products in Shopify.",
        columns=has(
            names("Email", "E-mail"),
            names("Total Spent", "Total Orders", "Accepts Email Marketing", "Accepts Marketing"),
            names("First Name", "Customer ID", "Last Name"),
        ),
        personal=True,
    ),
    Known(
        "shopify_orders",
        "This is Shopify's export of orders.",
        "It contains personal data and nothing about pages.",
        "It was not kept, because nothing in it is needed here. For the products, export Products in Shopify.",
        columns=has(names("Financial Status"), names("Fulfillment Status", "Lineitem name", "Paid at")),
        personal=True,
    ),
    Known(
        "woocommerce_products",
        "This is WooCommerce's export of products.",
        "It has titles, descriptions and categories, but no addresses.",
        "Import a crawl of the shop as pages instead, or add a column with each product's address and "
        "choose that column.",
        columns=has(
            names("SKU"), names("Regular price"), names("Short description"), without=(URL | names("Permalink"),)
        ),
    ),
    Known(
        "wordpress",
        "This is WordPress's export of content (WXR).",
        "It contains posts and pages as they are stored, without what themes and page builders add.",
        "It is not imported as a file. Open Sources, add WordPress and enter the address of the site: posts and pages "
        "are then fetched as visitors see them, with their links.",
        start=is_wordpress,
    ),
    # ------------------------------------------------------------------------------------------------------ logs
    _log("combined", " in the common or combined format of Apache and nginx", is_log(COMBINED)),
    _log("cloudfront", " of Amazon CloudFront", log_header("x-edge-location")),
    _log("iis", " in W3C format (IIS)", log_header("cs-uri-stem")),
    _log("w3c", " in W3C format", log_header("cs-uri")),
    _log("balancer", " of an AWS load balancer", is_log(BALANCER)),
    _log("json", " in JSON format", is_json_log),
    # ------------------------------------------------------------------------------------------------- documents
    Known(
        "sitemap_index",
        "This is an index of sitemaps: a list of other sitemaps.",
        "It points to the lists of a site's addresses.",
        _SITEMAP,
        start=root("sitemapindex"),
    ),
    Known(
        "sitemap",
        "This is an XML sitemap: a list of addresses, without titles and texts.",
        "It shows which pages a site wants to be found.",
        _SITEMAP,
        start=root("urlset"),
    ),
    Known(
        "feed",
        "This is a feed (RSS or Atom).",
        "It lists the newest articles of a site, or a shop's products.",
        _SITEMAP,
        start=root("rss", "feed"),
    ),
    Known(
        "image",
        "This is a picture.",
        "Anchorline cannot read anything from it.",
        "Import a table as CSV.",
        start=lambda start: (
            begins(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*")(start)
            or (start.data[:4] == b"RIFF" and start.data[8:12] == b"WEBP")
            or start.data[4:12] in (b"ftypavif", b"ftypheic")
            or start.root == "svg"
        ),
    ),
    Known(
        "html",
        "This is a web page, not a table.",
        "The download may have been a sign-in page instead of the file.",
        "Download the file again while you are signed in. If it is the site's pages that you want, " + _CRAWL,
        start=lambda start: start.text.lstrip()[:14].lower() == "<!doctype html" or root("html", "head", "body")(start),
    ),
    Known(
        "xml",
        "This is an XML file, not a CSV.",
        "Anchorline cannot read it.",
        _EXPORT_CSV,
        start=lambda start: start.text.lstrip().startswith("<?xml"),
    ),
    Known(
        "database",
        "This is a database (SQLite).",
        "It may contain the right table, but only CSV files can be imported.",
        _EXPORT_CSV,
        start=begins(b"SQLite format 3"),
    ),
    Known(
        "media",
        "This is a binary file: a film, a sound, a font or a program.",
        "Nothing can be imported from it.",
        _EXPORT_CSV,
        start=lambda start: (
            (
                begins(b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3", b"wOFF", b"wOF2", b"OTTO", b"MZ", b"\x7fELF")(start)
                or start.data[4:8] == b"ftyp"
            )
            and b"\0" in start.data
        ),
    ),
    Known(
        "columnar",
        "This is a table in a binary format (Parquet, Arrow, Avro or ORC).",
        "It may contain the right table, but only CSV files can be imported.",
        _EXPORT_CSV,
        start=lambda start: begins(b"PAR1", b"ARROW1", b"Obj\x01", b"ORC")(start) and b"\0" in start.data,
    ),
    Known(
        "pdf",
        "This is a PDF.",
        "It is made for reading, and its tables cannot be extracted reliably.",
        _EXPORT_CSV,
        start=begins(b"%PDF"),
    ),
    Known(
        "excel",
        "This is an Excel workbook.",
        "It may contain the right table, but only CSV files can be imported.",
        "Save it as CSV UTF-8 (File, Save As), or export as CSV in the first place: Screaming Frog asks for the type "
        "of file in its export window.",
        start=holds("xl/"),
    ),
    Known(
        "old_excel",
        "This is an old Excel workbook (.xls) or another old Office file.",
        "It may contain the right table, but only CSV files can be imported.",
        "Open it and save it as CSV UTF-8.",
        start=begins(b"\xd0\xcf\x11\xe0"),
    ),
    Known(
        "open_document",
        "This is an OpenDocument file, as LibreOffice and Google Sheets write them.",
        "It may contain the right table, but only CSV files can be imported.",
        "Open it and save it as CSV, with the character set UTF-8; in Google Sheets choose File, Download, Comma "
        "Separated Values.",
        start=is_open_document,
    ),
    Known(
        "office",
        "This is a document or presentation (Word, PowerPoint, Numbers), not a table.",
        "Nothing can be imported from it.",
        _EXPORT_CSV,
        start=holds("word/", "ppt/", "Index/Document.iwa"),
    ),
    Known(
        "google_shortcut",
        "This is a shortcut to a Google document, not the document.",
        "It contains nothing but an address.",
        "Open the sheet in the browser, choose File, Download, Comma Separated Values, and import that file.",
        start=is_google_shortcut,
    ),
    Known(
        "robots",
        "This is a robots.txt.",
        "It tells robots what to leave alone, and crawlers obey it by themselves.",
        "There is nothing to do with it here.",
        start=is_robots,
    ),
    Known(
        "json",
        "This is JSON, not a CSV.",
        "Anchorline cannot read it.",
        _EXPORT_CSV,
        start=lambda start: (
            start.text.lstrip().startswith(("{", "[{", "[\n"))
            and bool(objects(start) or re.match(r'\s*\[?\s*\{\s*"', start.text))
        ),
    ),
    Known(
        "bare_list",
        "This is a list of addresses without a header.",
        "It shows which pages there are, but lacks the titles and texts that suggestions are made from.",
        "Put the file on the site, open Sources, add a Sitemap and enter its address: a list of addresses is one. Or "
        "crawl the addresses (in Screaming Frog: Mode, List) and import internal_html.csv as pages.",
        start=is_bare_list,
    ),
    # --------------------------------------------------------------------------------------------- tools of the trade
    Known(
        "own_export",
        "This is a list of proposed links with donor, anchor and acceptor, as exported by Anchorline and "
        "JetOctopus JOIL.",
        "It says which links should be set.",
        "Once the links are set, crawl the site and import All Inlinks as links. Import this list as "
        "links only if every link in it is already on the site.",
        LINKS,
        columns=has(names("donor_url"), names("acceptor_url")),
        doubt=True,
    ),
    Known(
        "similar_pairs",
        "This is a list of pairs of pages with their similarity.",
        "It shows what another tool would link, not which links the site has.",
        "It cannot be imported, because Anchorline compares pages itself. Import a crawl as pages, then "
        "All Inlinks as links.",
        columns=has(
            names("Source URL", "Source", "Source Page"),
            names("Target URL", "Target", "Related URL"),
            names("Similarity Score", "Similarity", "Cosine Similarity"),
        ),
    ),
    Known(
        "joil_anchors",
        "This is a list of wanted anchors in JetOctopus JOIL's format, with page, query and importance.",
        "The queries become anchors of links to their pages, starting with the most important.",
        "Import it as queries, after the pages.",
        QUERIES,
        columns=has(names("url", "page"), names("query"), names("importance"), most=4),
    ),
    Known(
        "joil_links",
        "This is a list of existing links in JetOctopus JOIL's format, with page and target.",
        "Anchorline does not propose the links in it again. The list does not say where on a page a link stands.",
        "Import it as links, after the pages. The All Inlinks export of a crawl says more.",
        LINKS,
        columns=has(names("url"), names("target_url"), most=4),
    ),
    _backlinks(
        "Ahrefs",
        has(names("Referring page URL", "Referring page"), names("Anchor", "Link Anchor", "Target URL", "Link URL")),
    ),
    _backlinks(
        "Semrush",
        has(names("Source url"), names("Target url"), names("Page ascore", "Page AS", "Source title", "First seen")),
    ),
    _backlinks(
        "Majestic",
        has(
            names("SourceURL", "Source URL"),
            names("SourceTrustFlow", "Source Trust Flow", "SourceCitationFlow", "FlagNoFollow"),
        ),
    ),
    _backlinks(
        "Sistrix",
        has(
            names("Link source", "Linkquelle", "Link von", "Quelle (URL)"), names("Link target", "Linkziel", "Link zu")
        ),
    ),
    _backlinks(
        "Moz",
        has(
            names("Target URL"),
            names("PA", "Page Authority", "Spam Score"),
            names("DA", "Domain Authority", "Linking Domains"),
        ),
    ),
    _rankings(
        "Ahrefs",
        has(
            KEYWORD,
            names("Current URL", "URL", "Page URL"),
            names("Current position", "KD", "Organic traffic", "Current organic traffic"),
        ),
    ),
    _rankings(
        "Semrush", has(KEYWORD, names("URL"), names("Search Volume"), names("Keyword Difficulty", "CPC", "Timestamp"))
    ),
    _rankings(
        "Sistrix", has(KEYWORD, names("URL"), names("Suchvolumen", "Search Volume", "Search volume"), names("Position"))
    ),
    _best_pages(
        "Ahrefs",
        has(
            names("URL", "Page URL", "Target URL"),
            names("Current top keyword", "Top keyword", "Current traffic", "URL rating", "UR", "Traffic value"),
            without=(KEYWORD,),
        ),
    ),
    _best_pages("Semrush", has(names("URL"), names("Number of Keywords"), without=(KEYWORD, TITLE, CLICKS))),
    _best_pages("Sistrix", has(names("URL"), names("Visibility Index", "Sichtbarkeitsindex"))),
    _best_pages(
        "Majestic",
        has(
            names("URL", "Item", "Target URL"),
            names("TrustFlow", "Trust Flow", "CitationFlow", "Citation Flow"),
            without=(ADDRESS,),
        ),
    ),
    _best_pages("Moz", has(names("URL"), names("Page Authority", "PA"), without=(KEYWORD,))),
    # --------------------------------------------------------------------------------- by the shapes of values alone
    Known(
        "links_by_values",
        "This is a list of links, by its values: two addresses in each row, and what stands at the link.",
        "Anchorline learns from it which links editors make, and does not propose links that the site already has.",
        "Import it as links, after the pages, and check which column is which, because their names are not known.",
        LINKS,
        columns=lambda columns: (
            # A column named like the target of a link may hold something else: HTML has an attribute of that name.
            not columns.keys & (ADDRESS | TITLE)
            and not (columns.cells(SOURCE) and columns.cells(TARGET))
            and looks_like_links(columns.header, columns.rows)
        ),
    ),
)
