"""Write links to a CSV; accepted links are exported as a release."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tqdm import tqdm

from linker.errors import UserError
from linker.management.commands._cli import ProjectCommand
from linker.models import Project
from linker.models.querysets import HELD
from review.models import ReleaseFormat
from review.queue.filter_choices import tier_choices
from review.queue.filters import QueueFilter
from review.releases.create import create_release, release_pieces
from review.releases.formats.registry import FORMATS, by_name
from review.releases.rows import Choice, choose, file_pieces

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator


class Command(ProjectCommand):
    help = (
        "Writes a project's links to a CSV file. With --status accepted (the default) the links are exported: "
        "they are marked as such and their file is kept as a release. With any other status nothing is marked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("out", metavar="OUT", help="the file to write, or - for standard output")
        parser.add_argument(
            "--status",
            default=str(Choice.ACCEPTED),
            choices=[str(choice) for choice in Choice],
            help="accepted: what is ready to export; shown: the open suggestions that the queue shows; suggested: all "
            "open suggestions, also those that the queue holds back; exported: what has been exported so far; all: "
            "suggested, accepted and exported together (default: accepted)",
        )
        parser.add_argument(
            "--format",
            default=str(ReleaseFormat.FULL),
            choices=[*ReleaseFormat.values, *(one.name for one in FORMATS if one.name not in ReleaseFormat.values)],
            help="full: all columns; joil: donor_url, anchor_text, acceptor_url (default: full); the others only with "
            "--release",
        )
        parser.add_argument("--tier", metavar="NAME", help="only links of this tier")
        parser.add_argument(
            "--category", metavar="'A > B'", help="only links whose donor is in this category or below it"
        )
        parser.add_argument(
            "--release", type=int, metavar="N", help="write release N again, byte for byte or in another --format"
        )
        parser.add_argument("--bom", action="store_true", help="begin the file with a byte-order mark, for Excel")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        if options["release"] is None and options["format"] not in ReleaseFormat.values:
            raise UserError(f"The format {options['format']} is made of a release: name one with --release N.")
        chosen = _filter(project, options["tier"], options["category"])
        if options["release"] is not None:
            said = self._again(project, options)
        elif options["status"] == Choice.ACCEPTED:
            said = self._release(project, chosen, options)
        else:
            said = self._without_release(project, chosen, options)
        (self.stderr if options["out"] == "-" else self.stdout).write(said)

    def _again(self, project: Project, options: dict[str, Any]) -> str:
        release = project.releases.filter(number=options["release"]).first()
        if release is None:
            raise UserError(f"{project.slug} has no release {options['release']}.")
        fmt = by_name(options["format"]) or FORMATS[0]
        if not fmt.is_for(release):
            said = f"Release {release.number} is kept with three columns, which are too few for {fmt.name}."
            raise UserError(said)
        with _target(options["out"]) as file:
            for piece in fmt.pieces(release):
                file.write(piece)
        digest = f"; sha256 {release.sha256}" if fmt is FORMATS[0] else ""
        return f"Release {release.number} written again: {_links(release.links)}{digest}"

    def _release(self, project: Project, chosen: QueueFilter, options: dict[str, Any]) -> str:
        """Opens the file first, so that links are not marked where it cannot be written."""
        with _target(options["out"]) as file:
            release = create_release(
                project,
                chosen.scope(project),
                fmt=ReleaseFormat(options["format"]),
                filters=chosen.to_dict(),
                bom=options["bom"],
            )
            try:
                for piece in release_pieces(release):
                    file.write(piece)
            except OSError as error:
                raise UserError(
                    f"Release {release.number} is made, but {options['out']} could not be written: {error.strerror}. "
                    f"Fetch the file again with --release {release.number}."
                ) from error
        held = f"; {_links(release.held)} held back, see the release's page" if release.held else ""
        made = f"{_links(release.links)} exported as release {release.number} of {project.slug}"
        return f"{made}; sha256 {release.sha256}{held}"

    def _without_release(self, project: Project, chosen: QueueFilter, options: dict[str, Any]) -> str:
        edges = choose(chosen.scope(project), Choice(options["status"]), of_tier=chosen.tier is not None)
        count = edges.count()
        if not count:
            raise UserError(f"{project.slug} has no such links. Run match_project, or choose another --status.")
        with (
            _target(options["out"]) as file,
            tqdm(total=None, unit="B", unit_scale=True, disable=not self.stderr.isatty(), leave=False) as bar,
        ):
            for piece in file_pieces(edges, ReleaseFormat(options["format"]), bom=options["bom"]):
                file.write(piece)
                bar.update(len(piece))
        held = edges.filter(HELD).count() if chosen.tier is None else 0
        said = f"{_links(count)} written; none of them is marked"
        return f"{said}. The queue holds {held} of them back; --status shown leaves those out" if held else said


def _links(count: int) -> str:
    return f"{count} {'link' if count == 1 else 'links'}"


def _filter(project: Project, tier_name: str | None, category_path: str | None) -> QueueFilter:
    chosen = QueueFilter()
    if tier_name is not None:
        tier = next((tier for tier in tier_choices(project) if tier.name == tier_name), None)
        if tier is None:
            names = ", ".join(tier.name for tier in tier_choices(project))
            raise UserError(f"There is no tier {tier_name!r} in {project.slug}. Its tiers: {names}.")
        chosen = replace(chosen, tier=tier.pk)
    if category_path is not None:
        path = [name.strip() for name in category_path.split(">")]
        category = project.categories.filter(path=path).first()
        if category is None:
            raise UserError(f"There is no category {category_path!r} in {project.slug}. Write it as 'Top > Below'.")
        chosen = replace(chosen, category=category.pk)
    return chosen


@contextlib.contextmanager
def _target(out: str) -> Iterator[IO[bytes]]:
    """A file that takes the name `out` once it is complete; "-" is standard output.

    Raises UserError where nothing can be written there.
    """
    if out == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{out} is a folder. Name a file.")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = unfinished.open("xb")
    except OSError as error:
        raise UserError(f"Nothing can be written to {path.parent}: {error.strerror}.") from error
    try:
        with file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
