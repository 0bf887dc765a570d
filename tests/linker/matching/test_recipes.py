"""The recipes for a generator and a ranker: a class and a line in the registry, and it is on the match form, on the
command line, in the run and in its report, and in the filters of the queue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.urls import reverse
from scipy import sparse

from linker.engine.candidates.base import ByScore
from linker.engine.candidates.registry import GENERATORS
from linker.engine.params import MatchParams
from linker.engine.ranking.features import FEATURES
from linker.engine.ranking.rankers.base import CandidateRanker, Scorer
from linker.engine.ranking.rankers.registry import RANKERS
from linker.models import CandidateEdge, Run
from linker.reports.match_page import match_page
from tests.factories import embed, lenient_tiers, make_model, make_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.test import Client
    from numpy.typing import NDArray

    from linker.engine.candidates.base import SourceSlice
    from linker.engine.index import Progress, SiteIndex
    from linker.engine.ranking.options import EngineOptions
    from linker.models import Page, Project

pytestmark = pytest.mark.django_db(transaction=True)  # the command's progress goes through a connection of its own


class NextPage(ByScore):
    """The page after the donor, in the order of pages."""

    name: ClassVar = "next_page"
    label: ClassVar = "The next page"
    most: ClassVar = 1

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        rows = np.arange(len(sources.pages))
        after = (sources.pages + 1) % len(sources.site)
        ones = np.ones(len(rows), dtype=np.float32)
        return [sparse.csr_matrix((ones, (rows, after)), shape=(len(rows), len(sources.site)))]


class ByTextLength(Scorer):
    version = "length-1"

    def raw(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        return features[:, FEATURES.index("target_tokens")].astype(np.float64)


class Longest(CandidateRanker):
    """The longest text first."""

    name: ClassVar = "longest"
    label: ClassVar = "The longest text first"
    help: ClassVar = "by the length of the acceptor's text"
    by: ClassVar = "the length of the acceptors’ texts"
    short: ClassVar = "longest text first"

    def fit(self, index: SiteIndex, options: EngineOptions, progress: Progress) -> Scorer:
        return ByTextLength()


@pytest.fixture
def next_page(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(GENERATORS, NextPage.name, NextPage())
    return NextPage.name


@pytest.fixture
def longest(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(RANKERS, Longest.name, Longest())
    return Longest.name


@pytest.fixture
def pages(project: Project) -> list[Page]:
    """Twenty pages whose texts grow longer; alike enough in meaning to be linked."""
    lenient_tiers(project)
    made = []
    for number in range(20):
        body = f"A guide to knot {number}. " + "It holds a rope on a post in wind and rain. " * (number + 1)
        made.append(make_page(project, f"/knots/{number}", title=f"Knot {number}", h1=f"Knot {number}", body=body))
        embed(made[-1], [1.0, 0.1 * number, 0.0, 0.2], make_model(4))
    return made


def newest(project: Project) -> Run:
    return Run.objects.filter(project=project, kind="match").latest("pk")


def shown(client: Client, name: str, project: Project) -> str:
    return client.get(reverse(name, args=[project.slug])).content.decode()


def help_text() -> str:
    parser = load_command_class("linker", "match_project").create_parser("manage.py", "match_project")
    return re.sub(r"\s+", " ", parser.format_help())


def test_a_new_generator_is_offered_by_the_form_and_the_command(next_page, pages, project, manager, client_for):
    form = shown(client_for(manager), "match", project)
    assert re.search(r'<input type="checkbox" name="generators" value="next_page"[^>]*>\s*The next page', form)
    assert "reciprocal, address, next_page" in help_text()


@pytest.mark.nightly
def test_a_new_generator_proposes_in_a_run_is_reported_and_can_be_filtered_by(
    next_page, pages, project, manager, client_for
):
    flags = ("--ranking", "formula", "--threshold", "0", "--generators", next_page)
    call_command("match_project", project.slug, *flags)
    run = newest(project)
    proposed = set(CandidateEdge.objects.filter(run=run).values_list("source_id", "target_id", "generators__0"))
    order = [page.pk for page in pages]
    assert proposed
    assert proposed <= {(page, after, next_page) for page, after in zip(order, [*order[1:], order[0]], strict=True)}
    assert [(part.label, part.value) for part in match_page(run).generators] == [("The next page", str(len(proposed)))]
    client = client_for(manager)
    assert "The next page" in client.get(reverse("run", args=[project.slug, run.pk])).content.decode()
    assert '<option value="next_page"' in shown(client, "queue_filters", project)
    edge = CandidateEdge.objects.filter(run=run).latest("pk")
    found = client.get(reverse("queue", args=[project.slug]), {"generator": next_page}).content.decode()
    assert edge.target.title in found


@pytest.mark.nightly
def test_a_new_generator_can_be_switched_off(next_page, pages, project):
    call_command("match_project", project.slug, "--ranking", "formula", "--threshold", "0", "--without", next_page)
    run = newest(project)
    assert next_page not in run.params["generators"]
    assert not CandidateEdge.objects.filter(run=run, generators__contains=[next_page]).exists()


@pytest.mark.nightly
def test_a_new_ranker_is_offered_by_the_form_and_the_command(longest, pages, project, manager, client_for):
    form = shown(client_for(manager), "match", project)
    assert re.search(r'<option value="longest"[^>]*>The longest text first</option>', form)
    assert "longest: by the length of the acceptor's text" in help_text()


@pytest.mark.nightly
def test_a_new_ranker_ranks_a_run_and_is_named_in_its_report(longest, pages, project, manager, client_for):
    call_command("match_project", project.slug, "--ranking", longest, "--threshold", "0")
    run = newest(project)
    assert run.report["ranking"] == longest
    assert (run.ranker.kind, run.ranker.version.split("+")[0]) == (longest, "length-1")
    assert match_page(run).ranked_by == "the length of the acceptors’ texts"
    page = client_for(manager).get(reverse("run", args=[project.slug, run.pk])).content.decode()
    assert "By the length of the acceptors’ texts" in page
    assert "longest text first" in page  # among the run's parameters
    carried = CandidateEdge.objects.filter(run=run).values_list("ranked_by", flat=True).distinct()
    assert list(carried) == ["learned"]
    last = set(CandidateEdge.objects.filter(run=run, target=pages[-1]).values_list("source_id", flat=True))
    call_command("match_project", project.slug, "--ranking", "formula", "--threshold", "0")
    assert len(last) >= CandidateEdge.objects.filter(run=newest(project), target=pages[-1]).count()


def test_a_name_that_nobody_registered_is_refused(project):
    with pytest.raises(CommandError, match="invalid choice: 'longest'"):
        call_command("match_project", project.slug, "--ranking", "longest")
    with pytest.raises(ValueError, match="there is no ranker longest; there are learned"):
        MatchParams(ranking="longest")
