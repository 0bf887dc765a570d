"""Each link is looked at again when it leaves: what must not leave is held back with its reason, and stays."""

from __future__ import annotations

import csv
import html
import io
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from linker.matching.anchor_use import use_of
from linker.models import Block, CandidateEdge, EdgeStatus, ExclusionRule, ExistingLink, Page, Rel, SensitiveRule
from review.models import Held, HeldBack, Operation, Release, ReleaseFormat, ReleaseLink
from review.releases import checks, create, held_back, outgoing
from review.releases.create import NothingToExport
from tests.factories import lenient_tiers, make_category, make_edge, make_link, make_page, make_run
from tests.review.test_release import wait_until_somebody_waits_for_a_lock

if TYPE_CHECKING:
    from linker.models import Project

PAGE = "/p/shop/export/"
TEXT = "Wear warm socks on snow."


def release_of(project: Project, **how: Any) -> Release:
    return create.create_release(project, project.edges.all(), **how)


def accepted(project: Project, *pages: Page, **fields: Any) -> CandidateEdge:
    return make_edge(project, *pages, status=EdgeStatus.ACCEPTED, **fields)


def held_of(project: Project) -> list[tuple[str, str]]:
    """Reason and detail of what the next release would hold back."""
    with transaction.atomic():
        checks.gather(project, project.edges.all(), Operation, lock=False)
        checks.hold_back(project, read_sensitive=False)
        return [(row.reason, row.detail) for row in held_back.rows(held_back.NEXT)[0]]


@pytest.fixture
def leaver(project) -> CandidateEdge:
    """A link that leaves whatever becomes of the others."""
    return accepted(project)


def test_links_are_compared_one_by_one_only_where_there_may_be_no_room(project):
    """A million links that all have room are looked at by statements alone."""
    run = make_run(project, params={"inline_per_donor": 2, "related_per_donor": 2, "per_target": 3})
    crowded, roomy = make_page(project), make_page(project)
    full = [accepted(project, crowded, run=run, anchor=f"words {n}") for n in range(3)]
    for n in range(2):
        accepted(project, roomy, run=run, anchor=f"other words {n}")

    with transaction.atomic():
        checks.gather(project, project.edges.all(), Operation, lock=False)
        checks.hold_back(project, read_sensitive=False)
        with connection.cursor() as cursor:
            cursor.execute("SELECT edge FROM contested ORDER BY edge")
            compared = [edge for (edge,) in cursor.fetchall()]
        held = [row.reason for row in held_back.rows(held_back.NEXT)[0]]

    assert (compared, held) == ([edge.pk for edge in full], [Held.DONOR_FULL])


@pytest.mark.sample(5)
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    ("fields", "reason", "detail"),
    [
        ({"missing_since": timezone.now()}, Held.GONE, "is missing from the newest import."),
        ({"status": "removed"}, Held.GONE, "was removed."),
        ({"status_code": 404}, Held.GONE, "answered the crawl with 404."),
        ({"status_code": 503}, Held.GONE, "answered the crawl with 503."),
        ({"status_code": 301}, Held.REDIRECTED, "answered the crawl with 301."),
        ({"redirect_url": "https://shop.example/new"}, Held.REDIRECTED, "redirects to https://shop.example/new"),
    ],
)
def test_a_link_of_a_page_that_is_gone_or_redirected_stays(project, leaver, side, fields, reason, detail):
    edge = accepted(project, **{side: make_page(project, **fields)})

    release = release_of(project)

    edge.refresh_from_db()
    kept = release.held_back.get()
    who = "donor" if side == "source" else "acceptor"
    assert (kept.edge, kept.reason, kept.detail) == (edge, reason, f"The {who} {detail}")
    assert (edge.status, release.links, release.held) == (EdgeStatus.ACCEPTED, 1, 1)
    assert list(release.release_links.values_list("edge", flat=True)) == [leaver.pk]


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"indexability_status": "noindex"}, "The acceptor is not indexable: noindex."),
        ({}, "The acceptor is not indexable."),
        (
            {"canonical_link": "https://shop.example/other"},
            "The acceptor names another address as its canonical: https://shop.example/other",
        ),
    ],
)
def test_a_link_to_a_page_that_is_no_longer_indexable_stays(project, fields, detail):
    accepted(project, target=make_page(project, indexable=False, **fields))

    assert held_of(project) == [(Held.NOT_INDEXABLE, detail)]


def test_a_donor_need_not_be_indexable(project):
    accepted(project, make_page(project, indexable=False))

    assert release_of(project).links == 1


@pytest.mark.parametrize(("side", "stays"), [("donor", "source"), ("acceptor", "target"), ("both", "source")])
def test_a_link_of_an_excluded_page_stays(project, leaver, side, stays):
    ExclusionRule.objects.create(project=project, pattern="/old/", side=side)
    accepted(project, **{stays: make_page(project, "/old/tents")})
    other = "target" if stays == "source" else "source"
    if side != "both":
        accepted(project, **{other: make_page(project, "/old/stoves")})

    who = "donor" if stays == "source" else "acceptor"
    assert held_of(project) == [(Held.EXCLUDED, f"The {who} is excluded by the rule “/old/”.")]


@pytest.mark.parametrize(
    ("side", "said"),
    [("source", "donor is a utility page, which gives"), ("target", "acceptor is a utility page, which receives")],
)
def test_an_unreviewed_link_of_a_role_that_wants_none_stays_and_a_persons_word_counts(project, side, said):
    lenient_tiers(project)
    tier = project.tiers.filter(export_unreviewed=True).first()
    contact = make_page(project, "/contact", role="utility")
    accepted(project, **{side: contact})
    make_edge(project, tier=tier, **{side: contact})

    assert held_of(project) == [(Held.EXCLUDED, f"The {said} no new links.")]


def test_what_is_sensitive_waits_for_a_person_even_where_its_tier_may_leave(project):
    lenient_tiers(project, name="Related")
    health = make_category(project, "Health")
    SensitiveRule.objects.create(project=project, category=health)
    make_edge(project, make_page(project, category=health), score=0.7)
    make_edge(project, score=0.7)

    release = release_of(project)

    assert (release.links, release.held_back.get().reason) == (1, Held.SENSITIVE)
    assert "medical" in release.held_back.get().detail


def test_a_link_that_the_page_has_by_now_stays(project):
    edge = accepted(project)
    make_link(edge.source, edge.target)

    assert held_of(project) == [(Held.LINKED, "The donor links to the acceptor already.")]


@pytest.mark.parametrize(
    "fields", [{"block": Block.NAVIGATION}, {"block": Block.CONTENT, "missing_since": timezone.now()}]
)
def test_a_link_of_the_navigation_or_one_that_is_gone_is_none(project, fields):
    edge = accepted(project)
    ExistingLink.objects.create(project=project, source=edge.source, target=edge.target, **fields)

    assert held_of(project) == []


def test_a_link_of_the_block_beside_the_text_stays_where_the_page_has_it_there(project):
    """One for the text leaves all the same: it does for the reader what the other does not."""
    edges = {place: accepted(project, placement=place) for place in ("related", "inline")}
    for edge in edges.values():
        make_link(edge.source, edge.target, block=Block.ASIDE)

    release = release_of(project)

    assert [one.edge for one in release.held_back.all()] == [edges["related"]]


def placed(project: Project, words: str = "warm socks") -> CandidateEdge:
    start = TEXT.index(words)
    donor = make_page(project, body=TEXT)
    edge = accepted(project, donor, anchor=words, span_start=start, span_end=start + len(words))
    edge.body_hash = Page.objects.get(pk=donor.pk).body_hash
    edge.save()
    return edge


def test_a_link_whose_words_are_gone_from_the_text_stays(project):
    edge = placed(project)
    Page.objects.filter(pk=edge.source_id).update(body="Wear cold feet on ice.")

    assert held_of(project) == [(Held.WORDS_GONE, "The donor’s text no longer has the words “warm socks”.")]


@pytest.mark.parametrize("body", [TEXT, f"New first words. {TEXT}", "WARM\u00a0SOCKS, as ever", "warm\n socks"])
def test_a_link_whose_words_stand_elsewhere_or_otherwise_in_the_text_leaves(project, body):
    edge = placed(project)
    Page.objects.filter(pk=edge.source_id).update(body=body)

    assert held_of(project) == []


def test_the_best_links_of_an_anchor_leave_and_those_over_the_limit_stay(project, asks):
    target = make_page(project)
    edges = [accepted(project, target=target, anchor="Warm socks", score=0.9 - n / 100) for n in range(3)]
    late = [accepted(project, target=target, anchor="the warm socks", score=0.8)]
    other = accepted(project, target=target, anchor="Thick socks", score=0.7)

    release = release_of(project)

    assert set(release.release_links.values_list("edge", flat=True)) == {*(edge.pk for edge in edges), other.pk}
    kept = release.held_back.get()
    assert (kept.edge, kept.reason) == (late[0], Held.SAME_ANCHOR)
    assert kept.detail == "The acceptor has 3 links with this anchor; the project allows 3."


def test_links_beside_the_text_say_the_name_of_their_page_each_time_and_take_room_from_those_in_texts(project, asks):
    target = make_page(project, title="Warm socks | Shop", h1="Warm socks")
    beside = [
        accepted(project, target=target, anchor="warm socks", score=0.9 - n / 100, placement="related")
        for n in range(4)
    ]
    gap = accepted(project, target=target, anchor="Warm socks", placement="related", content_gap=True, score=0.8)
    inline = accepted(project, target=target, anchor="Warm socks", placement="inline", score=0.79)
    others = [accepted(project, target=target, anchor="Sox", score=0.7, placement="related") for _ in range(4)]

    release = release_of(project)

    assert set(release.release_links.values_list("edge", flat=True)) == {
        edge.pk for edge in (*beside, gap, *others[:3])
    }
    held = release.held_back.values_list("edge", "reason")
    assert set(held) == {(inline.pk, Held.SAME_ANCHOR), (others[3].pk, Held.SAME_ANCHOR)}


def test_anchors_that_have_left_or_stand_on_the_site_count(project):
    project.identical_anchor_limit, project.anchor_repeats = 2, "names"
    project.save()
    target = make_page(project)
    gone = make_edge(project, target=target, anchor="Warm socks", status=EdgeStatus.EXPORTED)
    make_link(gone.source, target, "Warm socks")  # the same link, seen by the crawl: one
    make_link(make_page(project), target, "Warm socks")
    accepted(project, target=target, anchor="warm socks")

    assert [reason for reason, _ in held_of(project)] == [Held.SAME_ANCHOR]


def test_a_release_counts_anchors_as_every_other_reader_does(project):
    """Links that left and stand on the site by now, in the same words or in others; template links."""
    project.identical_anchor_limit, project.anchor_repeats = 1, "names"
    project.save()
    target = make_page(project)
    same, reworded, _unseen = (
        make_edge(project, target=target, anchor="Warm socks", status=EdgeStatus.EXPORTED) for _ in range(3)
    )
    make_link(same.source, target, "warm socks")
    make_link(reworded.source, target, "Thick socks")
    make_link(make_page(project), target, "the warm socks")
    make_link(make_page(project), target, "Warm socks", block=Block.NAVIGATION)
    make_edge(project, target=target, anchor="Warm socks", status=EdgeStatus.REJECTED)
    counted = use_of(project, [target.pk]).times(target.pk, "warm socks")
    accepted(project, target=target, anchor="warm socks")

    assert counted == 4
    [(reason, detail)] = held_of(project)
    assert reason == Held.SAME_ANCHOR
    assert detail.startswith(f"The acceptor has {counted} links")


def test_what_a_release_takes_away_and_what_is_not_released_yet_leaves_room_for_an_anchor(project, editor):
    project.identical_anchor_limit, project.anchor_repeats = 1, "names"
    project.save()
    target = make_page(project)
    leaving = make_edge(project, target=target, anchor="Warm socks", status=EdgeStatus.EXPORTED)
    outgoing.withdraw(project, CandidateEdge.objects.filter(pk=leaving.pk), editor)
    make_edge(project, target=target, anchor="Warm socks", edited=True, stale=True)
    accepted(project, target=target, anchor="warm socks")

    assert held_of(project) == []


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ("inline", "New links in the donor’s text: 2 approved; the match run allows 2."),
        ("related", "New links beside the donor’s text: 2 approved; the match run allows 2."),
    ],
)
def test_a_donors_links_over_the_runs_cap_stay_the_worst_first(project, placement, words):
    run = make_run(project, params={"inline_per_donor": 2, "related_per_donor": 2})
    donor = make_page(project)
    make_edge(project, donor, run=run, placement=placement, status=EdgeStatus.EXPORTED)
    best, worst = (accepted(project, donor, run=run, placement=placement, score=score) for score in (0.9, 0.8))

    release = release_of(project)

    assert release.release_links.get().edge == best
    kept = release.held_back.get()
    assert (kept.edge, kept.reason) == (worst, Held.DONOR_FULL)
    assert kept.detail == words


@pytest.mark.parametrize("placement", ["inline", "related"])
def test_links_to_an_acceptor_over_the_runs_cap_stay_the_worst_first(project, placement):
    run, other = (make_run(project, params={"per_target": most}) for most in (2, 0))
    acceptor, donors = make_page(project), [make_page(project) for _ in range(6)]
    make_edge(project, donors[0], acceptor, run=run, status=EdgeStatus.EXPORTED)
    on_the_site = make_edge(project, donors[1], acceptor, run=run, status=EdgeStatus.EXPORTED)
    make_link(on_the_site.source, acceptor)
    worst, best = (
        accepted(project, donor, acceptor, run=run, placement=placement, score=score, anchor=f"anchor {score}")
        for donor, score in zip(donors[2:4], (0.8, 0.9), strict=True)
    )
    uncapped = accepted(project, donors[4], acceptor, run=other, placement=placement, score=0.7, anchor="another")

    release = release_of(project)

    assert set(release.release_links.values_list("edge", flat=True)) == {best.pk, uncapped.pk}
    kept = release.held_back.get()
    assert (kept.edge, kept.reason) == (worst, Held.ACCEPTOR_FULL)
    assert kept.detail == "The acceptor may receive 2 new links, and better ones come first."


def test_what_the_donors_text_has_already_takes_room(project):
    run = make_run(project, params={"inline_per_donor": 2, "inline_in_all": 4})
    donor = make_page(project, outlinks=3)
    for score in (0.9, 0.8):
        accepted(project, donor, run=run, placement="inline", score=score)

    assert held_of(project) == [
        (Held.DONOR_FULL, "Links in the donor’s text: 3 on the site and 1 approved; the cap is 4.")
    ]


@pytest.mark.parametrize(("placement", "stays"), [("inline", False), ("related", True)])
def test_a_link_beside_the_text_keeps_one_from_the_block_and_not_from_the_text(project, placement, stays):
    edge = accepted(project, placement=placement)
    make_link(edge.source, edge.target, block=Block.ASIDE)

    assert bool(held_of(project)) == stays


@pytest.mark.nightly
def test_what_an_editor_accepted_has_room_before_what_nobody_saw(project):
    lenient_tiers(project)
    run, donor = make_run(project, params={"inline_per_donor": 1}), make_page(project)
    seen = accepted(project, donor, run=run, placement="inline", score=0.6)
    make_edge(project, donor, run=run, placement="inline", score=0.9)

    assert release_of(project).release_links.get().edge == seen


def test_a_link_held_back_for_its_acceptor_leaves_its_donors_room_to_the_next(project):
    run = make_run(project, params={"inline_per_donor": 1, "per_target": 1})
    donor, full = make_page(project), make_page(project)
    make_edge(project, None, full, run=run, status=EdgeStatus.EXPORTED)
    best = accepted(project, donor, full, run=run, placement="inline", score=0.9)
    second = accepted(project, donor, run=run, placement="inline", score=0.8)

    release = release_of(project)

    assert release.release_links.get().edge == second
    kept = release.held_back.get()
    assert (kept.edge, kept.reason) == (best, Held.ACCEPTOR_FULL)


def test_a_link_held_back_for_its_donor_leaves_its_anchor_and_its_acceptors_room_to_the_next(project):
    project.identical_anchor_limit, project.anchor_repeats = 1, "names"
    project.save()
    run = make_run(project, params={"inline_per_donor": 1, "per_target": 1})
    donor, target = make_page(project), make_page(project)
    first = accepted(project, donor, run=run, placement="inline", score=0.95)
    late = accepted(project, donor, target, run=run, placement="inline", score=0.9, anchor="Warm socks")
    other = accepted(project, None, target, run=run, placement="inline", score=0.8, anchor="warm socks")

    release = release_of(project)

    assert set(release.release_links.values_list("edge", flat=True)) == {first.pk, other.pk}
    assert (release.held_back.get().edge, release.held_back.get().reason) == (late, Held.DONOR_FULL)


def test_the_largest_share_of_a_runs_links_holds_when_they_leave_too(project):
    """By the cap that the run worked with, the lower of the two: accepted links of several runs come together."""
    run = make_run(project, params={"per_target": 200}, report={"allocation": {"target_cap": 2}})
    acceptor = make_page(project)
    for number in range(3):
        accepted(project, None, acceptor, run=run, score=0.9 - number / 100, anchor=f"anchor {number}")

    assert held_of(project) == [
        (Held.ACCEPTOR_FULL, "The acceptor may receive 2 new links, and better ones come first.")
    ]


@pytest.mark.nightly
def test_a_link_leaves_once_the_reason_is_gone(project, leaver):
    edge = accepted(project, target=make_page(project, status_code=404))
    release_of(project)
    Page.objects.filter(pk=edge.target_id).update(status_code=200)

    release = release_of(project)

    edge.refresh_from_db()
    assert (release.number, release.release_links.get().edge, edge.status) == (2, edge, EdgeStatus.EXPORTED)


def test_where_all_is_held_back_no_release_is_made_and_the_reason_is_said(project):
    accepted(project, target=make_page(project, status_code=404))

    with pytest.raises(NothingToExport, match="the only link is held back"):
        release_of(project)

    assert not Release.objects.exists()
    assert not HeldBack.objects.exists()


@pytest.mark.parametrize("model", [ReleaseLink, HeldBack])
def test_what_left_and_what_was_held_back_is_never_changed_nor_deleted(project, leaver, model):
    accepted(project, target=make_page(project, status_code=404))
    release_of(project)

    for attempt in (lambda: model.objects.update(operation="remove"), lambda: model.objects.all().delete()):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            attempt()


def test_a_joil_file_says_what_it_holds_back_as_well(project, leaver):
    accepted(project, target=make_page(project, status_code=404))

    assert release_of(project, fmt=ReleaseFormat.JOIL).held == 1


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_link_rejected_while_the_release_waits_for_it_is_neither_sent_nor_held_back(project):
    edge, other = accepted(project, target=make_page(project, status_code=404)), accepted(project)
    made: list[Release] = []

    def leave() -> None:
        try:
            made.append(release_of(project))
        finally:
            connection.close()

    with transaction.atomic():
        type(edge).objects.filter(pk=edge.pk).update(status=EdgeStatus.REJECTED)
        thread = threading.Thread(target=leave)
        thread.start()
        wait_until_somebody_waits_for_a_lock()
    thread.join()

    assert made[0].release_links.get().edge == other
    assert not HeldBack.objects.exists()


# ------------------------------------------------------------------------------------------------------- the pages


@pytest.fixture
def kept(project, leaver) -> CandidateEdge:
    return accepted(project, target=make_page(project, status_code=404), anchor="=cmd()")


@pytest.mark.parametrize("path", ["held/", "held/?file", "1/links/", "1/links/?file"])
def test_outsiders_see_nothing_of_what_is_held_back(project, kept, client, client_for, outsider, path):
    release_of(project)

    assert client_for(outsider).get(PAGE + path).status_code == 404
    assert client.get(PAGE + path).status_code == 302


@pytest.mark.nightly
@pytest.mark.parametrize("path", ["held/", "1/links/"])
def test_viewers_read_and_download_what_is_held_back(project, kept, client_for, viewer, path):
    release_of(project)
    client = client_for(viewer)

    page = client.get(PAGE + path).content.decode()
    rows = list(csv.DictReader(io.StringIO(b"".join(client.get(f"{PAGE}{path}?file")).decode())))

    assert "The acceptor answered the crawl with 404." in page
    assert [(row["reason"], row["anchor_text"], row["status"]) for row in rows] == [("gone", "'=cmd()", "accepted")]


@pytest.mark.nightly
def test_what_is_held_back_is_listed_by_reason_page_by_page(project, leaver, client_for, editor):
    for _ in range(held_back.PAGE_SIZE + 1):
        accepted(project, target=make_page(project, status_code=404))
    accepted(project, target=make_page(project, indexable=False))
    release_of(project)
    client = client_for(editor)

    first = client.get(f"{PAGE}1/links/", {"reason": "gone"})
    second = client.get(f"{PAGE}1/links/?{first.context['more']}")

    assert [len(first.context["rows"]), len(second.context["rows"])] == [held_back.PAGE_SIZE, 1]
    assert {group.reason: group.links for group in first.context["groups"]} == {Held.GONE: 51, Held.NOT_INDEXABLE: 1}
    assert second.context["more"] == ""


BARRED = [
    ({"status_code": 404}, Held.GONE),
    ({"redirect_url": "https://shop.example/new"}, Held.REDIRECTED),
    ({"indexable": False}, Held.NOT_INDEXABLE),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("fields", "reason"), BARRED)
def test_a_change_of_a_link_that_has_left_is_taken_back_or_the_link_withdrawn(
    project, editor, client_for, fields, reason
):
    edge = accepted(project, rel="follow")
    release_of(project)
    outgoing.confirm(project, project.edges.filter(pk=edge.pk), editor, Rel.NOFOLLOW)
    Page.objects.filter(pk=edge.target_id).update(**fields)

    page = client_for(editor).get(f"{PAGE}held/")
    said = html.unescape(" ".join(page.content.decode().split()))

    assert [group.reason for group in page.context["groups"]] == [reason]
    assert "ake back the change or withdraw the link, under “Released links”" in said
    assert "undo the decision" not in said.lower()
    outgoing.take_back(project, project.edges.filter(pk=edge.pk), editor)
    assert held_of(project) == []


def test_each_kind_of_link_has_its_own_advice(project):
    group = held_back.Group(Held.REDIRECTED, links=6, undecided=2, changes=1)

    assert group.advice == (
        "Undo the decision, reject the link and match again, for links to the new address. "
        "Where nobody has decided (2): Match again, for links to the new address. "
        "Where the link was exported before (1): Take back the change or withdraw the link, under “Released "
        "links”."
    )


def test_the_page_of_what_is_held_back_does_not_call_undecided_links_approved(project, client_for, editor):
    lenient_tiers(project, name="Related")
    make_edge(project, target=make_page(project, indexable=False), score=0.7)

    page = client_for(editor).get(f"{PAGE}held/").content.decode()
    said = re.sub(r'<span class="term__note".*?</span>', "", page)  # what a release is, approved links

    assert "Acceptor not indexable" in said
    assert "approved" not in said


@pytest.mark.nightly
def test_looking_changes_nothing(project, kept, client_for, editor):
    client_for(editor).get(f"{PAGE}held/")
    client_for(editor).get(PAGE)

    kept.refresh_from_db()
    assert kept.status == EdgeStatus.ACCEPTED
    assert not HeldBack.objects.exists()
