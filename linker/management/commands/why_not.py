"""Says on the command line why a page, or a pair of pages, has no suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from linker.explain.page import why_not_page
from linker.explain.pair import why_not_pair
from linker.management.commands._cli import ProjectCommand
from linker.pages.listing import find_page, nearest_addresses

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable

    from linker.explain.findings import Finding
    from linker.models import Page, Project


class Command(ProjectCommand):
    help = (
        "Says why a pair of pages has no suggestion or, of one page alone, what keeps it from giving and receiving "
        "them. Exits with 1 where the site has no such page."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("urls", nargs="*", metavar="URL", help="the donor, or the donor and the acceptor")
        parser.add_argument("--donor", default="", metavar="URL", help="the page that would give the link")
        parser.add_argument("--acceptor", default="", metavar="URL", help="the page that would receive it")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        named = [*options["urls"], *(options[side] for side in ("donor", "acceptor") if options[side])]
        if not named:
            raise CommandError("Name a page, or the donor and the acceptor of a pair.")
        if len(named) > 2:
            raise CommandError(f"Name one page or two, not {len(named)}: the donor first, then the acceptor.")
        pages = [self._page(project, address) for address in named]
        if len(pages) == 1:
            self._write(why_not_page(project, pages[0]))
            return
        answer = why_not_pair(project, pages[0], pages[1])
        self.stdout.write(answer.headline)
        self._write(answer.findings)

    def _page(self, project: Project, address: str) -> Page:
        page = find_page(project, address)
        if page is None:
            near = nearest_addresses(project, address)
            raise CommandError(
                f"{project.slug} has no page {address}." + (f" The nearest: {', '.join(near)}." if near else "")
            )
        return page

    def _write(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            side = f"{finding.side}: " if finding.side else ""
            kind = finding.code if finding.blocking else f"({finding.code})"
            self.stdout.write(f"{kind} {side}{finding.text} {finding.todo}".rstrip())
