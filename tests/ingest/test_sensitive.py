"""What an import finds to be sensitive goes before a person, from the first import to the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ingest import services
from linker.engine.params import MatchParams, Ranking
from linker.matching.start import run_match
from linker.models import CandidateEdge, Page, RunKind, SensitiveRule, SensitiveState
from linker.models.policy import Sensitivity
from linker.projects.policies.sensitive import decide_sensitive
from linker.reports.words import report_rows
from linker.runs import lifecycle
from review.releases import create
from review.releases.create import NothingToExport
from tests.factories import embed, lenient_tiers, make_category, make_edge, make_member, make_run
from tests.ingest.files import SITE, write

if TYPE_CHECKING:
    from pathlib import Path

    from linker.models import Project

pytestmark = pytest.mark.django_db
HEADER = ("Address", "Title 1", "Breadcrumb_Name 1", "Breadcrumb_Name 2")


@pytest.mark.nightly
def test_suggestions_become_and_cease_to_be_sensitive_with_the_category_of_their_pages(project, tmp_path):
    def load(name: str, topic: str) -> None:
        rows = [(f"{SITE}/a", "A", "Shop", "Tents"), (f"{SITE}/b", "B", "Magazine", topic)]
        services.import_file(project, "pages", write(tmp_path / name, HEADER, rows))

    load("first.csv", "Travel")
    SensitiveRule.objects.create(
        project=project, category=make_category(project, "Magazine", "Health"), kind=Sensitivity.MEDICAL
    )
    edge = make_edge(project, Page.objects.get(url=f"{SITE}/a"), Page.objects.get(url=f"{SITE}/b"))
    for name, topic, reason in (
        ("moved.csv", "Health", "The acceptor is medical (Magazine › Health)"),
        ("back.csv", "Travel", ""),
    ):
        load(name, topic)
        edge.refresh_from_db()
        assert edge.sensitive == reason


def load(project: Project, tmp_path: Path, *titles: str) -> dict:
    rows = [(f"{SITE}/{n}", title, "Shop", "") for n, title in enumerate(titles)]
    return services.import_file(project, "pages", write(tmp_path / "pages.csv", HEADER, rows), allow_shrink=True)


def match(project: Project) -> None:
    """Gives every page a vector, and suggests what is near."""
    for page in Page.objects.filter(project=project, embeddings=None):
        embed(page, [1, 0.1 * (page.pk % 3), 0, 0])
    values = MatchParams(ranking=Ranking.COSINE, threshold=0.0).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    lifecycle.execute(run.pk, run_match)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_nothing_sensitive_leaves_unreviewed_from_the_first_import_on_until_a_manager_dismisses_it(project, tmp_path):
    manager = make_member(project, "manager")
    lenient_tiers(project)
    report = load(project, tmp_path, "Finding a chiropractor", "A chiropractor near you")
    assert report["sensitive_proposed"] == {"medical": 1}
    assert report["sensitive_pages"] == 2

    match(project)
    edges = CandidateEdge.objects.filter(project=project)
    assert {edge.sensitive for edge in edges} == {"The acceptor is medical (title says “chiropractor”)"}
    with pytest.raises(NothingToExport):
        create.create_release(project, edges)

    decide_sensitive(project, [SensitiveRule.objects.get().pk], SensitiveState.DISMISSED, manager)
    assert load(project, tmp_path, "Finding a chiropractor", "A chiropractor near you")["sensitive_proposed"] == {}
    assert create.create_release(project, edges).release_links.count() == len(edges) > 0


def test_an_import_shows_what_it_proposed(project, tmp_path):
    report = load(project, tmp_path, "Hospital", "Clinic", "Tax")
    rows = dict(report_rows(make_run(project, RunKind.IMPORT_PAGES, report=report)))
    assert rows["Pages that count as sensitive"] == "3"
    assert rows["New rules for sensitive pages, still to check: medical"] == "2"


@pytest.mark.nightly
def test_a_suggestion_that_is_there_already_becomes_sensitive_with_the_titles_of_its_pages(project, tmp_path):
    load(project, tmp_path, "Tents", "Stoves")
    edge = make_edge(project, Page.objects.get(title="Tents"), Page.objects.get(title="Stoves"))
    load(project, tmp_path, "Tents", "Loans for stoves")
    edge.refresh_from_db()
    assert edge.sensitive == "The acceptor is financial (title says “loan”)"
