"""Text in CSV cells that no spreadsheet runs as a formula: one rule, for rows that Python writes and that SQL does.

A spreadsheet takes a cell for a formula that begins with = + - @, in East Asian settings also with their full-width
forms, and some look past blanks and invisible characters. Such a cell gets an apostrophe in front, as does one
that begins with a tab or a line break, behind which a reader may see the start of another cell.
"""

from __future__ import annotations

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
BREAKS = "\t\n\r"
# White space, control characters, and what has no width: soft hyphen, joiners, marks of direction, byte-order mark.
UNSEEN = "".join(
    chr(code)
    for first, last in (
        *((0x01, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x061C, 0x061C), (0x1680, 0x1680), (0x180E, 0x180E)),
        *((0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x3000, 0x3000), (0x3164, 0x3164), (0xFEFF, 0xFEFF)),
    )
    for code in range(first, last + 1)
)


def safe_cell(text: str) -> str:
    """The text, with an apostrophe in front where a spreadsheet might run it."""
    return f"'{text}" if text.startswith(tuple(BREAKS)) or text.lstrip(UNSEEN).startswith(tuple(SIGNS)) else text


def safe_cell_sql(expression: str) -> str:
    """SQL of the same. Most texts begin with a letter, a digit or a tag, or with a blank and a letter: the first
    questions settle those, as looking past what is unseen walks through the whole text."""
    unseen = "E'" + "".join(f"\\u{ord(char):04X}" for char in UNSEEN) + "'"
    signs, breaks = (", ".join(str(ord(char)) for char in chars) for chars in (SIGNS, BREAKS))
    first, second = f"ascii({expression})", f"ascii(substr({expression}, 2, 1))"
    return (
        f"CASE WHEN {first} BETWEEN 65 AND 126 OR {expression} IS NULL OR {first} BETWEEN 46 AND 60 "
        f"OR {first} BETWEEN 192 AND 1500 OR {first} = 32 AND {second} BETWEEN 65 AND 126 OR {first} = 0 "
        f"THEN {expression} "
        f"WHEN {first} IN ({breaks}) OR ascii(ltrim({expression}, {unseen})) IN ({signs}) "
        f"THEN '''' || {expression} ELSE {expression} END"
    )
