"""Rules by which a table is recognised: its columns and first rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ingest.files.column_names import header_key
from ingest.formats import generic, screaming_frog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ingest.files.peek import Columns


def names(*columns: str) -> frozenset[str]:
    """Names of one and the same column, as they are compared."""
    return frozenset(map(header_key, columns))


def has(*wanted: frozenset[str], without: Iterable[frozenset[str]] = (), most: int = 10_000) -> Any:
    """A rule: a table has a column of each set of names, none of those in `without`, and not more than `most`."""
    unwanted = frozenset[str]().union(*without)

    def rule(columns: Columns) -> bool:
        keys = columns.keys
        return len(columns.header) <= most and not (keys & unwanted) and all(keys & group for group in wanted)

    return rule


_FROG, _ANY, _QUERY = screaming_frog.PAGE_COLUMNS, generic.PAGE_COLUMNS, generic.QUERY_COLUMNS
ADDRESS = names(*screaming_frog.ADDRESSES)
STATUS_CODE = names(*_FROG["status_code"])
CONTENT_TYPE = names(*_FROG["content_type"], "Content")
INDEXABILITY = names(*_FROG["indexability"])
INDEXABILITY_STATUS = names(*_FROG["indexability_status"])
TITLE = names(*_FROG["title"])
REDIRECT = names(*_FROG["redirect_url"])
DEPTH = names(*_FROG["crawl_depth"])
WORDS = names(*_FROG["word_count"])
DESCRIPTION = names(*_FROG["description"])
CANONICAL = names(*_FROG["canonical_link"])
H1, H2 = names("H1-1"), names("H2-1")
BODY = names(*_FROG["body"], *(f"{name} 1" for name in _FROG["body"]))
CRUMB = names(*_FROG["breadcrumb"], *(f"{name} 1" for name in _FROG["breadcrumb"]))
INLINKS = names(
    "Inlinks", "Liens entrants", "Eingehende Links", "Enlaces internos", "Enlaces entrantes", "Link in entrata"
)
OCCURRENCES = names("Occurrences", "Vorkommen", "Ocurrencias", "Occorrenze", "Apariciones")
SOURCE, TARGET = names(*screaming_frog.LINK_COLUMNS["source"]), names(*screaming_frog.LINK_COLUMNS["target"])
LINK_TYPE = names(*screaming_frog.LINK_COLUMNS["type"])
LINK_ANCHOR = names(*screaming_frog.LINK_COLUMNS["anchor"])
_TITLES = TITLE | names(*_ANY["title"])
TEXTS = TITLE | names(
    *(name for field in ("title", "h1", "body", "description") for name in _ANY[field]), *_FROG["body"]
)
CLICKS, IMPRESSIONS = names(*_QUERY["clicks"]), names(*_QUERY["impressions"])
QUERY, QUERY_PAGE = names(*_QUERY["query"]), names(*_QUERY["url"])
URL = names("URL", "Page URL", "Page", "Address", "Full URL")
KEYWORD = names("Keyword", "Keywords", "Suchbegriff", "Mot clé", "Palabra clave", "Parola chiave")

HTTP = re.compile(r"https?://", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d\d-\d\d$")
DEVICES = frozenset(
    {"desktop", "mobile", "tablet", "computer", "ordinateur", "tablette", "mobil", "smartphone", "ordenador", "móvil"}
    | {
        "компьютер",
        "мобильные устройства",
        "планшет",
        "パソコン",
        "モバイル",
        "タブレット",
        "桌面设备",
        "移动设备",
        "平板电脑",
    }
    | {"tableta", "cellulare", "dispositivo mobile", "computador", "celular", "telemóvel", "komputer", "tablety"}
)


def mostly(cells: list[str], is_one: Callable[[str], Any]) -> bool:
    return bool(cells) and sum(bool(is_one(cell)) for cell in cells) >= 0.8 * len(cells)


def _first_cells(columns: Columns) -> list[str]:
    return columns.cells(names(*columns.header[:1]))


def is_internal(columns: Columns) -> bool:
    """The Internal tab: addresses, states, titles, and much more of each page than any other tab has."""
    more = (H1, DESCRIPTION, WORDS, DEPTH, CANONICAL)
    return _INTERNAL(columns) and not columns.keys & OCCURRENCES and sum(bool(columns.keys & one) for one in more) > 1


_INTERNAL = has(ADDRESS, STATUS_CODE, TITLE)
ALL_LINKS = has(SOURCE, TARGET, LINK_TYPE)


def links_of(columns: Columns, group: frozenset[str], is_one: Callable[[str], Any]) -> bool:
    return ALL_LINKS(columns) and mostly(columns.cells(group), is_one)


def is_image_link(text: str) -> bool:
    return text.casefold() in {"image", "imagen", "immagine", "bild", "javascript", "css"}


def is_error(text: str) -> bool:
    return text.isdigit() and not 200 <= int(text) < 300


def is_insecure(columns: Columns) -> bool:
    return (
        ALL_LINKS(columns)
        and mostly(columns.cells(SOURCE), lambda cell: cell.startswith("https://"))
        and all(cell.startswith("http://") for cell in columns.cells(TARGET))
    )


def is_search_console(dimension: frozenset[str], is_one: Callable[[str], Any] | None = None) -> Any:
    """A rule: one of Search Console's tables, by its first column's name or contents."""
    numbers = has(CLICKS, IMPRESSIONS, without=(TEXTS,), most=7)

    def rule(columns: Columns) -> bool:
        if not numbers(columns) and (
            len(columns.header) != 5 or not generic.search_numbers(columns.header, columns.rows)
        ):
            return False
        by_cells = is_one is not None and mostly(_first_cells(columns), is_one)
        return by_cells or columns.order[0] in dimension

    return rule


_DATE = names("Date", "Dates", "Datum", "Fecha", "Data", "Período", "Period", "Дата", "日付", "日期")
_WHOLE_WEB = frozenset(
    {"web", "sieć", "internet", "веб поиск", "веб-поиск", "ウェブ", "网页", "网络"}
)  # what Search Console searches unless the user chose otherwise


def narrowing(rows: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Of Search Console's table of filters, those that make an export a part of the site's numbers: name and value."""
    pairs = [(row[0].strip(), row[1].strip()) for row in rows if len(row) > 1]
    return [
        (name, value) for name, value in pairs if header_key(name) not in _DATE and value.casefold() not in _WHOLE_WEB
    ]


def is_comparison(columns: Columns) -> bool:
    ends = ("clicks", "clics", "klicks", "clic", "cliques")
    periods = [key for key in columns.keys if key.endswith(tuple(f" {end}" for end in ends))]
    return len(periods) > 1 and 7 <= len(columns.header) <= 13


_FOLDERS = names(
    "Path", "Directory", "Folder", "Chemin", "Répertoire", "Pfad", "Verzeichnis", "Ruta", "Percorso", "Cartella"
)
_FOLDER_COUNTS = names(
    "URLs",
    "Total URLs",
    "URL",
    "% of Total",
    "Indexable",
    "Non-Indexable",
    "Indexable URLs",
    "% du total",
    "% del total",
)


def is_tree(columns: Columns) -> bool:
    """Folders in the first column and how many addresses each holds, without an address in any cell."""
    if not columns.order or columns.order[0] not in _FOLDERS or columns.keys & ADDRESS:
        return False
    return len(columns.keys & _FOLDER_COUNTS) > 0 and not any(
        HTTP.match(cell) for row in columns.rows for cell in row[1:]
    )


def is_extraction(columns: Columns) -> bool:
    """Custom extraction: an address, its state, and columns with numbers at their ends. A table with titles is
    somebody's own, whatever language its columns are in."""
    if not has(ADDRESS, STATUS_CODE, without=(CONTENT_TYPE - names("Content"), _TITLES, INDEXABILITY, REDIRECT))(
        columns
    ):
        return False
    others = [key for key in columns.keys if key not in ADDRESS | STATUS_CODE]
    return len(columns.header) > 2 and any(re.search(r" \d+$", key) for key in others)


def is_single_tab(columns: Columns) -> bool:
    return has(ADDRESS, INDEXABILITY, INDEXABILITY_STATUS)(columns)
