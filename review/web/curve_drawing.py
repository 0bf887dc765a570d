"""Curves of precision and recall as whole numbers that an SVG of SIDE times SIDE can be made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from review.quality.curves import Point

SIDE = 400


@dataclass(frozen=True)
class Line:
    """`line`: the points of a polyline. `area`: those of the interval around it, there and back."""

    line: str
    area: str


@dataclass(frozen=True)
class Drawing:
    precision: Line
    recall: Line
    bound: int | None  # where the chosen bound is
    side: int = SIDE


def drawing(points: Sequence[Point], chosen: Point | None) -> Drawing:
    """From left to right the bound, from 0 to 1; upwards the share. Points that are not known are left out."""
    known = sorted((point for point in points if point.precision is not None), key=lambda point: point.bound)
    recalled = [point for point in known if point.recall is not None]
    return Drawing(
        precision=_line([(one.bound, one.precision or 0.0, one.precision_low, one.precision_high) for one in known]),
        recall=_line([(one.bound, one.recall or 0.0, one.recall_low, one.recall_high) for one in recalled]),
        bound=round(chosen.bound * SIDE) if chosen else None,
    )


def _line(rows: Sequence[tuple[float, float, float, float]]) -> Line:
    there = [_place(x, high) for x, _share, _low, high in rows]
    back = [_place(x, low) for x, _share, low, _high in reversed(rows)]
    return Line(" ".join(_place(x, share) for x, share, _low, _high in rows), " ".join(there + back))


def _place(x: float, y: float) -> str:
    return f"{round(x * SIDE)},{round((1 - y) * SIDE)}"
