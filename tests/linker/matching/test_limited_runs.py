"""Runs that are limited to lists of pages, and pilots."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from linker.engine.params import MatchParams, PageFilter, Ranking, Sample, Scope
from linker.engine.sampling import draw
from linker.explain.page import why_not_page
from linker.matching.eligibility import eligible_pages
from linker.matching.pilots import limited_to_pilot
from linker.matching.start import run_match
from linker.models import CandidateEdge, Page, PageList, Pilot, Project, Run, RunKind
from linker.pages.page_lists import keep, page_ids
from linker.reports.params import param_rows
from linker.runs import lifecycle
from linker.runs.pilot_progress import open_pilot, pilot_figures
from tests.factories import embed, make_category, make_link, make_page, make_run
from tests.linker.web.test_views import MATCH, SIDES

pytestmark = pytest.mark.django_db
RANKINGS = [Ranking.COSINE, Ranking.FORMULA]


def match(project: Project, **params) -> Run:
    values = MatchParams(**{"ranking": Ranking.COSINE, "threshold": 0.0, **params}).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    Run.objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    run.refresh_from_db()
    assert run.status == "succeeded"
    return run


def listed(project: Project, *pages: Page, name: str = "list.csv") -> int:
    ids = np.array([page.pk for page in pages], dtype=np.int64)
    return keep(project, name, ids, lines=len(ids) + 4, unknown_lines=4, unknown=[(2, "/gone")], user=None).pk


@pytest.fixture
def site(project: Project) -> list[Page]:
    """Forty pages that are much alike: thirty of the shop, ten of the magazine."""
    chance = np.random.default_rng(2)
    pages = []
    for number in range(40):
        category = make_category(project, "Shop" if number < 30 else "Magazine", f"Part {number % 3}")
        pages.append(make_page(project, f"/item-{number}", category=category, body="Some words about tents. " * 9))
        embed(pages[-1], [1.0, *chance.random(3)])
    return pages


def donors_of(edges) -> set[int]:
    return set(edges.values_list("source", flat=True))


# ------------------------------------------------------------------------------------------------------------ lists


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_run_gives_links_from_listed_donors_to_listed_acceptors_alone(ranking, project, site):
    donors, acceptors = site[:3], site[20:25]
    run = match(
        project,
        ranking=ranking,
        scope=Scope.SITE,
        donors=PageFilter(page_list=listed(project, *donors)),
        acceptors=PageFilter(page_list=listed(project, *acceptors)),
    )
    assert donors_of(run.edges) == {page.pk for page in donors}
    assert set(run.edges.values_list("target", flat=True)) == {page.pk for page in acceptors}
    assert dict(param_rows(run))["Donors"] == "3 from list.csv, 4 lines unknown; indexable pages"


@pytest.mark.nightly
def test_what_a_run_limited_to_lists_left_out_keeps_standing_and_what_it_could_have_proposed_does_not(project, site):
    first = match(project, scope=Scope.SITE)
    chosen = PageFilter(page_list=listed(project, *site[:3]))
    second = match(project, scope=Scope.SITE, donors=chosen, threshold=0.99)
    stale = project.edges.filter(stale=True)
    assert donors_of(stale) <= {page.pk for page in site[:3]}
    assert (
        stale.count() + second.edges.count()
        == first.report["edges"] - project.edges.filter(run=first, stale=False).count()
    )
    assert not project.edges.filter(run=first, stale=True).exclude(source__in=site[:3]).exists()


@pytest.mark.nightly
def test_the_form_counts_what_lists_leave_and_a_run_page_offers_them(project, site, manager, viewer, client_for):
    number = listed(project, *site[:3])
    client = client_for(manager)
    fields = {**MATCH, **SIDES, "donors-page_list": number}
    answer = client.get(reverse("match_count", args=[project.slug]), fields).content.decode()
    assert "<strong>3</strong> donors and <strong>40</strong> acceptors" in " ".join(answer.split())
    run = match(project, donors=PageFilter(page_list=number))
    page = client_for(viewer).get(reverse("run", args=[project.slug, run.pk])).content.decode()
    assert "3 from list.csv, 4 lines unknown" in page
    assert reverse("page_list", args=[project.slug, number]) in page
    assert client.get(reverse("match", args=[project.slug])).context["sides"]["donors"].initial["page_list"] == number


@pytest.mark.nightly
def test_a_page_outside_the_list_of_the_newest_run_is_told_so(project, site):
    run = match(project, donors=PageFilter(page_list=listed(project, *site[:3])))
    told = {finding.side: finding.text for finding in why_not_page(project, site[9]) if finding.code == "outside-run"}
    assert told == {"donor": f"The newest match run ({run.pk}) took the pages of the list list.csv only as donors."}
    assert not [finding for finding in why_not_page(project, site[0]) if finding.code == "outside-run"]


@pytest.mark.nightly
def test_the_command_takes_lists_and_names_what_is_not_known(project, site, tmp_path: Path, capsys):
    file = tmp_path / "donors.csv"
    file.write_text("Address\n/item-1\n/item-2\n/nowhere\n")
    with suppress(CommandError):  # the run itself needs a connection of its own
        call_command("match_project", project.slug, "--donors", str(file))
    run = Run.objects.get(kind=RunKind.MATCH)
    found = PageList.objects.get(pk=run.params["donors"]["page_list"])
    assert page_ids(found).tolist() == [site[1].pk, site[2].pk]
    assert "2 from donors.csv, 1 line unknown." in capsys.readouterr().err
    file.write_text("/nowhere\n")
    with pytest.raises(CommandError, match="no page for any of its 1 lines"):
        call_command("match_project", project.slug, "--acceptors", str(file))
    assert Run.objects.filter(kind=RunKind.MATCH).count() == 1
    assert PageList.objects.count() == 1


# ----------------------------------------------------------------------------------------------------------- pilots


def test_each_stratum_gives_its_share_and_the_same_seed_draws_the_same():
    strata = np.repeat([0, 1, 2], [600, 300, 100])
    drawn = draw(strata, 50, 1)
    assert Counter(strata[drawn].tolist()) == {0: 30, 1: 15, 2: 5}
    assert np.array_equal(drawn, draw(strata, 50, 1))
    assert not np.array_equal(drawn, draw(strata, 50, 2))
    assert len(np.unique(drawn)) == 50
    assert draw(strata[:7], 50, 1).tolist() == list(range(7))


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_pilot_goes_over_so_many_donors_spread_over_the_top_categories_and_to_all_acceptors(ranking, project, site):
    run = match(project, ranking=ranking, scope=Scope.SITE, pilot=Sample(8))
    drawn = np.frombuffer(run.pilot.pages, "<i8").tolist()
    tops = Counter(page.category.path[0] for page in Page.objects.filter(pk__in=drawn))
    assert tops == {"Shop": 6, "Magazine": 2}
    assert (run.pilot.size, run.pilot.out_of) == (8, 40)
    assert donors_of(run.edges) == set(drawn)
    assert run.edges.exclude(target__in=drawn).exists()


@pytest.mark.nightly
def test_a_pilot_over_sections_takes_their_donors(project, site):
    magazine = make_category(project, "Magazine")
    run = match(project, pilot=Sample(0, (magazine.pk,)))
    assert donors_of(run.edges) == {page.pk for page in site[30:]}
    assert dict(param_rows(run))["Pilot"] == "all donors in Magazine"
    run = match(project, pilot=Sample(3, (magazine.pk,)))
    assert len(donors_of(run.edges)) == 3
    assert dict(param_rows(run))["Pilot"].startswith("3 donors in Magazine drawn at random, spread over")


@pytest.mark.nightly
def test_what_a_pilot_drew_is_frozen_with_it(project, site):
    run = match(project, pilot=Sample(5))
    before = bytes(run.pilot.pages)
    make_page(project, "/new")
    params = MatchParams.from_dict(run.params)
    eligible = eligible_pages(project, run.model, params)
    again = limited_to_pilot(run, params, eligible)
    assert set(again.ids[again.chosen_donor].tolist()) == set(np.frombuffer(before, "<i8").tolist())
    assert Pilot.objects.count() == 1


@pytest.mark.nightly
def test_a_ranker_learns_for_a_pilot_from_the_links_of_all_pages(project, site):
    """A pilot over a few donors has few links of its own: what it shows must be what the whole site will get."""
    for number, page in enumerate(site):
        for step in (1, 2, 5):
            make_link(page, site[(number + step) % 40], f"page {number}")
    whole = match(project, ranking=Ranking.LEARNED)
    pilot = match(project, ranking=Ranking.LEARNED, pilot=Sample(4))
    assert whole.report["ranking"] == pilot.report["ranking"] == "learned"
    assert whole.ranker.labels == pilot.ranker.labels


@pytest.mark.nightly
def test_other_donors_of_the_newest_pilot_are_told_why_they_have_nothing(project, site):
    run = match(project, pilot=Sample(5))
    drawn = set(np.frombuffer(run.pilot.pages, "<i8").tolist())
    other = next(page for page in site if page.pk not in drawn)
    told = [finding.text for finding in why_not_page(project, other) if finding.code == "outside-run"]
    assert told == [f"The newest match run ({run.pk}) is a pilot over 5 donors, and this page is not one of them."]


@pytest.mark.nightly
def test_the_page_of_a_pilot_says_what_share_was_accepted_and_it_is_open_until_the_next_match(
    project, site, viewer, client_for
):
    run = match(project, pilot=Sample(5))
    assert open_pilot(project) == run
    edges = list(run.edges.order_by("pk")[:4])
    CandidateEdge.objects.filter(pk__in=[edge.pk for edge in edges[:3]]).update(status="accepted", reviewed=True)
    CandidateEdge.objects.filter(pk=edges[3].pk).update(status="rejected", reviewed=True)
    figures = pilot_figures(run)
    assert figures is not None
    assert (figures.accepted, figures.decided, figures.share, figures.is_open) == (3, 4, "75%", True)
    page = " ".join(client_for(viewer).get(reverse("run", args=[project.slug, run.pk])).content.decode().split())
    assert "5 of 40 donors" in page
    assert "<strong>75%</strong> accepted so far: 3 of 4" in page
    assert "Match the whole site" not in page  # viewers start nothing
    make_run(project)
    assert open_pilot(project) is None
    page = client_for(viewer).get(reverse("run", args=[project.slug, run.pk])).content.decode()
    assert "no longer come first" in " ".join(page.split())


@pytest.mark.nightly
def test_one_button_runs_the_whole_site_with_the_pilots_settings(
    project, site, manager, editor, client_for, redis_server, django_capture_on_commit_callbacks
):
    number = listed(project, *site[:30])
    run = match(project, scope=Scope.SITE, donors=PageFilter(page_list=number), pilot=Sample(5))
    client, address = client_for(manager), reverse("match_whole", args=[project.slug, run.pk])
    assert (
        "Match the whole site with these settings"
        in client.get(reverse("run", args=[project.slug, run.pk])).content.decode()
    )
    assert client_for(editor).post(address).status_code == 403
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address)
    whole = Run.objects.get(project=project, kind="match", status="queued")
    assert whole.params == run.params | {"pilot": None}
    assert whole.created_by == manager
    Run.objects.filter(pk=whole.pk).update(status="succeeded")
    page = client.post(reverse("match_whole", args=[project.slug, whole.pk]), follow=True)
    assert "is not a pilot" in page.content.decode()


@pytest.mark.nightly
def test_the_form_starts_a_pilot_and_counts_its_donors(
    project, site, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    client = client_for(manager)
    fields = {**MATCH, **SIDES, "pilot-on": "on", "pilot-pages": 12, "pilot-spread": "on", "pilot-seed": 3}
    answer = client.get(reverse("match_count", args=[project.slug]), fields).content.decode()
    assert "The pilot takes <strong>12</strong> of the donors" in " ".join(answer.split())
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("match", args=[project.slug]), fields)
    run = Run.objects.get(project=project, kind="match", status="queued")
    assert run.params["pilot"] == {"pages": 12, "categories": [], "spread": True, "seed": 3}
    page = client.get(reverse("match", args=[project.slug]))
    assert not page.context["pilot"].initial.get("on")
    assert page.context["pilot"].initial["pages"] == 12
    refused = client.post(reverse("match", args=[project.slug]), fields | {"pilot-pages": ""})
    assert refused.status_code == 422
    assert "Enter how many donors" in refused.content.decode()


@pytest.mark.nightly
def test_the_command_asks_for_a_pilot(project, site):
    flags = ["--pilot", "4", "--pilot-category", "Shop", "--pilot-seed", "7", "--pilot-anywhere"]
    with suppress(CommandError):
        call_command("match_project", project.slug, *flags)
    shop = make_category(project, "Shop")
    wanted = {"pages": 4, "categories": [shop.pk], "spread": False, "seed": 7}
    assert Run.objects.get(kind=RunKind.MATCH).params["pilot"] == wanted
    for flags, said in ((["--pilot", "0"], "a pilot needs a number"), (["--pilot-category", "Shop"], "needs --pilot")):
        with pytest.raises(CommandError, match=said):
            call_command("match_project", project.slug, *flags)
