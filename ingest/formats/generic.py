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
        *("Webadresse", "Internetadresse", "Seitenadresse", "Seiten-URL", "URL der Seite", "Adresse web", "Lien"),
        *("Adresse de la page", "URL de la page", "Dirección web", "URL de la página", "Enlace", "Indirizzo web"),
        *("Indirizzo della pagina", "URL della pagina", "URL da página", "Endereço da página", "Adres", "Webadres"),
        *("Paginaadres", "Adres URL", "Adres strony", "Adres internetowy"),
    ),
    "title": (
        *("Title", "Page Title", "Meta Title", "SEO Title", "Titre", "Titel", "Título", "Titolo", "Tytuł", "Name"),
        *("Seitentitel", "Titel der Seite", "Titre de la page", "Título de la página", "Titolo della pagina"),
        *("Título da página", "Paginatitel", "Tytuł strony", "Nom", "Nombre", "Nome", "Naam", "Nazwa"),
    ),
    "h1": (
        *("Heading", "Headline", "Überschrift", "Hauptüberschrift", "Schlagzeile", "Titre principal", "Encabezado"),
        *("Titular", "Intestazione", "Cabeçalho", "Kop", "Koptekst", "Nagłówek"),
    ),
    "headings": (
        *("Headings", "Subheadings", "Überschriften", "Zwischenüberschriften", "Unterüberschriften", "Intertitres"),
        *("Sous-titres", "Subtítulos", "Sottotitoli", "Tussenkoppen", "Śródtytuły"),
    ),
    "description": (
        *("Description", "Meta Description", "Excerpt", "Summary", "Beschreibung", "Kurzbeschreibung"),
        *("Metabeschreibung", "Teaser", "Vorspann", "Zusammenfassung", "Auszug", "Résumé", "Chapô", "Extrait"),
        *("Descripción", "Resumen", "Extracto", "Descrizione", "Riassunto", "Sommario", "Descrição", "Resumo"),
        *("Beschrijving", "Omschrijving", "Samenvatting", "Opis", "Streszczenie", "Podsumowanie"),
    ),
    "body": (
        *("Body", "Text", "Page Content", "Content Text", "Body Text", "Texte", "Texto", "Haupttext", "Volltext"),
        *("Fließtext", "Seitentext", "Artikeltext", "Seiteninhalt", "Corps", "Corps du texte", "Contenido", "Cuerpo"),
        *("Testo", "Contenuto", "Corpo", "Conteúdo", "Tekst", "Inhoud", "Treść"),
    ),
    "breadcrumb": (
        *("Breadcrumb Path", "Category Path", "Category", "Categories", "Catégorie", "Kategorie", "Section"),
        *("Kategorien", "Rubrik", "Ressort", "Bereich", "Sparte", "Rubrique", "Catégories", "Categoría"),
        *("Categorías", "Sección", "Rúbrica", "Categoria", "Categorie", "Sezione", "Rubrica", "Categorias", "Seção"),
        *("Secção", "Editoria", "Categorieën", "Rubriek", "Sectie", "Kategoria", "Kategorie strony", "Dział"),
        *("Rubryka", "Sekcja"),
    ),
    "content_type": ("MIME Type",),
    "status_code": ("HTTP Status", "HTTP Code", "HTTP Status Code", "Response Code"),
    "indexability": ("Indexable", "Is Indexable"),
    "canonical_link": ("Canonical", "Canonical URL", "Canonical Link"),
    "redirect_url": ("Redirect", "Redirect To", "Redirects To"),
    "language": ("Lang", "Locale", "HTML Lang", "Langue de la page", "Taal", "Język"),
    "word_count": (
        *("Words", "Wörterzahl", "Anzahl Wörter", "Mots", "Palabras", "Parole", "Palavras", "Woorden", "Słowa"),
    ),
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
    "last_modified": (
        *("Modified", "Lastmod", "Updated", "Updated At", "Date Modified", "Geändert", "Geändert am", "Aktualisiert"),
        *("Änderungsdatum", "Modifié le", "Date de modification", "Mis à jour", "Fecha de modificación", "Actualizado"),
        *("Data di modifica", "Aggiornato", "Data de modificação", "Atualizado", "Gewijzigd", "Gewijzigd op"),
        *("Data modyfikacji", "Zmodyfikowano"),
    ),
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
        *("Páginas principales", "Pagine", "Pagine principali", "Strona", "Current URL", "Páginas principais"),
        *("Страница", "Страницы", "Популярные страницы", "Самые популярные страницы", "ページ", "上位のページ"),
        *("网页", "排名靠前的网页", "热门网页"),
    ),
    "query": (
        *("Query", "Queries", "Top queries", "Search Query", "Search Queries", "Search term", "Keyword", "Main Query"),
        *("Requête", "Requêtes", "Requêtes les plus fréquentes", "Mot clé", "Suchanfrage", "Suchanfragen"),
        *("Suchbegriff", "Häufigste Suchanfragen", "Häufigste Anfragen", "Consulta", "Consultas"),
        *("Consultas principales", "Principais consultas", "Query principali", "Zoekopdracht", "Zoekopdrachten"),
        *("Populairste zoekopdrachten", "Zapytanie", "Zapytania", "Najpopularniejsze zapytania", "Custom Anchor"),
        *("Query più frequenti", "Consultas más populares", "Запрос", "Запросы", "Поисковый запрос"),
        *("Популярные запросы", "Самые популярные запросы", "クエリ", "上位のクエリ", "检索词", "查询", "热门查询"),
    ),
    "clicks": (
        *("Clicks", "URL Clicks", "Clics", "Klicks", "Clic", "Cliques", "Klikken", "Kliknięcia", "Клики"),
        *("クリック数", "点击次数", "点击数"),
    ),
    "impressions": (
        *("Impressions", "URL Impressions", "Impressionen", "Impresiones", "Impressioni", "Impressões", "Vertoningen"),
        *("Wyświetlenia", "Показы", "表示回数", "展示", "展示次数", "曝光次数"),
    ),
    "position": (
        *("Position", "Average Position", "Avg. Position", "Position moyenne", "Durchschnittliche Position"),
        *("Posición", "Posición media", "Posizione", "Posizione media", "Posição", "Posição média", "Positie"),
        *("Gemiddelde positie", "Pozycja", "Średnia pozycja", "Current position", "Позиция", "Средняя позиция"),
        *("掲載順位", "平均掲載順位", "排名", "平均排名"),
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
    *("Paginapad en schermklasse", "Ścieżka strony i klasa ekranu", "Путь к странице и класс экрана"),
    *("ページ パスとスクリーン クラス", "ページパスとスクリーン クラス", "网页路径和屏幕类"),
    # As its API calls them.
    *("pagePathPlusQueryString", "unifiedPagePathScreen", "landingPagePlusQueryString", "pageLocation"),
)
# The best first: how often a page was viewed, then visits, then people.
ANALYTICS_HITS = (
    *("Views", "Pageviews", "Page views", "screenPageViews", "Aufrufe", "Vues", "Vistas", "Visualizzazioni"),
    *("Visualizações", "Weergaven", "Wyświetlenia strony", "Просмотры", "浏览次数", "查看次数"),
    *("Sessions", "Sitzungen", "Sesiones", "Sessioni", "Sessões", "Sessies", "Sesje", "Сеансы", "セッション", "会话数"),
    *("Active users", "activeUsers", "Aktive Nutzer", "Total users", "totalUsers", "Users", "活跃用户"),
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
    "date": (
        "Date",
        "Day",
        "Period",
        "Datum",
        "Zeitraum",
        "Période",
        "Fecha",
        "Período",
        "Data",
        "Periodo",
        "Month",
        "Дата",
        "日付",
        "日期",
    ),
}
_WHOLE = re.compile(r"\d{1,3}(?:[\s.,’'\u00a0\u202f]\d{3})+|\d+")
_PERCENT = re.compile(r"<?\d{1,3}(?:[.,]\d+)?[\s\u00a0\u202f]*[%％]")
_RANK = re.compile(r"\d{1,3}(?:[.,]\d+)?")
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
    add_crawl_by_content(mapping, header, samples)
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


def search_numbers(header: Sequence[str], samples: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Which columns hold clicks, impressions and positions where their names are of a language that is not known.

    Search Console has them in one order in each language: clicks, impressions, a percentage of the two, a position.
    Empty where the rows are not so.
    """
    for at in range(2, len(header) - 1):
        rows = [row[at - 2 : at + 2] for row in samples if len(row) == len(header)]
        shapes = (_WHOLE, _WHOLE, _PERCENT, _RANK)
        if rows and all(shape.fullmatch(cell.strip()) for row in rows for shape, cell in zip(shapes, row, strict=True)):
            return {"clicks": [header[at - 2]], "impressions": [header[at - 1]], "position": [header[at + 1]]}
    return {}


def _columns_before_their_lengths(header: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str]:
    """Columns of texts that are followed by the number of their characters, as a crawler writes titles and
    descriptions whatever its language."""
    found = []
    for at, column in enumerate(header[:-1]):
        pairs = [(row[at], row[at + 1]) for row in samples if len(row) == len(header) and row[at].strip()]
        if len(pairs) > 1 and all(length.strip() == str(len(text)) for text, length in pairs):
            found.append(column)
    return found


def add_crawl_by_content(
    mapping: dict[str, list[str]], header: Sequence[str], samples: Sequence[Sequence[str]]
) -> None:
    """Adds what shows in a crawl in a language that is not known: types of content, the status behind them, and the
    title and description, which stand before their lengths. For rows without any column of texts that is known."""
    kinds = [
        at
        for at in range(len(header) - 1)
        if (cells := _cells(samples, at)) and all(map(screaming_frog.is_content_type, cells))
    ]
    if not kinds or "title" in mapping:
        return
    mapping.setdefault("content_type", [header[kinds[0]]])
    if all(re.fullmatch(r"[1-5]\d\d|0", cell.strip()) for cell in _cells(samples, kinds[0] + 1)):
        mapping.setdefault("status_code", [header[kinds[0] + 1]])
    for field, column in zip(("title", "description"), _columns_before_their_lengths(header, samples), strict=False):
        mapping.setdefault(field, [column])


def _separate_content_type(
    mapping: dict[str, list[str]], header: Sequence[str], samples: Sequence[Sequence[str]]
) -> None:
    """A column named `Content` holds the main text in most files and the content type in old crawls."""
    for column in mapping.get("body", []):
        cells = _cells(samples, header.index(column))
        if _share(cells, map(screaming_frog.is_content_type, cells)) > 0.5:
            mapping.setdefault("content_type", [column])
            mapping["body"] = [other for other in mapping["body"] if other != column]
