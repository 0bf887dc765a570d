"""What a look for sensitive pages and one for the roles of pages counted. Imports do both, and so do runs of their
own."""

from __future__ import annotations

from dataclasses import dataclass, field

from linker.engine.roles.policy import PageRole
from linker.models.policy import Sensitivity
from linker.runs.reports import Report


@dataclass(frozen=True, kw_only=True)
class SensitiveReport(Report):
    """Live pages that count as sensitive, and rules newly proposed by kind."""

    sensitive_pages: int = 0
    sensitive_proposed: dict[Sensitivity, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RolesReport(Report):
    """Live pages by the role in force, and those that have another one than before."""

    roles: dict[PageRole, int] = field(default_factory=dict)
    roles_changed: int = 0
