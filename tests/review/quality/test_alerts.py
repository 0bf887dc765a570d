"""Alerts: what raises one, that a cause is told once, and how one is closed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from linker.models import Basis, Change, EdgeStatus, MailSettings, Notification, RunKind, Tier, Wanted
from review.decisions import decide_edges
from review.models import (
    Alert,
    AlertClosing,
    AlertKind,
    LiveState,
    Operation,
    PublishedLink,
    Release,
    ReleaseLink,
    Verb,
)
from review.quality import alerts, watch
from review.quality.limits import Limits
from review.releases.create import create_release
from tests.factories import make_edge, make_page, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/quality/alerts/"


def look(project):
    run = make_run(project, RunKind.ALERTS)
    report = alerts.run_alerts(run)
    project.refresh_from_db()
    return report


def released(project, number: int, **pages) -> list:
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True, **pages) for _ in range(number)]
    project.identical_anchor_limit = 100
    project.save()
    create_release(project, project.edges.filter(status=EdgeStatus.ACCEPTED))
    return edges


def test_many_suggestions_near_a_bound(project, monkeypatch):
    monkeypatch.setattr(watch, "LEAST_OPEN", 10)
    project.tiers.filter(basis=Basis.PROBABILITY).delete()
    Tier.objects.create(project=project, basis=Basis.PROBABILITY, name="Good ones", lower_bound=0.6)
    for number in range(12):
        make_edge(project, probability=0.61 if number < 6 else 0.9)
    [(kind, _cause, found)] = watch.near_bounds(project, 25)
    assert (kind, found["near"], found["open"]) == (AlertKind.NEAR_BOUND, 6, 12)
    assert list(watch.near_bounds(project, 50)) == []


@pytest.mark.nightly
def test_a_donor_that_gains_many_links_and_a_page_whose_links_say_the_same(project):
    donor, target = make_page(project, "/hub"), make_page(project, "/boots")
    released(project, 4, source=donor)
    released(project, 5, target=target)
    assert [(cause, found["gained"]) for _kind, cause, found in watch.donors(project, 4)] == [(f"page:{donor.pk}", 4)]
    assert list(watch.donors(project, 5)) == []
    [(_kind, cause, found)] = watch.anchors(project, 60)
    assert (cause, found["words"], found["links"], found["whole"]) == (f"page:{target.pk}", "a good anchor", 5, 5)
    with_others = PublishedLink.objects.filter(edge__target=target).order_by("edge")[:3]
    PublishedLink.objects.filter(edge__in=[link.edge_id for link in with_others[:2]]).update(anchor="winter boots")
    PublishedLink.objects.filter(edge=with_others[2].edge_id).update(anchor="boots for snow")
    assert list(watch.anchors(project, 60)) == []


@pytest.mark.nightly
def test_a_fall_of_the_share_accepted_that_chance_does_not_explain(project, ada, monkeypatch):
    def decided(accepted: int, rejected: int) -> None:
        for verb, number in ((Verb.ACCEPT, accepted), (Verb.REJECT, rejected)):
            decide_edges(project, [make_edge(project).pk for _ in range(number)], verb, ada)

    long_ago = timezone.now() - timedelta(days=10)
    with monkeypatch.context() as earlier:
        earlier.setattr(timezone, "now", lambda: long_ago)
        decided(27, 3)
    decided(24, 6)
    assert list(watch.acceptance(project, 10)) == []  # a fall of ten points, as chance brings about
    decided(0, 18)
    [(_kind, _cause, found)] = watch.acceptance(project, 10)
    assert (found["share"], found["before"], found["decided"]) == (0.5, 0.9, 48)
    assert list(watch.acceptance(project, 50)) == []


def test_the_test_of_two_proportions_is_that_of_the_textbook():
    # 80 of 100 against 60 of 100: pooled 0.7, standard error 0.0648, z 3.086, one-sided p 0.0010.
    assert watch.chance_of_fall(80, 100, 60, 100) == pytest.approx(0.00101, abs=0.00001)
    assert watch.chance_of_fall(5, 5, 5, 5) == 1.0


def test_links_that_were_taken_back_and_released_again_within_a_week_are_no_gain(project):
    donor = make_page(project, "/hub")
    edges = released(project, 4, source=donor)
    Release.objects.update(created_at=timezone.now() - timedelta(days=10))
    assert list(watch.donors(project, 1)) == []
    PublishedLink.objects.update(is_out=False)
    for number, operation in enumerate((Operation.REMOVE, Operation.ADD), start=2):
        operations = {"added": 4 * (operation == Operation.ADD), "removed": 4 * (operation == Operation.REMOVE)}
        again = Release.objects.create(
            project=project, number=number, status="accepted", links=4, bytes=0, sha256="", **operations
        )
        for edge in edges:
            ReleaseLink.objects.create(release=again, edge=edge, operation=operation, anchor="words", rel="follow")
    PublishedLink.objects.update(is_out=True)
    assert list(watch.donors(project, 1)) == [], "they were out a week ago"


def test_one_link_that_leads_nowhere_is_told(project, manager):
    released(project, 1)
    PublishedLink.objects.update(state=LiveState.DEAD)
    project.alert_limits = {"anchors": 100}
    project.save()
    assert look(project).raised == 1
    alert = Alert.objects.get()
    assert alerts.in_words(alert) == "Released links that stand on the site and lead nowhere: 1."
    assert alerts.place_of(alert).endswith("?state=dead")


@pytest.mark.nightly
def test_lost_links_and_links_that_wait_are_told_once_closed_with_a_word_and_quiet_for_a_week(
    project, client_for, manager, settings
):
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example", "https://anchorline.example"
    manager.email = "manager@shop.example"
    manager.save()
    MailSettings.objects.create(user=manager, alert=Wanted.ONCE)
    released(project, 3)
    old = timezone.now() - timedelta(days=40)
    PublishedLink.objects.update(state=LiveState.LOST, since=old)
    project.alert_limits = {"lost": 2, "anchors": 100}
    project.save()
    assert look(project).raised == 2
    assert look(project).raised == 0
    assert project.open_alerts == 2
    assert "Released links that were live and have gone: 3." in Notification.objects.get(user=manager).text
    client = client_for(manager)
    page = compact(client.get(PAGE).content.decode())
    assert "Released links that have needed somebody for more than 30 days: 3." in page
    alert = Alert.objects.get(kind=AlertKind.LOST)
    assert (
        "write in the note why" in client.post(f"{PAGE}{alert.pk}/close/", {"note": " "}, follow=True).content.decode()
    )
    client.post(f"{PAGE}{alert.pk}/close/", {"note": "the relaunch"})
    closing = AlertClosing.objects.get()
    assert (closing.user, closing.note) == (manager, "the relaunch")
    assert "already" in client.post(f"{PAGE}{alert.pk}/close/", {"note": "again"}, follow=True).content.decode()
    assert look(project).raised == 0
    assert project.open_alerts == 1
    Alert.objects.filter(pk=alert.pk).update(closed_at=old)
    assert look(project).raised == 1
    assert "the relaunch" in client.get(PAGE).content.decode()


def test_limits_are_the_usual_ones_until_a_manager_changes_them(project, client_for, manager, outsider):
    client, usual = client_for(manager), Limits()
    values = {name: getattr(usual, name) for name in Limits.__dataclass_fields__}
    client.post(f"{PAGE}limits/", values | {"stuck": 14})
    project.refresh_from_db()
    assert project.alert_limits == {"stuck": 14}
    assert (Limits.of(project).stuck, Limits.of(project).near) == (14, usual.near)
    assert Change.objects.get(project=project, user=manager).after == {"stuck": 14}
    assert client.post(f"{PAGE}limits/", values | {"near": 200}).status_code == 422
    assert client_for(outsider).get(PAGE).status_code == 404


def test_a_german_reads_how_far_histograms_are_apart_with_a_comma():
    alert = Alert(kind=AlertKind.HISTOGRAM, found={"run": 3, "before": 2, "apart": 0.5})
    with translation.override("de"):
        assert "0,50 auseinander" in alerts.in_words(alert)
    assert "0.50 apart" in alerts.in_words(alert)


def test_a_match_that_takes_much_of_the_queue_away_is_told_against_what_stood_just_before_it(project):
    run = make_run(project, report={"version": 2, "queue": {"before": 606, "now": 58}})
    [(kind, cause, found)] = watch.shrunk(project, 40)
    assert (kind, cause) == (AlertKind.SHRUNK, f"run:{run.pk}")
    alert = Alert(project=project, kind=kind, cause=cause, found=found)
    said = f"Run {run.pk} left 58 of 606 suggestions in the queue, decided ones left out."
    assert (alerts.in_words(alert), alerts.place_of(alert)) == (said, "/p/shop/learning/")
    make_run(project, report={"version": 2, "queue": {"before": 58, "now": 60}})
    assert not list(watch.shrunk(project, 40))
