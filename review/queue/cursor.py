"""Where a list goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from linker.query_strings import MAX_ID

if TYPE_CHECKING:
    from linker.models import CandidateEdge
    from linker.models import QueueOrder as Order

_IN_PILOT = "~pilot"  # at the end of a cursor


@dataclass(frozen=True)
class Cursor:
    """Where a list goes on: the sort values of the last edge shown, and its place in the list, from 1."""

    values: tuple[float | int, ...]
    position: int
    in_pilot: bool = False  # among the suggestions of an open pilot, which come first

    @classmethod
    def of(cls, edge: CandidateEdge, order: Order, position: int, *, in_pilot: bool = False) -> Self:
        return cls(tuple(getattr(edge, name.lstrip("-")) for name in order.fields), position, in_pilot)

    @classmethod
    def parse(cls, text: str, order: Order) -> Self | None:
        """The inverse of str(); None where the text is not a cursor of this order."""
        in_pilot = text.endswith(_IN_PILOT)
        parts = text.removesuffix(_IN_PILOT).split("~")
        if len(parts) != len(order.fields) + 1:
            return None
        try:
            values = tuple(
                float(part) if name.startswith("-") else int(part)
                for name, part in zip(order.fields, parts, strict=False)
            )
            position = int(parts[-1])
        except ValueError:
            return None
        whole = [position, *(value for value in values if isinstance(value, int))]
        return cls(values, position, in_pilot) if all(0 <= number <= MAX_ID for number in whole) else None

    def __str__(self) -> str:
        return "~".join(map(repr, (*self.values, self.position))) + (_IN_PILOT if self.in_pilot else "")
