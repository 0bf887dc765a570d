"""What an embed run counted."""

from __future__ import annotations

from dataclasses import dataclass

from linker.runs.reports import Report


@dataclass(frozen=True, kw_only=True)
class EmbedReport(Report):
    """Pages by what became of their vectors, and which set the vectors are in."""

    unchanged: int = 0
    """Pages whose text is the one that their vector was made of."""
    model: str = ""
    made_of: str = ""
    """What is read of a page, in words, as the text recipe has it."""
    dimensions: int = 0
    embedded: int = 0
    without_text: int = 0
    seconds: float = 0.0
    advice: str = ""
    """A warning where the model does not know the languages of the pages."""

    @property
    def brought_news(self) -> bool:
        return self.embedded > 0
