"""Decides on suggestions as a file says, and releases them: editors for the demo, and decisions made elsewhere."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from linker.errors import UserError
from linker.management.commands._cli import ProjectCommand
from linker.models import CandidateEdge, EdgeStatus, Rel
from linker.models.querysets import UNDECIDED
from linker.projects.members import find_user
from review.decisions import decide_edges
from review.models import Verb
from review.releases.create import NothingToExport, create_release
from review.releases.outgoing import withdraw
from review.rulings import Ruling

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from django.contrib.auth.models import User

    from linker.models import Project

COLUMNS = ("donor_url", "acceptor_url", "anchor_text", "rel", "decision")


class Command(ProjectCommand):
    help = (
        "Accepts open suggestions or withdraws released links as the rows of a CSV file say, with the columns "
        f"{', '.join(COLUMNS)}, and releases them. The decision is “accept” or “withdraw”; warnings about the words "
        "are overruled. Links that are no longer open, or not released, stay as they are."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE", help="the rows, CSV in UTF-8")
        parser.add_argument("--user", required=True, metavar="USERNAME", help="whose decisions they are")

    def handle(self, *args: Any, **options: Any) -> None:
        project, rows = self.project(options["slug"]), _rows(options["file"])
        user = cast("User", find_user(options["user"]))
        done = [edge for row in rows if (edge := _decided(project, row, user)) is not None]
        self.stdout.write(f"{len(done)} of {len(rows)} links decided.")
        try:
            release = create_release(project, project.edges.filter(pk__in=done), user=user)
        except NothingToExport as error:
            self.stdout.write(str(error))
        else:
            self.stdout.write(f"Release {release.number}: {release.links} links, {release.held} held back.")


def _rows(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from error
    for row in rows:
        if missing := [name for name in COLUMNS if row.get(name) is None]:
            raise UserError(f"{file} has no column {', '.join(missing)}.")
        if row["rel"] not in Rel.values:
            raise UserError(f"{file}: a rel is one of {', '.join(Rel.values)}, not “{row['rel']}”.")
        if row["decision"] not in ("accept", "withdraw"):
            raise UserError(f"{file}: a decision is “accept” or “withdraw”, not “{row['decision']}”.")
    return rows


def _decided(project: Project, row: dict[str, str], user: User) -> int | None:
    """The edge that the row decides on; None where there is none to decide on."""
    pages = {"source__url": row["donor_url"], "target__url": row["acceptor_url"]}
    edges = CandidateEdge.objects.filter(project=project, **pages)
    if row["decision"] == "withdraw":
        left = edges.filter(status=EdgeStatus.EXPORTED)
        edge_id = left.values_list("pk", flat=True).first()
        return edge_id if withdraw(project, left, user) else None
    edge = edges.filter(UNDECIDED).first()
    return edge.pk if edge is not None and _accepted(project, edge, row, user) else None


def _accepted(project: Project, edge: CandidateEdge, row: dict[str, str], user: User) -> bool:
    verb = Verb.ACCEPT if row["anchor_text"] == edge.anchor else Verb.EDIT
    ruling = Ruling(anchor=row["anchor_text"] if verb == Verb.EDIT else None, rel=Rel(row["rel"]))
    outcome = decide_edges(project, [edge.pk], verb, user, ruling)
    if outcome.doubts:
        codes = tuple(warning.code for warning in outcome.doubts[0].warnings)
        outcome = decide_edges(project, [edge.pk], verb, user, replace(ruling, overrules={edge.pk: codes}))
    return bool(outcome.decided)
