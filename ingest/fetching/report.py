"""What a fetch found, as a type and in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import decimal, number


@dataclass(frozen=True, kw_only=True)
class FetchReport(Report):
    """`pages` answered and were read; `is_whole`: the site was seen to its end, else `stopped_by` says what ended the
    fetch. `slowed`: how often a refusal made it slower, `slowest`: milliseconds from one to the next at worst.
    `rendered`: pages that a browser read; `need_browser` those whose text no browser has brought out;
    `protected`: posts with a password of their own; `offsite`: posts and addresses of sitemaps of another site.
    `unread_sitemaps`: the addresses of those that could not be read, each with why. `endless`: examples of those that
    were left out as endless."""

    source: str = ""
    pages: int = 0
    unchanged: int = 0
    links: int = 0
    redirects: int = 0
    broken: int = 0
    soft_404: int | None = None
    barred: int = 0
    protected: int | None = None
    offsite: int | None = None
    trapped: int = 0
    failed: int = 0
    slowed: int = 0
    slowest: int = 0
    waiting: int = 0
    need_browser: int = 0
    rendered: int = 0
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    is_whole: bool = False
    stopped_by: str = ""
    unread_sitemaps: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()

    @property
    def brought_news(self) -> bool:
        return self.pages > 0


TABLE = Table(
    labels={
        "source": gettext_lazy("Source"),
        "pages": gettext_lazy("Pages"),
        "unchanged": gettext_lazy("Not changed since the last fetch"),
        "links": gettext_lazy("Links"),
        "redirects": gettext_lazy("Redirects"),
        "broken": gettext_lazy("Broken addresses"),
        "soft_404": gettext_lazy("Answers that hide that there is no page (soft 404)"),
        "barred": gettext_lazy("Barred by robots.txt"),
        "protected": gettext_lazy("Behind a password"),
        "offsite": gettext_lazy("On another site"),
        "trapped": gettext_lazy("Left out as endless"),
        "failed": gettext_lazy("Did not answer"),
        "waiting": gettext_lazy("Left for a later fetch"),
        "need_browser": gettext_lazy("Pages that need a browser"),
        "requests": gettext_lazy("Requests"),
        "bytes": gettext_lazy("Bytes"),
        "seconds": gettext_lazy("Seconds"),
    },
    hidden={"is_whole", "stopped_by", "slowed", "slowest", "rendered", "unread_sitemaps", "endless"},
)


SITEMAPS_SAID = 3


def unread_sitemap(one: str) -> str:
    """What is said of an entry of `unread_sitemaps`."""
    return _("A sitemap could not be read, so pages that it alone names were not found: %(which)s.") % {"which": one}


def soft_404(addresses: int) -> str:
    said = ngettext(
        "%(n)s address answers as if there were a page, and there is none: it counts as gone.",
        "%(n)s addresses answer as if there were pages, and there are none: they count as gone.",
        addresses,
    )
    return said % {"n": number(addresses)}


def endless(report: FetchReport) -> str:
    said = ngettext(
        "%(n)s address was left out as endless, such as %(example)s. To keep its kind out altogether, exclude it in "
        "the settings of the source. A sitemap brings in what you want of it.",
        "%(n)s addresses were left out as endless, such as %(example)s. To keep their kind out altogether, exclude it "
        "in the settings of the source. A sitemap brings in what you want of them.",
        report.trapped,
    )
    return said % {"n": number(report.trapped), "example": report.endless[0]}


def sentences(report: FetchReport) -> list[str]:
    pages = ngettext("%(n)s page was fetched.", "%(n)s pages were fetched.", report.pages)
    said = [pages % {"n": number(report.pages)}]
    if not report.is_whole:
        part = _("Only a part of the site was seen, so no page counts as gone.")
        said.append(f"{part} {report.stopped_by}".strip())
    said += [unread_sitemap(one) for one in report.unread_sitemaps[:SITEMAPS_SAID]]
    if (more := len(report.unread_sitemaps) - SITEMAPS_SAID) > 0:
        others = ngettext("%(n)s more sitemap could not be read.", "%(n)s more sitemaps could not be read.", more)
        said.append(others % {"n": number(more)})
    if report.soft_404:
        said.append(soft_404(report.soft_404))
    if report.endless:
        said.append(endless(report))
    if report.slowed:
        slowly = _("The site refused requests, so the crawl slowed down: up to %(seconds)s s from one to the next.")
        said.append(slowly % {"seconds": decimal(report.slowest / 1000, 2)})
    if report.rendered:
        rendered = ngettext("%(n)s page was read in a browser.", "%(n)s pages were read in a browser.", report.rendered)
        said.append(rendered % {"n": number(report.rendered)})
    if report.need_browser:
        browser = ngettext(
            "%(n)s page shows its text only in a browser.",
            "%(n)s pages show their text only in a browser.",
            report.need_browser,
        )
        said.append(browser % {"n": number(report.need_browser)})
    return said


FETCH = ReportKind(FetchReport, sentences, TABLE.rows)
