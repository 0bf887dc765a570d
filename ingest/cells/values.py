"""Cells to values: one parser a kind of cell. Each raises ValueError for a cell it does not understand, and OutOfRange
for one that it understands and that no column takes. Pure."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.addresses.normalise import is_storable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INT_MAX = 2**31 - 1
MAX_SHORT = 100  # characters of a number or time
MAX_JSON_LD = 2**20  # characters; read, JSON takes many times its length
MAX_DIMENSIONS = 16_000  # what a halfvec column can hold
_SPACES = str.maketrans("", "", " \u00a0\u202f\u2009'\u2019")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_COMMAS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")
_CURRENCY = re.compile(r"\A\s*(?:[$€£¥₹₽]|[A-Z]{3}(?=\s))|(?:[$€£¥₹₽]|(?<=\s)[A-Z]{3})\s*\Z")
_TRUE = {"true", "yes", "1", "vrai", "oui", "wahr", "ja", "verdadero", "si", "sí", "vero", "follow", "dofollow"}
_FALSE = {"false", "no", "0", "faux", "non", "falsch", "nein", "falso", "nofollow", "ugc", "sponsored"}
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_VECTOR_START = re.compile(rf"[\[{{(\s]*{_NUMBER}\s*,\s*{_NUMBER}\s*,")


class OutOfRange(ValueError):
    """A number or time that its column does not take; the text says which it takes, such as "0 or more"."""


def parse_number(text: str) -> float:
    """A number as people and exports write it: `1,234.5`, `1.234,5`, `24 541`, `1,5`, `10,00 %` (0.1)."""
    if len(text) > MAX_SHORT:
        raise ValueError("too long for a number")
    plain = text.translate(_SPACES)
    share = plain.endswith("%")
    plain = plain.removesuffix("%")
    if "," in plain and "." in plain:
        thousands = "," if plain.rfind(",") < plain.rfind(".") else "."
        plain = plain.replace(thousands, "")
    if plain.count(",") > 1:
        plain = plain.replace(",", "")
    if plain.count(".") > 1:
        plain = plain.replace(".", "")
    if not re.fullmatch(_NUMBER, plain.replace(",", "."), re.ASCII):
        raise ValueError("not a number")
    number = float(plain.replace(",", "."))
    if not np.isfinite(number):
        raise OutOfRange("below 1.8e308")
    return number / 100 if share else number


def parse_count(text: str) -> int:
    """A whole number from 0 to 2**31 - 1; a group of three digits after a point or comma is thousands."""
    if text.isdecimal() and text.isascii():
        number = int(text) if len(text) <= 10 else INT_MAX + 1
    else:
        plain = text[: MAX_SHORT + 1].translate(_SPACES)
        plain = re.sub("[.,]", "", plain) if _THOUSANDS.fullmatch(plain) else plain
        number = round(parse_number(plain))
    if not 0 <= number <= INT_MAX:
        raise OutOfRange(f"from 0 to {INT_MAX:,}")
    return number


def parse_status_code(text: str) -> int:
    """An HTTP status; 0 is a crawler's word for no answer."""
    code = parse_count(text)
    if code > 999:
        raise OutOfRange("from 0 to 999")
    return code


def parse_position(text: str) -> float | None:
    """An average position in search results; 0 means none."""
    position = parse_number(text)
    if position < 0:
        raise OutOfRange("0 or more")
    return position or None


def parse_importance(text: str) -> float:
    """How much something is wished for, on any scale from 0."""
    importance = parse_number(text)
    if importance < 0:
        raise OutOfRange("0 or more")
    return importance


def parse_value(text: str) -> float:
    """An amount on any scale from 0, with or without the sign of a currency. A comma before three digits is one of
    thousands, a point is not: `1,250` and `0.800`."""
    plain = _CURRENCY.sub("", text[: MAX_SHORT + 1]).translate(_SPACES)
    amount = parse_number(plain.replace(",", "") if _COMMAS.fullmatch(plain) else plain)
    if amount < 0:
        raise OutOfRange("0 or more")
    return amount


def parse_flag(text: str) -> bool:
    word = text.strip().casefold()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("neither true nor false")


def parse_indexable(text: str) -> bool:
    """`Indexable` or `Non-Indexable`, in the languages of the crawler's interface, or a plain flag."""
    word = text.strip().casefold()
    if word in ("indexable", "indexierbar", "indicizzabile", "indexável", "index"):
        return True
    if word == "noindex" or re.match(r"(non|no|nicht|não|not)[\s-]", word):
        return False
    return parse_flag(word)


def parse_time(text: str) -> datetime:
    """RFC 1123 (`Thu, 12 Feb 2026 16:48:29 GMT`) or ISO 8601; without a zone it is read as UTC."""
    text = text.strip()
    if len(text) > MAX_SHORT:
        raise ValueError("too long for a time")
    try:
        return _time(text).astimezone(UTC)
    except OverflowError:
        raise OutOfRange("from the year 1 to the year 9999, in UTC") from None
    except (TypeError, IndexError):  # only a part of RFC 1123 is there
        raise ValueError("not a time") from None


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = parsedate_to_datetime(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


# ------------------------------------------------------------------------------------------------------ vectors


def heading(text: str) -> str:
    """A heading without blanks around it and the sign at its end that links to it, which manuals have and crawlers take
    for a part of it."""
    text = text.strip()
    return text[:-1].rstrip() if text.endswith(("¶", "\N{LINK SYMBOL}", " #")) else text


def looks_like_vector(text: str, least: int = 50) -> bool:
    """Whether a cell holds `least` numbers or more, comma-separated, with or without brackets."""
    return text.count(",") >= least - 1 and _VECTOR_START.match(text) is not None


def parse_vector(text: str) -> np.ndarray:
    """The unit vector of a cell, float32, one axis.

    Accepts `0.1,-0.2`, JSON lists, braces, exponents, spaces. Raises ValueError for anything else, for numbers that
    are not finite, for a vector of zeros and for more than MAX_DIMENSIONS numbers.
    """
    bare = text.strip().strip("[](){} \t\r\n\"'").strip()
    if not bare:
        raise ValueError("no numbers")
    if bare.count(",") >= MAX_DIMENSIONS:
        raise ValueError(f"more than {MAX_DIMENSIONS:,} numbers")
    try:
        vector = np.fromstring(bare, dtype=np.float64, sep=",")
    except ValueError:
        raise ValueError("not a list of numbers") from None
    if not np.isfinite(vector).all():
        raise ValueError("holds numbers that are not finite")
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise ValueError("is all zeros")
    scaled = vector / largest
    return (scaled / np.linalg.norm(scaled)).astype(np.float32)


# -------------------------------------------------------------------------------------------------- breadcrumbs


def parse_json_ld(text: str) -> list[tuple[str, str]]:
    """The first BreadcrumbList of a JSON-LD cell as (name, address) by position; empty where there is none.

    Looks inside arrays and `@graph`; an entry's `item` is an address, an object or missing. The script element that
    holds the JSON may be around it. Names that the database cannot hold (JSON's escapes write NUL and halves of
    surrogate pairs) are not understood.
    """
    if len(text) > MAX_JSON_LD:
        raise ValueError("too long")
    try:
        data = json.loads(_inside_script(text))
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    trail = _find_breadcrumbs(data)
    entries = trail.get("itemListElement", []) if trail else []
    crumbs = [entry for entry in (entries if isinstance(entries, list) else [entries]) if isinstance(entry, dict)]
    crumbs.sort(key=_crumb_position)
    found = [crumb for crumb in map(_crumb, crumbs) if crumb[0]]
    if not all(is_storable(name) for name, _ in found):
        raise ValueError("not text")
    return found


def _inside_script(text: str) -> str:
    """What a script element holds; any other text as it is."""
    text = text.strip()
    start, _, rest = text.partition(">")
    if start[:7].lower() != "<script" or rest[-9:].lower() != "</script>":
        return text
    return rest[:-9]


def _find_breadcrumbs(data: Any) -> dict[str, Any] | None:
    """The first one in reading order; a stack of its own, for a cell may be nested deeper than Python's."""
    stack = [data]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            kind = node.get("@type")
            if kind == "BreadcrumbList" or (isinstance(kind, list) and "BreadcrumbList" in kind):
                return node
            stack.extend(reversed(node.values()))
        elif isinstance(node, list):
            stack.extend(reversed(node))
    return None


def _crumb_position(entry: dict[str, Any]) -> float:
    try:
        return float(entry.get("position", 0))
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _crumb(entry: dict[str, Any]) -> tuple[str, str]:
    item = entry.get("item")
    inner = item if isinstance(item, dict) else {}
    name = entry.get("name") or inner.get("name") or ""
    address = item if isinstance(item, str) else inner.get("url") or inner.get("@id") or ""  # the latter may be a name
    return (name if isinstance(name, str) else "", address if isinstance(address, str) else "")


def why_left_out(error: ValueError, text: str) -> tuple[str, str]:
    """Why a cell is left out, a key of ingest.fields.skipped.REASONS, and what the list shows as its value."""
    return ("out_of_range", f"{text}, not {error}") if isinstance(error, OutOfRange) else ("bad_cell", text)


def of_cells(parse: Callable[[str], Any], cells: Sequence[str]) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """What each cell that differs says, None for an empty one; and why some are left out, see why_left_out()."""
    known: dict[str, Any] = {}
    bad = {}
    for cell in set(cells):
        text = cell.strip()
        known[cell] = None
        try:
            known[cell] = parse(text) if text else None
        except ValueError as error:
            bad[cell] = why_left_out(error, text)
    return known, bad
