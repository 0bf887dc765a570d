"""Reads: which of a project's addresses a pattern finds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.engine.patterns import compile_pattern
from linker.models import Page, Project
from linker.models.querysets import PRESENT
from linker.pages.listing import addresses

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Matches:
    """The live pages a pattern finds: how many, the first few addresses, and among how many pages they were sought."""

    count: int
    examples: list[str]
    searched: int


SAMPLE = 200_000
EXAMPLES = 3


def pattern_matches(project: Project, patterns: Sequence[str]) -> list[Matches]:
    """What each pattern finds, in one pass over the first SAMPLE addresses by id. Raises PatternError."""
    compiled = [compile_pattern(pattern) for pattern in patterns]
    found: list[list[str]] = [[] for _ in compiled]
    counts = [0] * len(compiled)
    searched = 0
    if compiled:
        for url in itertools.islice(addresses(Page.objects.filter(PRESENT, project=project)), SAMPLE):
            searched += 1
            for index, pattern in enumerate(compiled):
                if pattern.search(url):
                    counts[index] += 1
                    if len(found[index]) < EXAMPLES:
                        found[index].append(url)
    return [Matches(count, urls, searched) for count, urls in zip(counts, found, strict=True)]
