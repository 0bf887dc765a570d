"""Releasing, comparing, verifying and rolling back many links, against bare statements on the same rows.

    python bench/releases.py [--links 1000000]

Made up in SQL: ten accepted links a donor, each with words of its own and a place in a short text. Each step runs once;
what it is compared with runs just before on the same rows and is rolled back. A draft is compared with copying its rows
into a table, a release with a COPY of the same columns and an UPDATE of the links, a look for released links and a
roll-back with an UPDATE. Memory is the most of any of our processes while the step runs.
"""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import export
from _common import head, load_of_ours, migrate, note, row, timed
from django.contrib.auth.models import User
from django.db import connection, transaction

from linker.engine.params import MatchParams
from linker.models import Membership, Project, Role, Run
from review.live.verify import verify
from review.models import ReleaseFormat
from review.releases import create, diffs, drafts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINKS = "UPDATE linker_candidateedge SET status = 'exported', updated_at = now()"
OUT = "UPDATE review_publishedlink SET state = 'missing', looked_at = now(), since = now()"
DRAFT = "CREATE TABLE rows_of_a_draft AS SELECT id, source_id, target_id, anchor, rel FROM linker_candidateedge"


def fill(links: int) -> Project:
    """The links of bench/export.py, accepted, with words of their own and room for all of them."""
    export.fill(links)
    project = Project.objects.get(slug="export")
    params = MatchParams(inline_per_donor=15, related_per_donor=20, per_target=0, target_share=1.0).to_dict()
    Run.objects.filter(project=project).update(params=params)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE linker_candidateedge SET status = 'accepted', reviewed = true, anchor = 'words of link ' || id, "
            "span_start = NULL, span_end = NULL, body_hash = NULL, sentence = '', section_heading = '', "
            "placement = 'related'"
        )
        cursor.execute("VACUUM ANALYZE linker_candidateedge")
    return project


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def bare(*statements: str) -> float:
    """Seconds that the statements take; what they did is undone."""
    with undone(), connection.cursor() as cursor, timed() as watch:
        for statement in statements:
            if statement.lstrip().startswith("COPY"):
                with cursor.copy(statement) as copy:
                    for _piece in copy:
                        pass
            else:
                cursor.execute(statement)
    return watch.seconds


def step(what: str, links: int, target: float, floor: float, work: Callable[[], Any]) -> Any:
    with load_of_ours() as load, timed() as watch:
        done = work()
    row(
        what, f"{links:,} links", f"{watch.seconds:.1f} s", f"{floor:.1f} s", watch.seconds / max(floor, 0.1), target,
        load.most, most=2,
    )  # fmt: skip
    note(f"{what}: {load.own / 2**20:.0f} MiB of Python's own, {load.server / 2**20:.0f} MiB of PostgreSQL's")
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=1_000_000)
    links = parser.parse_args().links
    migrate()
    export.set_defaults()
    project = fill(links)
    user = User.objects.create(username="bench")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    before = project.releases.create(number=1, status="accepted", links=0, bytes=0, sha256="")  # nothing was out
    head()
    draft = drafts.make_draft(project, user, {}, ReleaseFormat.FULL)
    step("releases, a draft is filled", links, 30, bare(DRAFT), lambda: drafts.fill(draft))
    floor = bare(export.PLAIN, LINKS)
    release = step("releases, a draft is published", links, 15, floor, lambda: create.publish(draft, user))
    assert release.links == links, f"{release.held} links are held back"
    step("releases, compared with before", links, 20, 0.1, lambda: diffs.counts(project, 0, release.number))
    step("releases, looked for on the site", links, 10, bare(OUT), lambda: verify(project))
    back = drafts.make_roll_back(before, user)
    step("releases, a roll-back is drafted", links, 30, bare(DRAFT), lambda: drafts.fill(back))
    emptied = step("releases, a roll-back is published", links, 10, bare(LINKS), lambda: create.publish(back, user))
    again = drafts.make_roll_back(release, user)
    step("releases, back again is drafted", links, 30, bare(DRAFT), lambda: drafts.fill(again))
    last = step("releases, back again is published", links, 10, bare(LINKS), lambda: create.publish(again, user))
    assert (emptied.removed, last.added) == (links, links)
    step("releases, two that are alike compared", links, 20, 0.1,
         lambda: diffs.counts(project, release.number, last.number))  # fmt: skip


if __name__ == "__main__":
    main()
