"""export_links: what it writes, what it marks, how it ends."""

from __future__ import annotations

import csv
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command

from linker.models import EdgeStatus
from review.models import Release
from review.releases.create import release_pieces
from tests.conftest import ROOT, process_environment
from tests.factories import make_category, make_edge, make_page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.django_db


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "links.csv"


def donors(out: Path) -> list[str]:
    with out.open(newline="", encoding="utf-8") as file:
        return [row["donor_url"] for row in csv.DictReader(file)]


def test_accepted_links_leave_as_a_release_and_the_file_is_the_releases(project, out):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)

    call_command("export_links", "shop", str(out))

    release = Release.objects.get()
    edge.refresh_from_db()
    assert out.read_bytes() == b"".join(release_pieces(release))
    assert (edge.status, release.created_by, release.number) == (EdgeStatus.EXPORTED, None, 1)


@pytest.mark.parametrize("status", ["suggested", "all", "exported"])
def test_other_files_mark_nothing(project, out, status):
    edge = make_edge(project, status="exported" if status == "exported" else "suggested")
    before = edge.status

    call_command("export_links", "shop", str(out), status=status)

    edge.refresh_from_db()
    assert donors(out) == [edge.source.url]
    assert (edge.status, Release.objects.count()) == (before, 0)


def test_what_the_queue_shows_is_written_without_what_it_holds_back(project, out, capsys):
    shown, held = make_edge(project), make_edge(project, score=0.55)
    assert held.tier is None or held.tier.held

    call_command("export_links", "shop", str(out), status="shown")
    assert donors(out) == [shown.source.url]
    assert "holds" not in capsys.readouterr().out

    call_command("export_links", "shop", str(out), status="suggested")
    assert donors(out) == [shown.source.url, held.source.url]
    assert "The queue holds 1 of them back; --status shown leaves those out" in capsys.readouterr().out


def test_a_held_tier_that_is_named_is_written_as_the_queue_shows_it(project, out):
    held = make_edge(project, score=0.55)

    call_command("export_links", "shop", str(out), status="shown", tier=held.tier.name)

    assert donors(out) == [held.source.url]


def test_the_judges_columns_are_there(project, out):
    make_edge(project)

    call_command("export_links", "shop", str(out), status="suggested")

    with out.open(newline="", encoding="utf-8-sig") as file:
        row = next(csv.DictReader(file))
    assert float(row["score"]) == 0.85
    assert [bool(row[name]) for name in ("donor_url", "acceptor_url", "anchor_text")] == [True] * 3


def test_a_tier_and_a_category_narrow_the_links_down(project, out):
    tents = make_category(project, "Shop", "Tents")
    wanted = make_edge(project, make_page(project, category=tents), score=0.7)
    make_edge(project, make_page(project, category=tents), score=0.9)
    make_edge(project, score=0.7)

    call_command("export_links", "shop", str(out), status="suggested", tier="Related", category="Shop")

    assert donors(out) == [wanted.source.url]


def test_a_release_can_be_written_again(project, out, tmp_path):
    make_edge(project, status=EdgeStatus.ACCEPTED)
    call_command("export_links", "shop", str(out), format="joil")

    call_command("export_links", "shop", str(tmp_path / "again.csv"), release=1)

    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()
    assert Release.objects.count() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Nothing is ready to export"),
        ({"status": "suggested"}, "no such links"),
        ({"tier": "Gold"}, "There is no tier 'Gold' in shop. Its tiers: Likely, Related, Reserve"),
        ({"category": "A > B"}, "There is no category 'A > B'"),
        ({"release": 7}, "shop has no release 7"),
    ],
)
def test_what_cannot_be_done_is_said_and_no_file_appears(project, out, options, message):
    with pytest.raises(CommandError, match=message):
        call_command("export_links", "shop", str(out), **options)

    assert list(out.parent.iterdir()) == []


def test_a_file_from_before_survives_an_export_that_fails(project, out):
    out.write_text("precious")

    with pytest.raises(CommandError):
        call_command("export_links", "shop", str(out))

    assert out.read_text() == "precious"


def test_links_are_not_marked_where_the_file_cannot_be_made(project, tmp_path):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)

    for out in (tmp_path / "missing" / "links.csv", tmp_path):
        with pytest.raises(CommandError):
            call_command("export_links", "shop", str(out))

    edge.refresh_from_db()
    assert (edge.status, Release.objects.count()) == (EdgeStatus.ACCEPTED, 0)


def manage(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=process_environment(), capture_output=True, check=False
    )


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_standard_output_holds_the_file_and_nothing_else_and_failures_exit_with_1_or_2(project):
    make_edge(project, make_page(project, "/ä"), make_page(project, "/b"), status=EdgeStatus.ACCEPTED, anchor="to b")

    first = manage("export_links", "shop", "-", "--format", "joil")
    again = manage("export_links", "shop", "-")
    nowhere = manage("export_links", "nowhere", "-")
    usage = manage("export_links", "shop", "-", "--status", "rejected")

    assert first.returncode == 0
    assert (
        first.stdout.decode()
        == "donor_url,anchor_text,acceptor_url\nhttps://shop.example/ä,to b,https://shop.example/b\n"
    )
    assert b"1 link exported as release 1" in first.stderr
    assert (again.returncode, again.stdout) == (1, b"")
    assert b"Nothing is ready to export" in again.stderr
    assert (nowhere.returncode, usage.returncode) == (1, 2)
