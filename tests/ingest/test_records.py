"""Records of a file are those of Python's csv module, however they are told apart, with the lines they begin on."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import FileError
from ingest.files import sniff
from ingest.files.table import Table
from tests.examples import tried

NAMES = ("Address", "Title 1", "H1-1")
KNOWN = {"address", "title 1", "h1 1"}
CELLS = st.one_of(
    st.sampled_from(("", ",", '"', "\n", "\r\n", '","', '"\n"', "a b", "é")), st.text("ab,\"\n\r;é'", max_size=6)
)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=30)


def table(path) -> Table:
    return Table(path, path.name, sniff.inspect(path, path.name, known=KNOWN))


def read(path) -> list[tuple[int, list[str]]]:
    return [(line, list(cells)) for line, cells in table(path)]


def expected(text: str) -> list[tuple[int, list[str]]]:
    """Line and cells of each record, one at a time."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records, line = [], 1
    for record in reader:
        if record and line > 1:
            records.append((line, record))
        line = reader.line_num + 1
    return records


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@tried(300)
@given(
    st.one_of(ROWS, ROWS.map(lambda rows: [[*row, "", ""][:3] for row in rows])),
    st.sampled_from((csv.QUOTE_ALL, csv.QUOTE_MINIMAL)),
    st.sampled_from(("\n", "\r\n")),
    st.integers(1, 40),
)
def test_whatever_the_cells_hold(folder, rows, quoting, end, piece):
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator=end)
    writer.writerows([NAMES, *rows])
    text = out.getvalue()
    path = folder / "file.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ingest.files.text.PIECE", piece)  # records end in other pieces than they begin in
        assert read(path) == expected(text)


@tried(300)
@given(st.text('ab,"\n', max_size=40), st.integers(1, 40))
def test_text_that_no_writer_made_is_read_or_refused_alike(folder, body, piece):
    text = "Address,Title 1,H1-1\n" + body + "\n" if not body.endswith("\n") else "Address,Title 1,H1-1\n" + body
    path = folder / "file.csv"
    path.write_bytes(text.encode())
    try:
        wanted = expected(text)
    except csv.Error:
        wanted = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ingest.files.text.PIECE", piece)
        if wanted is None:
            with pytest.raises(FileError):
                read(path)
        else:
            assert read(path) == wanted


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_rows_come_as_columns(tmp_path, quoting, end):
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator=end).writerows([NAMES, ("a", "", "c"), ("d", "e f", "")])
    path = tmp_path / "file.csv"
    path.write_text(out.getvalue(), newline="")
    [records] = table(path).chunks()
    assert records.columns == [["a", "d"], ["", "e f"], ["c", ""]]
    assert list(records.lines) == [2, 3]


def test_columns_are_there_only_where_every_row_is_as_wide_as_the_header(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text('Address,Title 1,H1-1\na,"b, c",d\ne,f\n', newline="")
    [records] = table(path).chunks()
    assert records.columns is None
    assert records.rows == [["a", "b, c", "d"], ["e", "f"]]
