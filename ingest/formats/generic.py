"""Any CSV: what columns are usually called, and what their contents give away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.cells.values import looks_like_vector
from ingest.files.column_names import header_key
from ingest.formats import screaming_frog

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PAGE_COLUMNS = {
    "url": (
        *("URL", "Page URL", "Full URL", "Permalink", "Loc", "Location", "Landing Page", "Top pages", "Page", "Link"),
        *("URI", "Dirección", "Indirizzo", "Endereço", "Pages les plus populaires", "Die häufigsten Seiten"),
    ),
    "title": ("Title", "Page Title", "Meta Title", "SEO Title", "Titre", "Titel", "Título", "Titolo", "Name"),
    "h1": ("Heading", "Headline"),
    "headings": ("Headings", "Subheadings"),
    "description": ("Description", "Meta Description", "Excerpt", "Summary"),
    "body": ("Body", "Text", "Page Content", "Content Text", "Body Text", "Texte", "Texto"),
    "breadcrumb": ("Breadcrumb Path", "Category Path", "Category", "Categories", "Catégorie", "Kategorie", "Section"),
    "content_type": ("MIME Type",),
    "status_code": ("HTTP Status", "HTTP Code", "HTTP Status Code", "Response Code"),
    "indexability": ("Indexable", "Is Indexable"),
    "canonical_link": ("Canonical", "Canonical URL", "Canonical Link"),
    "redirect_url": ("Redirect", "Redirect To", "Redirects To"),
    "language": ("Lang", "Locale", "HTML Lang"),
    "word_count": ("Words",),
    "crawl_depth": ("Depth", "Click Depth", "Distance from Index"),
    "value": (
        *("Business Value", "Page Value", "Value", "Revenue", "Conversions", "Priority", "Goal Value", "Total Revenue"),
        *("Wert", "Umsatz", "Valeur", "Chiffre d'affaires", "Valor", "Ingresos", "Valore", "Priorität", "Priorité"),
    ),
    "authority": (
        *(
            "Link Score",
            "PageRank",
            "Page Rank",
            "Internal PageRank",
            "Authority",
            "Page Authority",
            "URL Rating",
            "UR",
        ),
    ),
    "last_modified": ("Modified", "Lastmod", "Updated", "Updated At", "Date Modified"),
}
LINK_COLUMNS = {
    "source": (
        *("Source URL", "Source Page", "From URL", "Donor", "Donor URL", "Referring Page URL", "Linking Page"),
        *("URL", "Page"),
    ),
    "target": ("Target URL", "Destination URL", "To URL", "Acceptor", "Acceptor URL", "Linked URL", "Target"),
    "anchor": ("Link Text", "Anchor_Text", "Link Anchor", "Linktext"),
    "type": ("Link Type",),
    "follow": ("Is Follow", "Dofollow"),
    "link_position": ("Position", "Placement"),
}
# Rows of page and query: Search Console's API, bulk export and connectors; JetOctopus JOIL's custom anchors.
QUERY_COLUMNS = {
    "url": (
        *("Page", "Pages", "Top pages", "URL", "Page URL", "Landing Page", "Address", "Full URL", "Link", "Adresse"),
        *("Pages les plus populaires", "Seite", "Seiten", "Die häufigsten Seiten", "Página", "Páginas", "Pagina"),
        *("Páginas principales", "Pagine", "Pagine principali", "Strona", "Current URL"),
    ),
    "query": (
        *("Query", "Queries", "Top queries", "Search Query", "Search Queries", "Search term", "Keyword", "Main Query"),
        *("Requête", "Requêtes", "Requêtes les plus fréquentes", "Mot clé", "Suchanfrage", "Suchanfragen"),
        *("Suchbegriff", "Häufigste Suchanfragen", "Häufigste Anfragen", "Consulta", "Consultas"),
        *("Consultas principales", "Principais consultas", "Query principali", "Zoekopdracht", "Zoekopdrachten"),
        *("Populairste zoekopdrachten", "Zapytanie", "Zapytania", "Custom Anchor"),
    ),
    "clicks": ("Clicks", "URL Clicks", "Clics", "Klicks", "Clic", "Cliques", "Klikken", "Kliknięcia"),
    "impressions": (
        *("Impressions", "URL Impressions", "Impressionen", "Impresiones", "Impressioni", "Impressões", "Vertoningen"),
        *("Wyświetlenia",),
    ),
    "position": (
        *("Position", "Average Position", "Avg. Position", "Position moyenne", "Durchschnittliche Position"),
        *("Posición", "Posición media", "Posizione", "Posizione media", "Posição", "Posição média", "Positie"),
        *("Gemiddelde positie", "Pozycja", "Średnia pozycja", "Current position"),
    ),
    "importance": (
        *("Importance", "Weight", "Priority", "Wichtigkeit", "Importancia", "Importanza", "Importância"),
        *("Search Volume", "Volume", "Suchvolumen"),
    ),
}
# Rows of a page and how often it was clicked, shown or visited: Search Console's pages, Analytics, lists of hits.
ANALYTICS_PAGES = (
    *("Page path and screen class", "Page path + query string and screen class", "Page path and query string"),
    *("Page path + query string", "Page path", "Landing page + query string", "Landing page and query string"),
    *("Full page URL", "Page location", "pagePath", "landingPage", "fullPageUrl", "Seitenpfad und Bildschirmklasse"),
    *("Seitenpfad", "Chemin de la page et classe de l'écran", "Chemin de la page"),
    *("Ruta de página y clase de pantalla", "Ruta de la página y clase de pantalla"),
    *("Percorso pagina e classe schermata", "Caminho da página e classe da tela"),
    *("Paginapad en schermklasse", "Ścieżka strony i klasa ekranu"),
)
ANALYTICS_HITS = (
    *("Views", "Pageviews", "Page views", "Sessions", "Active users", "Total users", "Users", "screenPageViews"),
    *("activeUsers", "Aufrufe", "Sitzungen", "Aktive Nutzer", "Vues", "Vistas", "Sesiones", "Visualizzazioni"),
    *("Sessioni", "Visualizações", "Sessões", "Weergaven", "Sessies", "Wyświetlenia strony", "Sesje"),
)
TRAFFIC_COLUMNS = {
    "url": (
        *QUERY_COLUMNS["url"],
        *("Top page", "Top-Seiten", "Häufigste Seiten", "Wichtigste Seiten", "Beliebteste Seiten"),
        *("Pages les plus consultées", "Páginas más populares", "Principales páginas", "Principais páginas"),
        *("Páginas mais acessadas", "Populairste pagina's", "Toppagina's", "Pagina's", "Najpopularniejsze strony"),
        *("Strony", "Permalink", "URI", "Path", "Request", "Request URI", "Pfad", "Chemin", "Ruta"),
        *ANALYTICS_PAGES,
    ),
    **{name: QUERY_COLUMNS[name] for name in ("clicks", "impressions", "position")},
    "hits": ("Hits", "Requests", "Visits", "Besuche", "Visites", "Visitas", "Visite", "Bezoeken", *ANALYTICS_HITS),
    "date": ("Date", "Day", "Period", "Datum", "Zeitraum", "Période", "Fecha", "Período", "Data", "Periodo", "Month"),
}
_ADDRESS = re.compile(r"\s*https?://", re.IGNORECASE)
_RELATIVE = re.compile(r"\s*(?:https?://|/)", re.IGNORECASE)
_OF_ASSETS = re.compile(
    r"\b(?:images?|imgs?|src|thumb(?:nail)?s?|pictures?|photos?|videos?|logo|icon|bild(?:er)?|fotos?|immagin[ei]"
    r"|imagen(?:es)?|imagem|imagens|asset)\b"
)
LONG_TEXT = 400  # characters on average: a cell of prose


def merge(*tables: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Names by field, those of the first table first."""
    return {
        field: tuple(name for table in tables for name in table.get(field, ()))
        for field in dict.fromkeys(field for table in tables for field in table)
    }


def _cells(samples: Sequence[Sequence[str]], index: int, most: int = 5) -> list[str]:
    """The first non-empty cells of a column."""
    filled = (row[index] for row in samples if index < len(row) and row[index].strip())
    return [cell for cell, _ in zip(filled, range(most), strict=False)]


def _share(cells: list[str], tests: Iterable[bool]) -> float:
    return sum(tests) / len(cells) if cells else 0.0


def vector_columns(header: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str]:
    """Columns with 50 numbers or more in two of their first five non-empty cells (in all, where there are fewer)."""
    found = []
    for index, column in enumerate(header):
        cells = _cells(samples, index)
        if cells and sum(map(looks_like_vector, cells)) >= min(2, len(cells)):
            found.append(column)
    return found


def json_ld_columns(header: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str]:
    """Columns in which some of the first cells hold a breadcrumb as JSON-LD."""
    return [
        column
        for index, column in enumerate(header)
        if any("BreadcrumbList" in cell for cell in _cells(samples, index, most=50))
    ]


def _is_of_assets(column: str) -> bool:
    """Whether a column is one of pictures and the like, going by its name."""
    return _OF_ASSETS.search(header_key(column)) is not None


def _are_assets(cells: list[str]) -> bool:
    return _share(cells, map(screaming_frog.is_asset, cells)) > 0.5


def address_columns(
    names: Iterable[str], header: Sequence[str], samples: Sequence[Sequence[str]], chain: Iterable[str]
) -> list[str]:
    """The columns that hold a page's address, the best first: of those with one of `names`, in their order.

    One that is named after pictures is none; one whose first cells are empty, hold no address, or mostly files, only
    where there is no better. After the best one come those in `chain`: they count in rows that leave it empty.
    """
    by_key = {header_key(column): column for column in reversed(header)}
    wanted = dict.fromkeys(by_key[key] for name in names if (key := header_key(name)) in by_key)
    found = [column for column in wanted if not _is_of_assets(column)]

    def doubt(column: str) -> int:
        cells = _cells(samples, header.index(column), most=50)
        if _are_assets(cells) or not cells:
            return 2
        return 0 if any(map(_RELATIVE.match, cells)) else 1

    found.sort(key=doubt)
    chained = {header_key(name) for name in chain}
    return found[:1] + [column for column in found[1:] if header_key(column) in chained]


def add_by_content(mapping: dict[str, list[str]], header: Sequence[str], samples: Sequence[Sequence[str]]) -> None:
    """Adds to a mapping of pages what only contents show: vectors, breadcrumbs in JSON-LD, main text, addresses."""
    _separate_content_type(mapping, header, samples)
    vectors = vector_columns(header, samples)
    if vectors:
        mapping.setdefault("vector", vectors[:1])
    structured = json_ld_columns(header, samples)
    if structured:
        mapping.setdefault("breadcrumb", structured)
    taken = {column for columns in mapping.values() for column in columns} | set(vectors) | set(structured)
    free = {index: column for index, column in enumerate(header) if column not in taken}
    for index, column in free.items():
        cells = _cells(samples, index)
        addresses = _share(cells, (_ADDRESS.match(cell) is not None for cell in cells)) > 0.5
        if addresses and "url" not in mapping and not (_is_of_assets(column) or _are_assets(cells)):
            mapping["url"] = [column]
        elif "body" not in mapping and cells and sum(map(len, cells)) / len(cells) > LONG_TEXT:
            mapping["body"] = [column]


def add_address_by_content(
    mapping: dict[str, list[str]], header: Sequence[str], samples: Sequence[Sequence[str]]
) -> None:
    """Adds the first free column whose cells are mostly addresses or paths."""
    taken = {column for columns in mapping.values() for column in columns}
    for index, column in enumerate(header):
        cells = _cells(samples, index) if column not in taken else []
        if _share(cells, (cell.startswith("/") or _ADDRESS.match(cell) is not None for cell in cells)) > 0.5:
            mapping["url"] = [column]
            return


def _separate_content_type(
    mapping: dict[str, list[str]], header: Sequence[str], samples: Sequence[Sequence[str]]
) -> None:
    """A column named `Content` holds the main text in most files and the content type in old crawls."""
    for column in mapping.get("body", []):
        cells = _cells(samples, header.index(column))
        if _share(cells, map(screaming_frog.is_content_type, cells)) > 0.5:
            mapping.setdefault("content_type", [column])
            mapping["body"] = [other for other in mapping["body"] if other != column]
