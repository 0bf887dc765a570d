"""The page of a match run: how it ranked, what it found beside the run before, and when tiers have to be checked."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from linker.models import Project, Ranker, Run, RunKind, RunStatus
from linker.projects.policies.tiers import change_tiers
from linker.reports.match_page import match_page
from linker.reports.params import param_rows
from linker.reports.tier_notice import tier_notice
from tests.factories import make_model, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db

LEARNED = {
    "ranking": "learned",
    "ranked_why": "The site has 3,286 links to learn from.",
    "edges": 100,
    "placements": {"inline": 60, "related": 30, "gap": 10},
    "generators": {"mention": 80, "nearest": 55},
    "tiers": {"Inline": 20, "Related": 50, "Reserve": 25, "below every tier": 5},
    "basis": "probability",
    "bounds": {"Inline": 0.5, "Related": 0.15, "Reserve": 0.02},
    "histogram": [40, 20, 10, 10, 5, 5, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    "allocation": {"mode": "optimal", "total": 41.26, "best_first": 40.0, "against_best_first": 1.26},
}
FORMULA = {
    **LEARNED,
    "ranking": "formula",
    "ranked_why": "There are too few links to learn from.",
    "basis": "cosine",
    "bounds": {"Inline": 0.8, "Related": 0.65, "Reserve": 0.5},
    "tiers": {"Inline": 35, "Related": 50, "Reserve": 10, "below every tier": 0},
    "histogram": [0] * 10 + [10, 10, 20, 10, 10, 10, 10, 10, 10, 0],
}
QUALITY = {
    "recall_at_10": 0.742,
    "precision_at_half": 0.381,
    "hidden": 3900,
    "found": 3286,
    "pairs": 9800,
    "accepted": 30,
    "rejected": 11,
}


def finished(project: Project, report: dict, **fields) -> Run:
    return make_run(project, report=report, finished_at=timezone.now(), **fields)


def learned(project: Project, **fields) -> Run:
    run = finished(project, LEARNED, **fields)
    weights = {"mention": 0.6, "meaning": 0.3, "graph": 0.1}
    Ranker.objects.create(
        run=run, kind="learned", version="trees-1", labels=3286, quality=QUALITY, weights=weights, model=b"trees"
    )
    return run


def page_of(run: Run, client) -> str:
    text = client.get(reverse("run", args=[run.project.slug, run.pk])).content.decode()
    return re.sub(r"\s+", " ", text)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", RunKind.values)
def test_every_run_has_a_page_for_everybody(project, viewer, manager, client_for, redis_server, kind):
    clients = client_for(viewer), client_for(manager)
    for number, status in enumerate(RunStatus.values):
        run = make_run(project, kind, status)
        for name, client in zip(("run", "run_state"), clients[:: 1 if number % 2 else -1], strict=True):
            page = client.get(reverse(name, args=[project.slug, run.pk]), headers={"HX-Request": "true"})
            assert page.status_code == 200
            assert run.get_status_display() in page.content.decode()
        run.delete()  # one of a kind is under way at a time


@pytest.mark.nightly
def test_a_learned_run_says_why_from_what_and_how_well(project, viewer, client_for):
    page = page_of(learned(project), client_for(viewer))
    assert "By a ranker that learned from the site’s own links" in page
    assert "The site has 3,286 links to learn from." in page
    assert "Learned from 3,286 links and 41 decisions (30 accepted, 11 rejected): 9,800 pairs in all." in page
    assert "74.2%" in page
    assert "38.1%" in page
    assert "with fewer links than the run itself used" in page
    assert page.index("Mentions in the text") < page.index("Meaning") < page.index("Links around the pair")
    assert "Highest total, with a total score of 41.3: 1.26 (3.15%) more than the 40.0 of greedy allocation." in page
    assert "Without sure words in the text" in page


def test_a_ranker_that_never_found_half_says_so(project, viewer, client_for):
    run = learned(project)
    Ranker.objects.update(quality={**QUALITY, "precision_at_half": None, "accepted": 0, "rejected": 0})
    page = page_of(run, client_for(viewer))
    assert "Fewer than half of the hidden links were found" in page
    assert "Learned from 3,286 links: 9,800 pairs in all." in page


def test_a_run_by_the_formula_shows_its_weights_and_claims_no_quality(project, viewer, client_for):
    run = finished(project, FORMULA)
    Ranker.objects.create(run=run, kind="formula", version="formula-1", weights={"similarity": 1.0, "density": 0.05})
    page = page_of(run, client_for(viewer))
    assert "By the formula" in page
    assert "Density, subtracted" in page
    assert "Recall at 10" not in page
    assert "with fewer links than the run itself used" not in page


def test_tiers_stand_beside_those_of_the_run_before_with_the_shift(project, viewer, client_for):
    before = learned(project)
    make_run(project, status="failed")
    run = finished(project, {**LEARNED, "tiers": {"Inline": 35, "Related": 45, "Reserve": 25, "below every tier": 0}})
    found = match_page(run)
    assert found.before == before
    assert [(tier.name, tier.count, tier.before, tier.shift) for tier in found.tiers] == [
        ("Inline", 35, 20, "+15"),
        ("Related", 45, 50, "−5"),
        ("Reserve", 25, 25, "±0"),
        ("below every tier", 0, 5, "−5"),
    ]
    page = page_of(run, client_for(viewer))
    assert "+15" in page
    assert reverse("run", args=[project.slug, before.pk]) in page


def test_a_tier_that_only_one_of_the_runs_had_has_no_shift(project):
    finished(project, {**LEARNED, "tiers": {"Old": 3}, "bounds": {"Old": 0.4}})
    run = finished(project, {**LEARNED, "tiers": {"New": 4}, "bounds": {"New": 0.6}})
    assert [(tier.name, tier.shift) for tier in match_page(run).tiers] == [("New", ""), ("Old", "")]


def test_the_histograms_share_a_scale_and_have_a_table_behind_them(project, viewer, client_for):
    finished(project, FORMULA)
    run = learned(project)
    first, second = match_page(run).histograms
    assert [bar.count for bar in first.bars] == LEARNED["histogram"]
    assert (first.bars[0].height, first.bars[0].y) == ("100.00", "0.00")
    assert second.bars[12].height == "50.00"  # 20 of 100 beside 40 of 100
    assert first.marks == ["50.00", "15.00", "2.00"]
    page = page_of(run, client_for(viewer))
    assert page.count("<rect") >= 40
    assert '<td>0.00</td><td>0.05</td><td class="num">40</td><td class="num">0</td>' in compact(page)


def test_the_first_run_and_one_from_before_histograms_show_what_they_have(project, viewer, client_for):
    old = finished(project, {"edges": 3, "tiers": {"Inline": 3}})
    page = page_of(old, client_for(viewer))
    assert "Histogram" not in page
    assert "similarity within category blocks" in page
    assert "the previous match" not in page


@pytest.mark.parametrize(
    ("params", "ranking", "said"),
    [
        ({"levels_up": 1}, "", "1 level up the category tree"),  # of the time of one ranking
        ({"ranking": "auto", "levels_up": 2}, "cosine", "2 levels up the category tree"),
        ({"ranking": "auto", "levels_up": 2}, "learned", "the whole site"),
        ({"ranking": "auto", "scope": "auto", "levels_up": 2}, "", "default of the ranking: 2 levels up"),
        ({"ranking": "formula", "scope": "levels", "levels_up": 0}, "", "the donor’s own category only"),
        ({"ranking": "cosine", "scope": "site", "levels_up": 2}, "", "the whole site"),
    ],
)
def test_the_scope_a_run_was_asked_for_is_said_in_words(params, ranking, said, project):
    run = make_run(project, params=params, report={"ranking": ranking} if ranking else {})
    assert dict(param_rows(run))["Scope"].startswith(said)


def test_a_run_that_goes_on_or_failed_has_nothing_to_tell_yet(project):
    assert match_page(make_run(project, status="running")) is None
    assert match_page(make_run(project, status="failed")) is None


# ------------------------------------------------------------------------------------------------------ the notice


def queue_of(project: Project, client) -> str:
    return re.sub(r"\s+", " ", client.get(reverse("queue", args=[project.slug])).content.decode())


def test_another_ranking_and_basis_are_said_on_the_run_and_on_top_of_the_queue(project, manager, client_for):
    before, run = finished(project, FORMULA), learned(project)
    client = client_for(manager)
    said = (
        f"Run {run.pk} was ranked by a ranker that learned from the site’s own links and had probability as its tier "
        f"basis; run {before.pk} was ranked by the formula and had similarity as its tier basis."
    )
    assert said in page_of(run, client)
    queue = queue_of(project, client)
    assert said in queue
    assert f'href="{reverse("settings_tiers", args=[project.slug])}">Check the tiers' in queue


def test_another_embedding_model_is_said(project, editor, client_for):
    finished(project, LEARNED)
    finished(project, LEARNED, model=make_model(8, "a-new-model"))
    queue = queue_of(project, client_for(editor))
    assert "used a-new-model" in queue
    assert "A manager should check the tiers." in queue


def test_two_runs_alike_need_no_notice(project, editor, client_for):
    finished(project, LEARNED)
    finished(project, LEARNED)
    assert tier_notice(project) is None
    assert "mean something else" not in queue_of(project, client_for(editor))


def test_the_notice_goes_when_the_tiers_in_use_were_saved_and_not_before(project, manager):
    finished(project, FORMULA)
    run = learned(project)
    change_tiers(project, list(project.tiers.filter(basis="quantile")))
    assert tier_notice(project).run == run
    change_tiers(project, list(project.tiers.filter(basis="probability")))
    assert tier_notice(project) is None


def test_a_save_without_a_change_counts_as_a_look(project, manager):
    finished(project, FORMULA)
    learned(project)
    change_tiers(project, [], basis="probability")
    assert tier_notice(project) is None


def test_the_notice_outlives_further_runs_of_the_new_kind_and_ends_with_a_return_to_the_old(project):
    first = finished(project, FORMULA)
    learned(project)
    finished(project, LEARNED)
    assert tier_notice(project).before == first
    finished(project, FORMULA)
    assert tier_notice(project) is None


def test_after_a_save_the_next_run_is_held_against_the_run_the_save_was_for(project):
    finished(project, FORMULA)
    learned(project)
    change_tiers(project, [], basis="probability")
    finished(project, LEARNED)
    assert tier_notice(project) is None
    other = finished(project, LEARNED, model=make_model(8, "a-new-model"))
    assert tier_notice(project).run == other


@pytest.mark.parametrize(
    ("done", "total", "said", "percent"), [(0, 5, "Step 1 of 5", False), (40, 80, "40 of 80", True), (0, 1, "", False)]
)
def test_a_run_says_which_step_it_is_at_or_how_much_it_has_done(
    project, client_for, viewer, done, total, said, percent
):
    run = make_run(project, RunKind.CAPS, status="running", done=done, total=total, stage="Reading tiers")
    page = compact(
        client_for(viewer).get(reverse("run_state", args=[project.slug, run.pk]), headers={"HX-Request": "true"}).text
    )
    assert said in page
    assert ("50%" in page) == percent
    assert "0 of" not in page.replace("40 of 80", "")


@pytest.mark.parametrize("total", [8, 366_632])
def test_an_import_says_its_progress_in_percent_since_it_counts_bytes(project, client_for, viewer, total):
    run = make_run(project, RunKind.IMPORT_PAGES, status="running", done=total // 2, total=total, stage="Reading rows")
    for path in (reverse("run_state", args=[project.slug, run.pk]), reverse("runs_under_way", args=[project.slug])):
        page = compact(client_for(viewer).get(path, headers={"HX-Request": "true"}).text)
        assert "50%" in page
        assert f"of {total:,}" not in page
