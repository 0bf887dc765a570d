"""How much is held at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What is held at a time: more takes more memory and less time, and changes nothing else.

    sources      sources whose candidates are ranked, or whose words are chosen, together
    mentions    pages whose mentions are taken together
    sums        pages whose neighbours' vectors are summed together
    characters  of text held as tokens
    examples    examples that a trained model reads together
    """

    sources: int = 256
    mentions: int = 8192
    sums: int = 2048
    characters: int = 4_000_000
    examples: int = 100_000
