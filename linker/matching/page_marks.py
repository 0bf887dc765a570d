"""Marks of what a match run reads of each page: two that differ say that the page has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linker.engine.arrays.vectors import HalfVectors, slices
from linker.models import MatchedPages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.site import Site
    from linker.models import Run

_ODD = np.uint64(0x9E3779B97F4A7C15)
_KINDS = {"ids": "<i8", "marks": "<u8", "names": "<u8", "nearness": "<f4", "runs": "<i8"}


@dataclass(frozen=True)
class PageMarks:
    """Arrays [n], as linker.models.MatchedPages keeps them, in the order of `ids`."""

    ids: NDArray[np.int64]
    marks: NDArray[np.uint64]
    names: NDArray[np.uint64]
    nearness: NDArray[np.float32]
    runs: NDArray[np.int64]

    @classmethod
    def kept(cls, run: Run) -> tuple[Self, MatchedPages] | None:
        """Those of a run, with their row; None where the run has none."""
        row = MatchedPages.objects.filter(run=run).first()
        if row is None:
            return None
        return cls(**{name: np.frombuffer(getattr(row, name), kind) for name, kind in _KINDS.items()}), row

    def keep(self, run: Run, *, changes: int = 0, changed: int = 0) -> None:
        """Keeps them with the run, in place of what was."""
        arrays: dict[str, Any] = {name: getattr(self, name).astype(kind).tobytes() for name, kind in _KINDS.items()}
        MatchedPages.objects.update_or_create(run=run, defaults=arrays | {"changes": changes, "changed": changed})


@dataclass(frozen=True)
class Changes:
    """What changed, as positions among the pages of now, int64 [k], ascending: `changed` pages, and those of them that
    are `new` and those that are `renamed`; `gone` int64: ids of pages that are no more."""

    changed: NDArray[np.int64]
    new: NDArray[np.int64]
    renamed: NDArray[np.int64]
    gone: NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.changed) + len(self.gone)


def marks_of(site: Site, ids: NDArray[np.int64]) -> PageMarks:
    """The marks of a site as a run reads it; `ids` int64 [n], ascending. Without nearness, and of no run yet."""
    names = np.empty(len(ids), dtype=np.uint64)
    texts = np.empty(len(ids), dtype=np.uint64)
    columns = zip(site.urls, site.titles, site.h1s, site.bodies, site.languages, strict=True)
    for place, (url, title, h1, body, language) in enumerate(columns):
        names[place] = _number(f"{url}\0{title}\0{h1}")
        texts[place] = _number(f"{language}\0{body}")
    names = _mixed(names, site.target)
    own = (site.source, _vector_sums(site), site.nodes, _link_sums(site, ids))
    marks = _mixed(texts, names, *own)
    return PageMarks(ids, marks, names, np.zeros(len(ids), np.float32), np.zeros(len(ids), np.int64))


def changes_between(before: PageMarks, now: PageMarks) -> Changes:
    """What changed since a run's marks were kept."""
    place = np.searchsorted(before.ids, now.ids)
    found = np.minimum(place, max(len(before.ids) - 1, 0))
    known = before.ids[found] == now.ids if len(before.ids) else np.zeros(len(now.ids), dtype=np.bool_)
    changed = ~known
    changed[known] = before.marks[found[known]] != now.marks[known]
    renamed = np.zeros_like(known)
    renamed[known] = before.names[found[known]] != now.names[known]
    gone = before.ids[~np.isin(before.ids, now.ids)]
    return Changes(np.flatnonzero(changed), np.flatnonzero(~known), np.flatnonzero(renamed), gone)


def carried(before: PageMarks, now: PageMarks) -> PageMarks:
    """The marks of now with nearness and runs of before, where the page was known."""
    nearness, runs = now.nearness.copy(), now.runs.copy()
    _, mine, theirs = np.intersect1d(now.ids, before.ids, assume_unique=True, return_indices=True)
    nearness[mine], runs[mine] = before.nearness[theirs], before.runs[theirs]
    return replace(now, nearness=nearness, runs=runs)


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _mixed(first: NDArray[np.uint64], *others: NDArray[Any]) -> NDArray[np.uint64]:
    found = first.copy()
    with np.errstate(over="ignore"):
        for other in others:
            found = (found ^ other.astype(np.uint64)) * _ODD
            found ^= found >> np.uint64(29)
    return found


def _vector_sums(site: Site) -> NDArray[np.uint64]:
    """A number for each page's vector, uint64 [n]."""
    sums = np.zeros(len(site), dtype=np.uint64)
    weights: NDArray[np.uint64]
    weights = np.asarray(np.random.default_rng(1).integers(1, 2**63, site.unit.shape[1], dtype=np.uint64))
    half = site.unit.half if isinstance(site.unit, HalfVectors) else site.unit.astype(np.float16)
    for part in slices(len(sums)):
        bits = np.ascontiguousarray(half[part]).view(np.uint16)
        with np.errstate(over="ignore"):
            for column in range(bits.shape[1]):
                sums[part] += bits[:, column].astype(np.uint64) * weights[column]
    return sums


def _link_sums(site: Site, ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for the links of each page, whatever their order, uint64 [n]."""
    words: dict[str, int] = {}
    for anchor in site.links.anchors:
        if anchor not in words:
            words[anchor] = _number(anchor)
    said = np.fromiter((words[anchor] for anchor in site.links.anchors), dtype=np.uint64, count=len(site.links))
    sums = np.zeros(len(site), dtype=np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(sums, site.links.src, _mixed(said, ids[site.links.dst]))
    return sums
