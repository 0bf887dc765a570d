"""A match run over what changed: it finds what a run over the whole site would, and leaves the rest as it was."""

from __future__ import annotations

import numpy as np
import pytest
from django.utils import timezone

from linker.engine.ranking.approval import VERSION
from linker.errors import RunCancelled, UserError
from linker.matching import away
from linker.matching.changes_report import ChangesReport, Whole
from linker.matching.changes_run import ChangeOptions, run_changes, start_whole_if_due
from linker.matching.changes_start import start_changes
from linker.matching.kept_runs import standing_run
from linker.matching.page_marks import PageMarks
from linker.matching.tiers import retier
from linker.models import CandidateEdge, ExistingLink, KeptLinks, KeptRun, MatchedPages, Page, Project, Run, RunKind
from linker.models.querysets import OPEN
from linker.projects.overview import site_figures
from linker.runs.lifecycle import RunIsActive
from review.queue.filters import QueueFilter
from tests.factories import embed, make_link, make_model, make_page, make_run
from tests.follow_ups import follow_up
from tests.guides import guides_once, make_guides, match, matched_once, site
from tests.guides import matched_project as project

pytestmark = pytest.mark.django_db
__all__ = ["guides_once", "matched_once", "project", "site"]


def match_changes(project: Project, **options) -> ChangesReport:
    run = start_changes(project, to_queue=False)
    Run.objects.filter(pk=run.pk).update(status="running")
    report = run_changes(run, options=ChangeOptions(**options))
    Run.objects.filter(pk=run.pk).update(status="succeeded", report=report.to_json(), finished_at=timezone.now())
    return report


def open_links(project: Project) -> dict[tuple[int, int], tuple]:
    edges = CandidateEdge.objects.filter(OPEN, project=project)
    return {
        (edge.source_id, edge.target_id): (edge.score, edge.probability, edge.anchor, edge.span_start) for edge in edges
    }


def change(page: Page) -> None:
    page.body = f"A new beginning of the text.\n{page.body}"
    page.save(update_fields=["body"])


def all_anew(project: Project) -> ChangesReport:
    """Matches all pages with the ranker of the standing run."""
    row = MatchedPages.objects.get(run=standing_run(project))
    row.marks = bytes(len(row.marks))
    row.save()
    return match_changes(project, most_changed=1.0, most_in_all=9.0)


def test_changed_pages_get_what_a_run_over_the_whole_site_gives_them_and_others_stay(project, site):
    pages, _ = site
    run = standing_run(project)
    before = open_links(project)
    changed = [pages[3], pages[50], pages[77]]
    for page in changed:
        change(page)
    new = make_page(
        project, "/tent/new", title="Tent guide 999 | Shop", h1="Tent guide 999", category=pages[0].category,
        body="Please read Tent guide 6 before you go out.",
    )  # fmt: skip
    embed(new, [1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], make_model(8))
    Page.objects.filter(pk=pages[20].pk).update(missing_since=timezone.now())

    linking = set(ExistingLink.objects.filter(target=pages[20]).values_list("source_id", flat=True))

    report = match_changes(project)

    assert len({page.pk for page in [*changed, new]} | linking) == report.changed
    assert (report.run, report.new, report.gone) == (run.pk, 1, 1)
    after = open_links(project)
    looked = set(np.flatnonzero(PageMarks.kept(run)[0].runs != run.pk).tolist())
    ids = PageMarks.kept(run)[0].ids
    matched = {int(ids[place]) for place in looked}
    assert len(matched) == report.donors < len(pages) / 2
    assert {page.pk for page in [*changed, new]} <= matched
    gone = pages[20].pk
    assert not any(gone in pair for pair in after)
    unaffected = {pair: value for pair, value in before.items() if pair[0] not in matched and gone not in pair}
    assert {pair: value for pair, value in after.items() if pair[0] not in matched} == unaffected
    assert any(target == new.pk for _, target in after)

    all_anew(project)

    whole = open_links(project)
    mine = {pair for pair in whole if pair[0] in {page.pk for page in [*changed, new]}}
    assert len(mine & after.keys()) >= 0.95 * len(mine) > 0
    assert len(after.keys() & whole.keys()) >= 0.9 * len(whole)


def looked_at(project: Project, **options) -> tuple[int, int]:
    """Pages that have changed, and pages that were looked at as donors."""
    report = match_changes(project, **options)
    return report.changed or 0, report.donors or 0


@pytest.mark.nightly
def test_donors_are_looked_for_for_new_and_renamed_pages_as_far_as_a_share_of_the_site(project, site):
    pages, _ = site
    change(pages[3])
    assert looked_at(project) == (1, 1), "another text of a page asks no other page"
    pages[3].h1 = "Tent handbook"
    pages[3].save(update_fields=["h1"])
    assert looked_at(project) == (1, 2), "another name asks one"
    for number in range(3):
        for place in range(2):
            text = f"Guide {number} {place} to winter"
            new = make_page(project, f"/n/{number}/{place}", title=text, category=pages[0].category, body=text)
            embed(new, [1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, number / 10 + place / 100], make_model(8))
        changed, donors = looked_at(project, givers=4, most_givers=(1.0, 0.05, 0.0)[number])
        assert changed == 2
        assert 3 <= donors <= (2 + 8, 2 + 6, 2 + 2)[number], "both may ask the same pages"


@pytest.mark.nightly
def test_the_run_before_goes_on_standing_and_is_kept_with_what_was_found(project, site):
    pages, _ = site
    run = standing_run(project)
    change(pages[3])
    match_changes(project)
    assert standing_run(project) == run
    edges = CandidateEdge.objects.filter(OPEN, project=project)
    assert set(edges.values_list("run_id", flat=True)) == {run.pk}
    kept = {(row.source, target) for row in KeptLinks.objects.filter(kept_id=run.pk) for target in row.targets}
    assert kept == set(open_links(project))
    run.kept.refresh_from_db()
    assert run.kept.links == len(kept)


def test_what_a_run_no_longer_proposes_stays_out_where_the_tiers_are_read_anew(project, site):
    pages, _ = site
    before = len(open_links(project))
    for page in (pages[3], pages[50]):
        page.body = "Another text altogether, of knots."
        page.save(update_fields=["body"])

    report = match_changes(project)
    retier(project)  # as where the bounds are chosen anew once the run has ended

    assert report.closed
    assert (report.before, report.after) == (before, before + report.opened + report.back - report.closed)
    figures, queue = site_figures(project), QueueFilter(held=True).queryset(project)
    assert report.after == len(open_links(project)) == figures.to_review + figures.held == queue.count()
    assert report.after == KeptRun.objects.get(run=report.run).links
    assert QueueFilter(held=True, stale=True).queryset(project).count() == report.after + report.closed


def test_nothing_is_done_where_nothing_changed(project, site):
    before = open_links(project)
    report = match_changes(project)
    assert (report.changed, report.gone, report.donors, report.whole) == (0, 0, 0, None)
    assert open_links(project) == before


@pytest.mark.nightly
def test_a_change_is_matched_once(project, site):
    pages, _ = site
    change(pages[3])
    assert match_changes(project).changed == 1
    assert match_changes(project).changed == 0


@pytest.mark.nightly
@pytest.mark.parametrize("what", ["title", "category", "link", "vector"])
def test_whatever_a_run_reads_of_a_page_counts_as_a_change(project, site, what):
    pages, _ = site
    page = pages[5]
    if what == "link":
        make_link(page, pages[6], "another link")
    elif what == "vector":
        page.embeddings.all().delete()
        embed(page, [0, 0, 0, 0, 0, 0, 1, 0], make_model(8))
    else:
        fields = {"title": {"title": "Else"}, "category": {"category": pages[6].category}}
        Page.objects.filter(pk=page.pk).update(**fields[what])
    assert match_changes(project).changed == 1


@pytest.mark.nightly
def test_the_whole_site_is_matched_where_too_much_has_changed(project, site):
    pages, _ = site
    run = standing_run(project)
    before = open_links(project)
    for page in pages[:30]:
        change(page)
    report = match_changes(project)
    assert report.whole == Whole.MUCH_CHANGED
    assert open_links(project) == before
    whole = start_whole_if_due(project.runs.get(kind=RunKind.CHANGES))
    assert whole.kind == RunKind.MATCH
    assert whole.params == run.params


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "whole"), [({"most_runs": 1}, Whole.MANY_RUNS), ({"most_in_all": 0.01}, Whole.MUCH_IN_ALL)]
)
def test_the_whole_site_is_due_again_after_many_changes(project, site, options, whole):
    pages, _ = site
    change(pages[1])
    assert match_changes(project).whole is None
    change(pages[2])
    assert match_changes(project, **options).whole == whole


@pytest.mark.nightly
def test_without_a_run_that_can_be_followed_the_whole_site_is_matched(project):
    guides = make_guides(project)
    assert match_changes(project).whole == Whole.NO_RUN
    run = match(project)
    run.ranker.version = "trees-0+1"
    run.ranker.save()
    change(Page.objects.get(pk=guides.pages[1]))
    assert match_changes(project).whole == Whole.OTHER_RANKER
    MatchedPages.objects.all().delete()
    assert match_changes(project).whole == Whole.NOT_KEPT


def test_scores_of_two_versions_of_the_approval_model_are_not_mixed(project, site):
    pages, _ = site
    ranker = standing_run(project).ranker
    ranker.version = ranker.version.replace(VERSION, "approval-1")
    ranker.save()
    before = open_links(project)
    change(pages[3])
    assert match_changes(project).whole == Whole.OTHER_RANKER
    assert open_links(project) == before


def test_it_does_not_run_beside_a_match(project):
    make_run(project, RunKind.MATCH, "running")
    with pytest.raises(RunIsActive, match="already running"):
        start_changes(project)


@pytest.mark.nightly
def test_a_match_that_ends_meanwhile_stands_and_nothing_else_is_changed(project, site):
    pages, _ = site
    change(pages[3])
    run = start_changes(project, to_queue=False)
    seen = []

    def progress(done: int, total: int, stage: str = "") -> None:
        if stage == "Allocating links" and not seen:
            seen.append(match(project))

    with pytest.raises(UserError, match="come to stand"):
        run_changes(run, progress)
    assert set(CandidateEdge.objects.filter(OPEN, project=project).values_list("run_id", flat=True)) == {seen[0].pk}


@pytest.mark.nightly
def test_a_page_that_goes_missing_meanwhile_is_proposed_by_none(project, site):
    pages, _ = site
    change(pages[3])
    run = start_changes(project, to_queue=False)
    lost = project.edges.filter(OPEN, source=pages[3]).first().target

    def progress(done: int, total: int, stage: str = "") -> None:
        if stage == "Allocating links":
            Page.objects.filter(pk=lost.pk).update(missing_since=timezone.now())
            away.follow(project)

    run_changes(run, progress)
    follow_up(run)
    assert not project.edges.filter(OPEN, target=lost).exists()
    assert not project.edges.filter(OPEN, source=lost).exists()
    assert open_links(project)


@pytest.mark.nightly
@pytest.mark.parametrize("stage", ["Ranking", "Allocating links", "Writing suggestions", "Cleaning up"])
def test_one_that_is_cancelled_or_killed_changes_nothing_and_can_be_done_again(project, site, stage):
    pages, _ = site
    change(pages[3])
    before, kept = open_links(project), bytes(MatchedPages.objects.get().marks)
    run = start_changes(project, to_queue=False)

    def progress(done: int, total: int, at: str = "") -> None:
        if at == stage:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_changes(run, progress)
    assert open_links(project) == before
    assert bytes(MatchedPages.objects.get().marks) == kept
    Run.objects.filter(pk=run.pk).update(status="cancelled")
    assert match_changes(project).changed == 1
