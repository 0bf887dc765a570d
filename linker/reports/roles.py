"""What the pages of a project are for, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.roles.policy import NOUNS, PageRole
from linker.pages.report import RolesReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping

LABELS = {"roles": "Pages by role", "roles_changed": "Pages whose role changed"}


def roles_sentence(roles: Mapping[PageRole, int]) -> str:
    """How many pages have which role; empty where no page has another one than article."""
    found = [count(pages, NOUNS[role]) for role, pages in roles.items() if role is not PageRole.ARTICLE]
    if not found:
        return ""
    listed = f"{', '.join(found[:-1])} and {found[-1]}" if len(found) > 1 else found[0]
    return f"By role, the pages are {count(roles.get(PageRole.ARTICLE, 0), 'article')}, {listed}."


def sentences(report: RolesReport) -> list[str]:
    return [roles_sentence(report.roles) or "Every page is an article."]


ROLES = ReportKind(RolesReport, sentences, Table(LABELS).rows)
