"""What a question finds: reasons that keep a suggestion away, and what else is good to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import CandidateEdge

BOTH = "both"


@dataclass(frozen=True)
class Link:
    """Where something can be done about a finding. `manager`: only managers may open it."""

    label: str
    href: str
    manager: bool = False


@dataclass(frozen=True)
class Finding:
    """One thing that keeps suggestions away (`blocking`), or that is good to know.

    `code` names the reason and never changes; `text` says it, `todo` what helps. `side` is the page it is about
    ("donor", "acceptor", "both"), or empty where it is about the pair.
    """

    code: str
    text: str
    todo: str = ""
    link: Link | None = None
    side: str = ""
    blocking: bool = True


@dataclass(frozen=True)
class PairAnswer:
    """Whether a pair has a suggestion (`edge`), in one sentence, and what there is to say, the most final first."""

    headline: str
    edge: CandidateEdge | None = None
    findings: list[Finding] = field(default_factory=list)


def blocking_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: not finding.blocking)
