"""The marks that end a sentence or a clause, for everything that divides a text: characters, tokens, lines.

A mark followed by space ends what comes before it; those of scripts written without spaces end it wherever they are.
Which full stops end nothing (of abbreviations, before lower case) is for each reading to say:
`linker.engine.text.sentences` shows sentences to people and goes by words as well,
`linker.engine.anchors.tokenized` reads millions of tokens at once and goes by the length of the word alone.
"""

from __future__ import annotations

FULL_STOPS = ".…"
EXCLAMATIONS = "!?"  # may belong to a name: a link may end with one
SENTENCE_ENDS = FULL_STOPS + EXCLAMATIONS  # before space
WIDE_SENTENCE_ENDS = "。！？"  # wherever they are
CLAUSE_ENDS = ";:"  # before space; a sentence goes on behind them
CLOSING = "\"'”’»)]"  # may come between the end of a sentence and the space
WIDE_CLOSING = "」』）"


def ended(text: str) -> str:
    """The text with a full stop, unless it ends with a mark of its own: another sentence follows it."""
    text = text.rstrip()
    last = text.rstrip(CLOSING + WIDE_CLOSING)[-1:]
    return text if not last or last in SENTENCE_ENDS + WIDE_SENTENCE_ENDS else f"{text}."
