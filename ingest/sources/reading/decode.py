"""Bytes of a page to text."""

from __future__ import annotations

import codecs
import re

from ingest.files.encodings import guess

MAX_DECLARATION = 4096  # bytes in which a page may name its encoding; browsers look at 1024
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Names that browsers read as a larger encoding: https://encoding.spec.whatwg.org/#names-and-labels
_LARGER = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_LARGER |= {"iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874", "euc_kr": "cp949"}
# Python knows encodings that are none of text, and some that no page may have.
_OF_PAGES = re.compile(
    r"utf-(?:8|16(?:-[lb]e)?)|iso8859-\d+|iso2022_jp|cp(?:125\d|866|874|932|949)|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gb18030|big5(?:hkscs)?|euc_jp"
)


def decode(body: bytes, content_type: str = "") -> str:
    """The text of a page: by its byte order mark, as UTF-8 where it is UTF-8 throughout, else by the header of the
    answer, by the page's own word, and by what its bytes look like. What fits no encoding becomes U+FFFD.

    UTF-8 comes before what is declared: no other text than ASCII is UTF-8 by chance, and declarations are often wrong.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    start = body[:MAX_DECLARATION].decode("latin-1")
    declared = [_named(content_type), _named(start)]
    wide = next((name for name in declared[:1] if name.startswith(("utf-16", "iso2022"))), "")
    for encoding in filter(None, [wide, "utf-8", *declared]):
        try:
            return body.decode(encoding)
        except ValueError:
            continue
    encoding = guess(body).encoding or next(filter(None, declared), "utf-8")
    return body.decode(encoding, "replace")


def _named(text: str) -> str:
    """The encoding that a header or the beginning of a page names; empty where there is none that pages have."""
    found = _CHARSET.search(text)
    if found is None:
        return ""
    try:
        name = codecs.lookup(found[1]).name
    except LookupError:
        return ""
    name = _LARGER.get(name, name)
    return name if _OF_PAGES.fullmatch(name) else ""
