"""Calibrations: what is drawn, what the curves say, and what a wanted precision does to a tier."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from linker.models import Basis, Change, ChangeKind, Cohort, Run, RunKind, RunStatus, Tier
from linker.projects.policies.cohorts import CohortName, set_bounds
from linker.projects.policies.tiers import change_tiers
from linker.runs.lifecycle import start_run
from review.models import Grade, Sample
from review.quality import calibrations, judging
from review.quality.curves import Band, bound_for, curve
from tests.factories import make_edge, make_member, make_page, make_run
from tests.linker.projects.test_rule_preview import undo_form
from tests.markup import compact

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/quality/calibrations/"


@pytest.fixture
def site(project):
    """Ten suggestions in each of the five bands of probability, and a tier of that basis."""
    donor = make_page(project)
    for number in range(50):
        make_edge(project, donor, make_page(project), probability=number / 50 + 0.01, score=0.9)
    project.tiers.filter(basis=Basis.PROBABILITY).delete()
    Tier.objects.create(project=project, basis=Basis.PROBABILITY, name="Good ones", lower_bound=0.9)
    return project


def calibration(project, **params) -> Sample:
    run = make_run(project, RunKind.CALIBRATE, params={"bands": 5, "size": 20, "twice": False, "seed": 1} | params)
    calibrations.run_calibration(run)
    return Sample.objects.get(run=run)


def label(project, user, least: float) -> None:
    """Judges all that waits: good from this probability on."""
    for link in list(judging.waiting_for(project, user)):
        judging.judge(project, user, link.pk, Grade.GOOD if link.probability >= least else Grade.BAD)


@pytest.mark.nightly
def test_as_many_are_drawn_of_each_band_and_the_seed_draws_them_again(site, ada):
    sample = calibration(site)
    assert [(one["links"], one["drawn"]) for one in sample.strata] == [(10, 4)] * 5
    drawn, _strata = calibrations.drawn_links(site, 5, 20, 1)
    assert [one.edge for one in drawn] == list(sample.links.order_by("place").values_list("edge", flat=True))
    assert [one.edge for one in calibrations.drawn_links(site, 5, 20, 2)[0]] != [one.edge for one in drawn]
    calibrations.run_calibration(sample.run)
    assert Sample.objects.count() == 1


@pytest.mark.nightly
def test_two_people_label_each_link_where_that_was_asked_for(site, ada):
    bea = make_member(site, username="bea")
    sample = calibration(site, twice=True)
    assert sample.links.filter(reader=ada).count() == sample.links.filter(reader=bea).count() == 20


def test_without_probabilities_the_run_says_what_to_do(project, ada, run_jobs, transactional_db):
    make_edge(project)
    run = start_run(project, RunKind.CALIBRATE, {"bands": 5, "size": 20, "twice": False})
    run_jobs()
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "Match with a ranker that states one" in run.error


def test_precision_weighs_bands_by_their_suggestions_and_recall_counts_what_is_missed():
    low, high = curve([Band(0.5, 1.0, 100, judged=10, right=9), Band(0.0, 0.5, 900, judged=10, right=1)])[::-1]
    assert (high.precision, high.bound) == (0.9, 0.5)
    assert low.precision == pytest.approx((90 + 90) / 1000)
    assert (high.recall, low.recall) == (pytest.approx(0.5), pytest.approx(1.0))
    assert 0.55 < high.precision_low < 0.6  # Wilson's for 9 of 10
    assert high.recall_low < 0.5 < high.recall_high


def test_a_band_without_labels_leaves_what_is_below_it_unknown():
    points = curve([Band(0.8, 1.0, 5, judged=5, right=5), Band(0.4, 0.8, 5), Band(0.0, 0.4, 9, judged=2, right=0)])
    assert [point.precision for point in points] == [1.0, None, None]
    assert points[0].recall is None
    assert bound_for(points, 0.5, sure=False).bound == 0.8
    assert bound_for(points, 0.9, sure=True) is None


@pytest.mark.nightly
def test_the_lowest_bound_that_reaches_the_wanted_precision_is_proposed(site, ada, client_for, manager):
    sample = calibration(site)
    label(site, ada, 0.4)
    client = client_for(manager)
    page = compact(
        client.get(f"{PAGE}{sample.pk}/?wanted=95&tier={site.tiers.get(name='Good ones').pk}").content.decode()
    )
    assert "From a probability of <strong>40%</strong> on, 100.0% are good" in page
    assert "would hold <strong>30</strong> suggestions" in page
    assert "<polyline" in page


@pytest.mark.nightly
def test_the_bound_is_applied_kept_with_the_sample_logged_and_can_be_undone(site, ada, client_for, manager):
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    label(site, ada, 0.4)
    client = client_for(manager)
    said = {"wanted": "80", "tier": tier.pk}
    answer = client.post(f"{PAGE}{sample.pk}/apply/", said, follow=True)
    tier.refresh_from_db()
    sample.refresh_from_db()
    assert tier.lower_bound == 0.4
    assert (sample.choice["bound"], sample.choice["before"], sample.choice["by"]) == (0.4, 0.9, manager.username)
    assert Change.objects.filter(project=site, kind=ChangeKind.TIERS, user=manager).exists()
    assert "settings_undo" in answer.content.decode() or "Undo" in answer.content.decode()


@pytest.mark.nightly
def test_a_bound_that_was_taken_back_is_said_to_begin_elsewhere(site, ada, client_for, manager):
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    label(site, ada, 0.4)
    client = client_for(manager)
    client.post(f"{PAGE}{sample.pk}/apply/", {"wanted": "80", "tier": tier.pk})
    for address in (PAGE, f"{PAGE}{sample.pk}/"):
        page = compact(client.get(address).content.decode())
        assert f"{manager.username} let Good ones begin at 40%." in page
        assert "now." not in page.split("let Good ones begin")[1][:80]

    tier.refresh_from_db()
    tier.lower_bound = 0.9
    change_tiers(site, [tier], user=manager)

    for address in (PAGE, f"{PAGE}{sample.pk}/"):
        assert "begin at 40%. It begins at 90% now." in compact(client.get(address).content.decode())


@pytest.mark.nightly
def test_what_cannot_be_applied_is_said_and_changes_nothing(site, ada, client_for, manager):
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    Tier.objects.create(project=site, basis=Basis.PROBABILITY, name="Others", lower_bound=0.4)
    client = client_for(manager)
    said = {"wanted": "80", "tier": tier.pk}
    assert "No bound reaches this precision" in client.post(f"{PAGE}{sample.pk}/apply/", said).content.decode()
    label(site, ada, 0.4)
    assert "begins at 0.4 already" in client.post(f"{PAGE}{sample.pk}/apply/", said).content.decode()
    tier.refresh_from_db()
    assert tier.lower_bound == 0.9


@pytest.mark.nightly
def test_the_form_starts_a_run_and_says_what_is_wrong(site, ada, client_for, manager, outsider, redis_server):
    client = client_for(manager)
    wrong = client.post(PAGE, {"size": "3", "bands": "10"})
    assert (wrong.status_code, site.runs.filter(kind=RunKind.CALIBRATE).exists()) == (422, False)
    client.post(PAGE, {"size": "100", "bands": "10", "twice": "on"})
    assert site.runs.get(kind=RunKind.CALIBRATE).params == {"size": 100, "bands": 10, "twice": True}
    assert client_for(outsider).get(PAGE).status_code == 404


@pytest.mark.nightly
def test_links_with_bounds_of_their_own_are_calibrated_alone(site, manager, ada, client_for):
    others, tier = make_page(site), site.tiers.get(basis=Basis.PROBABILITY)
    for number in range(20):
        make_edge(site, others, make_page(site, role="hub"), probability=number / 20 + 0.01, score=0.9)
    set_bounds(site, CohortName(Basis.PROBABILITY, role="hub"), {tier.pk: 0.9}, manager)
    cohort = Cohort.objects.get()
    sample = calibration(site, cohort=cohort.pk)
    assert [one["links"] for one in sample.strata] == [4] * 5, "of the hubs alone"
    label(site, ada, 0.4)
    client = client_for(manager)
    asked = {"wanted": "100", "tier": str(tier.pk)}
    assert "Only links to pages with the role “Hub” were drawn" in compact(
        client.get(f"{PAGE}{sample.pk}/", asked).content.decode()
    )
    answer = client.post(f"{PAGE}{sample.pk}/apply/", asked, follow=True)
    assert "for links to pages with the role “Hub” from now on" in compact(answer.content.decode())
    assert cohort.bounds.get().lower_bound == 0.4
    assert site.tiers.get(basis=Basis.PROBABILITY).lower_bound == 0.9, "the project's stays"
    set_bounds(site, CohortName(Basis.PROBABILITY, role="hub"), {}, manager)
    answer = client.post(f"{PAGE}{sample.pk}/apply/", asked)
    assert "no bounds of their own any more" in compact(answer.content.decode())


@pytest.mark.nightly
def test_a_bound_that_has_moved_since_it_was_shown_is_not_applied(site, ada, client_for, manager):
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    for link in [one for one in judging.waiting_for(site, ada) if one.probability > 0.6]:
        judging.judge(site, ada, link.pk, Grade.GOOD)
    client, said = client_for(manager), {"wanted": "80", "tier": str(tier.pk)}
    page = client.get(f"{PAGE}{sample.pk}/", said, headers={"accept-language": "de"}).content.decode()
    assert 'name="shown" value="0.6"' in page
    label(site, ada, 0.4)
    answer = client.post(f"{PAGE}{sample.pk}/apply/", {**said, "shown": "0.6"})
    assert "the bound is 40% now" in answer.content.decode()
    tier.refresh_from_db()
    assert tier.lower_bound == 0.9
    client.post(f"{PAGE}{sample.pk}/apply/", {**said, "shown": "0.4"})
    tier.refresh_from_db()
    assert tier.lower_bound == 0.4


@pytest.mark.nightly
def test_a_bound_that_is_applied_twice_is_undone_whole(site, ada, client_for, manager):
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    label(site, ada, 0.4)
    client = client_for(manager)
    for _ in range(2):
        client.post(f"{PAGE}{sample.pk}/apply/", {"wanted": "80", "tier": tier.pk, "shown": "0.4"})
    client.post(*undo_form(client.get("/p/shop/settings/tiers/").content.decode()))
    tier.refresh_from_db()
    assert tier.lower_bound == 0.9


@pytest.mark.nightly
def test_who_judges_a_link_is_not_told_how_to_change_it(site, ada, client_for):
    calibration(site)
    page = compact(client_for(ada).get("/p/shop/quality/judge/").content.decode())
    assert "Not in the text: needs a copy change" in page
    assert "Write the sentence" not in page


@pytest.mark.nightly
def test_a_question_that_is_wrong_does_not_say_that_nothing_was_saved(site, ada, client_for, manager):
    sample = calibration(site)
    page = client_for(manager).get(f"{PAGE}{sample.pk}/?wanted=0&tier=x").content.decode()
    assert "See the fields marked below." in page
    assert "Nothing was saved: see the fields" not in page


@pytest.mark.nightly
def test_a_bound_that_changes_the_order_of_the_tiers_is_shown_with_a_word(site, ada, client_for, manager):
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    label(site, ada, 0.4)
    client = client_for(manager)
    address = f"{PAGE}{sample.pk}/?wanted=95&tier={tier.pk}"
    assert "change their order" not in client.get(address).content.decode()
    Tier.objects.create(project=site, basis=Basis.PROBABILITY, name="Others", lower_bound=0.6)
    assert "change their order. From the top: Others, Good ones." in compact(client.get(address).content.decode())


def a_match(project, slope: float, shift: float):
    """A run that ends now, with the calibration that its probabilities have."""
    approval = {"version": "a1", "judged": 900, "sites": 9, "decisions": 40, "slope": slope, "shift": shift}
    report = {"version": 1, "ranking": "learned", "approval": approval}
    return make_run(project, report=report, finished_at=timezone.now())


@pytest.mark.nightly
def test_a_bound_from_before_a_recalibration_is_refused_and_links_can_be_drawn_again(site, ada, client_for, manager):
    a_match(site, 1.0, 0.0)
    sample, tier = calibration(site), site.tiers.get(name="Good ones")
    label(site, ada, 0.4)
    client, asked = client_for(manager), {"wanted": "80", "tier": tier.pk}
    a_match(site, 1.0, 0.001)
    assert "Apply this bound" in client.get(f"{PAGE}{sample.pk}/", asked).content.decode(), "reads the same"
    run = a_match(site, 0.8, -0.6)
    page = compact(client.get(f"{PAGE}{sample.pk}/", asked).content.decode())
    assert "so it cannot be applied" in page
    assert "Apply this bound" not in page
    answer = client.post(f"{PAGE}{sample.pk}/apply/", asked)
    assert answer.status_code == 422
    assert f"Run {run.pk} states probabilities on another scale" in compact(answer.content.decode())
    tier.refresh_from_db()
    assert tier.lower_bound == 0.9
    again = dict(re.findall(r'<input type="hidden" name="(size|bands|twice)" value="([^"]*)"', page))
    client.post(PAGE, again)
    drawn = Run.objects.get(project=site, kind=RunKind.CALIBRATE, status=RunStatus.QUEUED)
    assert (drawn.params["size"], drawn.params["bands"], drawn.params["twice"]) == (20, 5, False)
