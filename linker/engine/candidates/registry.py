"""The candidate generators there are. A new one is a file beside this one and a line in GENERATORS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.candidates.address import Address
from linker.engine.candidates.category import Category
from linker.engine.candidates.category_links import CategoryLinks
from linker.engine.candidates.cocited import Cocited
from linker.engine.candidates.lexical import Lexical
from linker.engine.candidates.mention import Mention
from linker.engine.candidates.nearest import Nearest
from linker.engine.candidates.neighbour_links import NeighbourLinks
from linker.engine.candidates.reciprocal import Reciprocal
from linker.engine.candidates.similar_linkers import SimilarLinkers

if TYPE_CHECKING:
    from collections.abc import Collection

    from linker.engine.candidates.base import Generator

# By name, in the order in which people see them. In a run each has the bit of its place here; what is stored is the
# name. New ones go to the end: an int32 has room for 31.
GENERATORS: dict[str, Generator] = {
    generator.name: generator
    for generator in (
        Category(),
        Nearest(),
        Lexical(),
        Mention(),
        NeighbourLinks(),
        SimilarLinkers(),
        Cocited(),
        CategoryLinks(),
        Reciprocal(),
        Address(),
    )
}


def bit_of(name: str) -> int:
    """The bit that says that a generator proposed a pair. Raises ValueError where there is no such generator."""
    return 1 << list(GENERATORS).index(name)


def names(bits: int) -> list[str]:
    """The generators in `bits` by name, in the order of GENERATORS."""
    return [name for place, name in enumerate(GENERATORS) if bits >> place & 1]


def switched_on(chosen: Collection[str] = ()) -> list[Generator]:
    """The generators of these names, in the order of GENERATORS; all of them where no name is given.

    Raises ValueError for a name that there is not.
    """
    unknown = sorted(set(chosen) - GENERATORS.keys())
    if unknown:
        raise ValueError(f"there is no generator {unknown[0]}; there are {', '.join(GENERATORS)}")
    return [generator for name, generator in GENERATORS.items() if not chosen or name in chosen]


def choices() -> list[tuple[str, str]]:
    """Names and labels, for forms and filters."""
    return [(name, generator.label) for name, generator in GENERATORS.items()]


def label_of(name: str) -> str:
    """What people read; the name itself of a generator that is no more, which older suggestions may carry."""
    return GENERATORS[name].label if name in GENERATORS else name
