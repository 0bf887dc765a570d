"""Whether the words of a link are gone from its donor's text, as SQL: the one home of that rule."""

from __future__ import annotations


def alike(expression: str) -> str:
    """SQL of a text without what writers vary: case, typographic quotes and dashes, no-break spaces."""
    return f"translate(lower({expression}), E'’‘“”„–—\\u00a0', E'\\'\\'\"\"\"-- ')"


def words_gone_sql(edge: str, donor: str) -> str:
    """SQL: whether the text has changed since the words were chosen, and has them nowhere any more. `edge` and `donor`
    are the aliases of an edge and of its donor's page; an edge without a place in the text has no words to lose."""
    said, text = _on_one_line(alike(f"{edge}.anchor")), _on_one_line(alike(f"{donor}.body"))
    return (
        f"({edge}.placement = 'inline' AND {edge}.span_start IS NOT NULL "
        f"AND {edge}.body_hash IS DISTINCT FROM {donor}.body_hash AND strpos({text}, {said}) = 0)"
    )


def _on_one_line(expression: str) -> str:
    """SQL of a text whose words are apart by one space; by hand, because a regular expression takes ten times as
    long."""
    spaced = f"translate({expression}, E'\\n\\r\\t', '   ')"
    return f"replace(replace(replace({spaced}, '    ', ' '), '  ', ' '), '  ', ' ')"
