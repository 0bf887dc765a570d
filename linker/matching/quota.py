"""Which links of a donor stand in its text and which beside it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    # (phrase as it stands in the text, where it comes from, how well it fits), best first
    Phrase = tuple[str, str, float]


class Quota:
    """Which links of a donor stand in its text and which beside it, under the caps of both."""

    def __init__(
        self, inline: int, related: int, standing: Iterable[tuple[int, str]], rooms: Mapping[int, tuple[int, int]]
    ) -> None:
        """`standing`: donor and placement of each link that exists whatever a run finds; it has its room already.
        `rooms`: room in the text and beside it of donors that have less of it."""
        self.room, self.rooms = (inline, related), rooms
        self.used = {"inline": Counter[int](), "related": Counter[int]()}
        self.kept = Counter[int]()
        for source, placement in standing:
            self.used[placement][source] += 1

    def has_room(self, source: int) -> bool:
        """Whether one more link may stand in the donor's text."""
        return self.used["inline"][source] < self.rooms.get(source, self.room)[0]

    def keep(self, sources: Iterable[int]) -> None:
        """Keeps room beside the text of these donors, for one link each time that a donor stands there."""
        self.kept.update(sources)

    def put(self, source: int, wanted: str, has_place: bool, *, text_alone: bool, has_kept: bool = False) -> str | None:
        """ "inline" or "related", or None where there is no room for one more link.

        `text_alone`: the donor links to it beside its text already, so that it may not stand there a second time.
        `has_kept`: room was kept for it.
        """
        inline, related = self.rooms.get(source, self.room)
        if has_kept:
            self.kept[source] -= 1
        room = {"inline": inline, "related": related - self.kept[source]}
        places = ["inline"] if wanted == "inline" and has_place else []
        for placement in places if text_alone else [*places, "related"]:
            if self.used[placement][source] < room[placement]:
                self.used[placement][source] += 1
                return placement
        return None
