"""The counts of edges that are kept are those that a count finds, whoever wrote the edges and in which order."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models.functions import Coalesce

from linker.models import CandidateEdge, Category, EdgeBand, EdgeCount, EdgeStatus, Page, Project
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import ACCEPTED, HELD, TO_REVIEW
from linker.storage.edge_counts import MANY, differences, fold, fold_many, recount
from tests.factories import make_category, make_edge, make_page, make_project

if TYPE_CHECKING:
    from collections.abc import Callable


def rows() -> int:
    return EdgeCount.objects.count()


def sums(project: Project) -> dict[str, int]:
    return kept_counts(project).aggregate(
        to_review=total(TO_REVIEW), held=total(HELD), accepted=total(ACCEPTED), all=total()
    )


class Walk:
    """Random writes of every kind that the application makes, in SQL and by the ORM."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project, self.random = project, random.Random(seed)
        self.categories = [None, make_category(project, "A"), make_category(project, "A", "B")]
        self.pages = [make_page(project, category=self.random.choice(self.categories)) for _ in range(6)]
        self.tiers = [None, *project.tiers.all()]

    def some(self) -> list[int]:
        ids = list(CandidateEdge.objects.order_by("pk").values_list("pk", flat=True))
        return self.random.sample(ids, self.random.randint(0, min(len(ids), 4)))

    def add(self) -> None:
        source, target = self.random.sample(self.pages, 2)
        if not CandidateEdge.objects.filter(source=source, target=target).exists():
            make_edge(self.project, source, target, score=self.random.random(), sensitive=self.random.choice(["", "x"]))

    def refresh_without_checks(self) -> None:
        """As a match run does it: of the pairs that are there, by an insert that meets them."""
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(
                "UPDATE linker_candidateedge SET stale = NOT stale, content_gap = false WHERE id = ANY(%s)",
                [self.some()],
            )
            cursor.execute("SET LOCAL session_replication_role = origin")

    def decide(self) -> None:
        edges = list(CandidateEdge.objects.filter(pk__in=self.some()))
        for edge in edges:
            edge.status = self.random.choice(EdgeStatus.values)
            edge.placement = self.random.choice(["inline", "related"])
        CandidateEdge.objects.bulk_update(edges, ["status", "placement"])

    def retier(self) -> None:
        CandidateEdge.objects.filter(pk__in=self.some()).update(tier=self.random.choice(self.tiers))

    def reword(self) -> None:
        CandidateEdge.objects.filter(pk__in=self.some()).update(anchor="other words", score=0.5)

    def score(self) -> None:
        chance = self.random.choice([None, 0.0, 0.29, 0.2899999, 1.0, self.random.random()])
        similarity = self.random.choice([-1.0, -0.005, 0.29, 1.0])
        CandidateEdge.objects.filter(pk__in=self.some()).update(
            probability=chance, similarity=similarity, quantile=self.random.random(), reviewed=chance is None
        )

    def move(self) -> None:
        pages = self.random.sample(self.pages, 2)
        Page.objects.filter(pk__in=[page.pk for page in pages]).update(category=self.random.choice(self.categories))

    def delete(self) -> None:
        CandidateEdge.objects.filter(pk__in=self.some()[:1]).delete()

    def copy_in(self) -> None:
        """As a match run adds pairs: by COPY, without the checks of keys."""
        names = [field.column for field in CandidateEdge._meta.concrete_fields if field.column != "id"]
        other = {"target_id": str(make_page(self.project).pk)}
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            known = f"SELECT {', '.join(other.get(name, name) for name in names)} FROM linker_candidateedge"
            with cursor.copy(f"COPY ({known} ORDER BY id LIMIT 1) TO STDOUT") as out:
                lines = list(out)
            with cursor.copy(f"COPY linker_candidateedge ({', '.join(names)}) FROM STDIN") as into:
                for line in lines:
                    into.write(line)
            cursor.execute("SET LOCAL session_replication_role = origin")

    def remove_page(self) -> None:
        self.pages.remove(gone := self.random.choice(self.pages))
        gone.delete()
        self.pages.append(make_page(self.project, category=self.random.choice(self.categories)))

    def remove_category(self) -> None:
        Category.objects.filter(project=self.project, path=["A", "B"]).delete()
        self.categories[2] = make_category(self.project, "A", "B")

    def remove_tier(self) -> None:
        if len(self.tiers) > 3:
            self.tiers.pop().delete()

    def add_up(self) -> None:
        fold(self.project.pk)

    def step(self) -> None:
        moves = [self.add, self.add, self.refresh_without_checks, self.decide, self.retier, self.reword, self.move]
        rare = [self.copy_in, self.remove_page, self.remove_category, self.remove_tier]
        self.random.choice([*moves, self.score, self.score, self.delete, self.add_up, *rare])()


@pytest.mark.nightly
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(5))
def test_after_any_writes_what_is_kept_is_what_is_counted(project, seed):
    walk = Walk(project, seed)
    for number in range(60):
        walk.step()
        assert not differences(project), number
        assert not CandidateEdge.objects.exclude(section=Coalesce("source__category", 0)).exists(), number
    edges = CandidateEdge.objects.filter(project=project)
    assert sums(project) == {
        "to_review": edges.filter(TO_REVIEW).count(),
        "held": edges.filter(HELD).count(),
        "accepted": edges.filter(ACCEPTED).count(),
        "all": edges.count(),
    }


@pytest.mark.django_db
def test_what_changes_no_count_writes_none(project):
    edge = make_edge(project)
    before = rows()
    CandidateEdge.objects.filter(pk=edge.pk).update(anchor="other words", score=0.1)
    Page.objects.filter(pk=edge.source_id).update(title="Other", category=None)
    assert rows() == before


@pytest.mark.django_db
def test_a_tier_or_a_category_that_goes_leaves_its_edges_counted(project):
    category = make_category(project, "A")
    edge = make_edge(project, make_page(project, category=category))
    edge.tier.delete()
    category.delete()
    assert not differences(project)
    fold(project.pk)
    kept = EdgeCount.objects.get()
    assert (kept.tier_id, kept.category_id, kept.number) == (None, None, 1)


@pytest.mark.django_db
def test_a_project_that_goes_takes_its_counts_along(project):
    other = make_edge(make_project("other"))
    make_edge(project)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL anchorline.purge = 'on'")
    for rows_of_project in (project.edges, project.runs):
        rows_of_project.all().delete()
    project.delete()
    for model in (EdgeCount, EdgeBand):
        assert set(model.objects.values_list("project", flat=True)) == {other.project_id}


@pytest.mark.django_db
def test_folding_leaves_one_row_a_kind_and_none_for_nothing(project):
    edges = [make_edge(project, score=0.9) for _ in range(3)]
    edges[0].delete()
    make_edge(project, score=0.7).delete()
    fold(project.pk)
    assert list(EdgeCount.objects.values_list("number", flat=True)) == [2]


@pytest.mark.django_db
def test_many_rows_are_folded_and_few_are_left(project):
    edge = make_edge(project)
    fold_many()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO linker_edgecount (project_id, status, placement, content_gap, is_sensitive, stale, ranked_by, "
            "number) SELECT %s, 'suggested', 'inline', false, false, false, 'cosine', 1 - n %% 2 * 2 "
            "FROM generate_series(1, %s) n",
            [project.pk, MANY + 2],
        )
    fold_many()
    assert rows() == 1
    assert kept_counts(edge.project).get().number == 1


@pytest.mark.django_db
def test_a_recount_says_and_mends_what_differs(project, capsys):
    make_edge(project, score=0.9)
    call_command("recount_edges", project.slug, "--check")
    assert "every count is right" in capsys.readouterr().out
    EdgeCount.objects.update(number=3)
    with pytest.raises(CommandError, match=project.slug):
        call_command("recount_edges", "--check")
    assert "2 too many of" in capsys.readouterr().out
    assert differences(project)
    call_command("recount_edges")
    assert "1 count mended" in capsys.readouterr().out
    assert not differences(project)


def at_once(*works: Callable[[], None]) -> list[BaseException]:
    """Runs each in a thread with a connection of its own; returns what they raised."""
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - for the assertion
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return errors


@pytest.mark.django_db(transaction=True)
def test_two_who_write_at_once_do_not_wait_for_each_other_and_both_count():
    project = make_project()
    edges = [make_edge(project, score=0.9) for _ in range(2)]
    both = threading.Barrier(2, timeout=20)

    def accept(edge: CandidateEdge) -> None:
        with transaction.atomic():
            CandidateEdge.objects.filter(pk=edge.pk).update(status="accepted")
            both.wait()  # neither has ended

    assert not at_once(*(lambda edge=edge: accept(edge) for edge in edges))
    assert not differences(project)
    assert sums(project)["accepted"] == 2


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_folding_twice_at_once_while_somebody_decides_loses_nothing():
    project = make_project()
    edges = [make_edge(project, score=0.9) for _ in range(40)]
    together = threading.Barrier(3, timeout=20)

    def add_up() -> None:
        together.wait()
        for _ in range(20):
            fold(project.pk)

    def decide() -> None:
        together.wait()
        for edge in edges:
            CandidateEdge.objects.filter(pk=edge.pk).update(status="rejected")

    assert not at_once(add_up, add_up, decide)
    assert not differences(project)


@pytest.mark.django_db(transaction=True)
def test_a_recount_beside_a_decision_under_way_is_right_when_both_are_over():
    project = make_project()
    edge = make_edge(project, score=0.9)
    EdgeCount.objects.all().delete()
    decided, counted = threading.Event(), threading.Event()

    def decide() -> None:
        with transaction.atomic():
            CandidateEdge.objects.filter(pk=edge.pk).update(status="accepted")
            decided.set()
            assert counted.wait(20)

    def count() -> None:
        assert decided.wait(20)
        recount(project)
        counted.set()

    assert not at_once(decide, count)
    assert not differences(project)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_emptying_the_table_empties_its_counts():
    make_edge(make_project())
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE linker_candidateedge CASCADE")
    assert not rows()
