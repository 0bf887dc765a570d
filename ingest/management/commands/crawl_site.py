"""Crawls a project's site, and imports what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest import services
from ingest.fetching.manage import create_source, sources_of
from ingest.fetching.run import run_fetch, start_fetch
from ingest.fetching.steps import start_step
from ingest.models import SiteSource, SourceKind
from linker.management.commands._cli import ProjectCommand, work_here
from linker.models import RunKind

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from linker.models import Project

NAME = "Crawl"
OPTIONS = ("max_pages", "max_minutes", "pages_a_second")


class Command(ProjectCommand):
    help = (
        "Crawls a project's site in this process, and imports its pages and their links, under runs as the browser's. "
        "It obeys robots.txt, and asks again only for what has changed. Exits with 1 and a message where nothing "
        "could be fetched."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--max-pages", type=int, help="ask for so many addresses at most")
        parser.add_argument("--max-minutes", type=int, help="stop after so many minutes")
        parser.add_argument("--pages-a-second", type=float, help="ask for so many addresses a second at most")
        parser.add_argument("--url", default="", metavar="ADDRESS", help="where to begin (default: the project's site)")
        parser.add_argument(
            "--texts-only",
            action="store_true",
            help="fetch only the pages that have no text, and import their texts and the places of their links",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        source = crawl_source(project, options["url"])
        chosen = {name: options[name] for name in OPTIONS if options[name] is not None}
        if options["texts_only"]:
            chosen["texts_only"] = True
        fetch = work_here(start_fetch(source, steps=False, to_queue=False, **chosen), run_fetch)
        self.show(fetch, verbose=options["verbose"], is_last=False)
        for kind in (RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS):
            step = start_step(fetch, kind, to_queue=False)
            if step is not None:
                ended = work_here(step, services.run_import)
                self.show(ended, verbose=options["verbose"], is_last=False)
        self.say_next(project)


def crawl_source(project: Project, address: str = "") -> SiteSource:
    """The project's crawl that begins at an address, its only one or the first where none is named; made where there
    is none. Raises UserError for an address that may not be asked."""
    crawls = sources_of(project).filter(kind=SourceKind.CRAWL)
    found = crawls.filter(address=address).first() if address else crawls.first()
    if found is not None:
        return found
    names = set(sources_of(project).values_list("name", flat=True))
    name = next(name for name in (NAME, *(f"{NAME} {n}" for n in range(2, len(names) + 3))) if name not in names)
    return create_source(
        project, None, kind=SourceKind.CRAWL, name=name, address=address or f"{project.base_url.rstrip('/')}/"
    )
