"""What is still to be done once a result is committed, as a run of its own: some suggestions at a time, so that no
editor waits for more than these.

The run is written in the transaction of the result that it follows. So it is there if and only if the result is, and
whoever dies in between leaves it to the sweep. The work is in linker.matching.follow_up_work.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.module_loading import import_string

from linker.matching.cohorts import cohorts_of
from linker.models import Project, Run, RunKind
from linker.runs import lifecycle
from linker.runs.kinds import job_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class Piece(StrEnum):
    """A piece of such work, in the order in which they are done. The names are stored with the runs."""

    COUNTS = "counts"  # of edges, where many may have written them meanwhile
    SECTIONS = "sections"  # the category of each edge's donor
    ALLOWED = "allowed"  # what was ruled out and is allowed again
    RULED_OUT = "ruled_out"  # what suppressions and safety classes say of new suggestions
    MOVED = "moved"  # edges of pages that lead elsewhere, are gone or are back
    TURNED = "turned"  # suggestions of pages that may not be linked any more, or may again
    TIERS = "tiers"  # suggestions that other bounds read, since a page has another category or role
    PARAGRAPHS = "paragraphs"  # of a match run: which paragraph would take a sentence
    COMPARISON = "comparison"  # of a match run: with the one before


def start(
    project: Project,
    pieces: Iterable[Piece],
    *,
    follows: Run | None = None,
    user: AbstractBaseUser | AnonymousUser | None = None,
    target: int | None = None,
) -> Run | None:
    """Writes the run that does these pieces, in the caller's transaction; None where there is nothing to do.

    The process that ends `follows` goes on with it at once (linker.runs.lifecycle.execute). Without `follows` but with
    a `user` the workers take it up; without either it is done here, once the transaction is committed. `target`: tiers
    of suggestions to this page alone.
    """
    wanted = set(pieces)
    if not cohorts_of(project):
        wanted.discard(Piece.TIERS)
    if not wanted or not project.edges.exists():
        return None
    params: dict[str, Any] = {"pieces": [piece.value for piece in Piece if piece in wanted]}
    params |= {} if target is None else {"target": target}
    begun_by = follows.created_by if follows is not None else user
    run = lifecycle.start_run(
        project, RunKind.FOLLOW_UP, params, begun_by, to_queue=follows is None and user is not None, follows=follows,
        by_itself=True,
    )  # fmt: skip
    if follows is None and user is None:
        transaction.on_commit(partial(import_string(job_type(RunKind.FOLLOW_UP).path), run.pk))
    return run


def after_roles(run: Run) -> Run | None:
    """Called as a run that finds the roles of pages ends well."""
    has_one = run.followed_by.filter(kind=RunKind.FOLLOW_UP).exists()
    return None if has_one else start(run.project, [Piece.TIERS], follows=run)
