"""What the pages of a project are for, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.engine.roles.policy import LABELS as ROLE_NAMES
from linker.engine.roles.policy import PageRole
from linker.pages.report import RolesReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import joined, number

if TYPE_CHECKING:
    from collections.abc import Mapping

LABELS = {"roles": gettext_lazy("Pages by role"), "roles_changed": gettext_lazy("Pages whose role changed")}
KEYS = {"roles": lambda role: _(ROLE_NAMES[role])}


def roles_sentence(roles: Mapping[PageRole, int]) -> str:
    """How many pages have which role; empty where no page has another one than article."""
    found = [_counted(role, pages) for role, pages in roles.items() if role is not PageRole.ARTICLE]
    if not found:
        return ""
    articles = _counted(PageRole.ARTICLE, roles.get(PageRole.ARTICLE, 0))
    return _("By role, the pages are %(articles)s, %(others)s.") % {"articles": articles, "others": joined(found)}


def _counted(role: PageRole, pages: int) -> str:
    said = {
        PageRole.HOME: ngettext("%(pages)s home page", "%(pages)s home pages", pages),
        PageRole.HUB: ngettext("%(pages)s hub", "%(pages)s hubs", pages),
        PageRole.ARTICLE: ngettext("%(pages)s article", "%(pages)s articles", pages),
        PageRole.PRODUCT: ngettext("%(pages)s product", "%(pages)s products", pages),
        PageRole.UTILITY: ngettext("%(pages)s utility page", "%(pages)s utility pages", pages),
        PageRole.THIN: ngettext("%(pages)s thin page", "%(pages)s thin pages", pages),
        PageRole.EVENT: ngettext("%(pages)s event page", "%(pages)s event pages", pages),
    }
    return said[role] % {"pages": number(pages)}


def sentences(report: RolesReport) -> list[str]:
    return [roles_sentence(report.roles) or _("Every page is an article.")]


ROLES = ReportKind(RolesReport, sentences, Table(LABELS, KEYS).rows)
