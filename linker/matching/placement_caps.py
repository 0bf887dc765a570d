"""Which links of a donor are in its text and which beside it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from linker.matching.room import Room


class PlacementCaps:
    """Counts the links of each donor in its text and beside it, under the caps of both."""

    def __init__(self, room: Room, less_room: Mapping[int, Room], existing: Iterable[tuple[int, str]]) -> None:
        """`room` of a donor, and of those that have less. `existing`: donor and placement of each link that is there
        whatever a run finds; it has its room already."""
        self.room, self.less_room = room, less_room
        self.used = {"inline": Counter[int](), "related": Counter[int]()}
        self.kept = Counter[int]()
        for source, placement in existing:
            self.used[placement][source] += 1

    def has_room_in_text(self, source: int) -> bool:
        """Whether one more link may be in the donor's text."""
        return self.used["inline"][source] < self.less_room.get(source, self.room).inline

    def keep_room(self, sources: Iterable[int]) -> None:
        """Keeps room beside the text of these donors, one link for each time that a donor is among them."""
        self.kept.update(sources)

    def put(
        self, source: int, wanted: str, has_place: bool, *, text_alone: bool, has_kept_room: bool = False
    ) -> str | None:
        """ "inline" or "related", or None where there is no room for one more link.

        `wanted`: where its tier wants it; `has_place`: the donor's text has words for it. `text_alone`: the donor links
        to it beside its text already, so that it may not be there a second time. `has_kept_room`: see keep_room.
        """
        inline, related = self.less_room.get(source, self.room)
        if has_kept_room:
            self.kept[source] -= 1
        room = {"inline": inline, "related": related - self.kept[source]}
        places = ["inline"] if wanted == "inline" and has_place else []
        for placement in places if text_alone else [*places, "related"]:
            if self.used[placement][source] < room[placement]:
                self.used[placement][source] += 1
                return placement
        return None
