"""Links put together column by column are those of the rows one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.addresses.destinations import PageFinder
from ingest.addresses.normalise import Site
from ingest.fields.skipped import Skipped
from ingest.files.table import Records
from ingest.kinds import registry
from ingest.kinds.links.parse import LinkParser, Links
from tests.ingest.files import LINK_HEADER, SITE

ADDRESSES = (
    *(f"{SITE}/{name}" for name in "abc"),
    *(
        f"{SITE}/a#",
        f"{SITE}/b#top",
        f" {SITE}/c",
        f"{SITE}/d",
        "/a",
        "",
        "mailto:x",
        "https://other.example/",
        "https://",
    ),
)
WORDS = (
    "",
    " ",
    "words",
    "two  words",
    " edge",
    "a\u00a0b",
    "tab\there",
    "back\\slash",
    "line\nbreak",
    "x" * 2001,
    "\x1c",
)
SKIPS = (
    "Skip to content",
    "ſkip to content",
    "ir al contenido",
    "İr al contenido",
    "skip  to content",
    "Sizes",
    "zebra",
)
ROWS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(("Hyperlink", "Image", " HREF ")),
            st.sampled_from(ADDRESSES),
            st.sampled_from(ADDRESSES),
            st.sampled_from(("", "alt")),
            st.one_of(st.sampled_from(WORDS), st.sampled_from(SKIPS), st.text(max_size=8)),
            st.sampled_from(("true", "false", "", "?")),
            st.sampled_from(("", "nofollow")),
            st.sampled_from(("//body/main/p/a", "//body/nav/a", "//ol/li[1]/a", "//aside/a")),
            st.sampled_from(("Content", "Navigation", "Sidebar", "Mega menu")),
        ).map(list),
        st.just(["too", "short"]),
    ),
    max_size=60,
)


def parser(header: tuple[str, ...]) -> LinkParser:
    ids = {f"{SITE}/{name}": number for number, name in enumerate("abc", 1)}
    return LinkParser(header, registry.get("links").guess(header, []), PageFinder(ids, Site(SITE)), Skipped())


@given(ROWS, st.integers(1, 20), st.booleans())
def test_columns_and_rows_say_the_same(rows, size, bare):
    header = LINK_HEADER[1:3] if bare else LINK_HEADER
    rows = [row[1:3] if bare and len(row) > 2 else row for row in rows]
    one, many = parser(header), parser(header)
    lines = range(2, 2 + len(rows))
    expected = [tuple(link) for link in map(one.parse, lines, rows) if link is not None]
    records = [
        Records(lines[at : at + size], len(header), rows[at : at + size], []) for at in range(0, len(rows), size)
    ]
    found = Links.joined([many.parse_all(some) for some in records])
    columns = (found.source, found.target, found.block, found.follow)
    assert (
        list(zip(*(column.tolist() for column in columns), found.anchor, found.place.tolist(), strict=True)) == expected
    )
    assert many.ignored == one.ignored
    assert (many.skipped.counts, many.skipped.first) == (one.skipped.counts, one.skipped.first)
