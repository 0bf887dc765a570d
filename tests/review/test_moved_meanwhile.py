"""Pages that come to lead elsewhere between one step of a link's life and the next: drafts, roll-backs and audits name
the page that they lead to, and lose nothing."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.management import call_command

from linker.models import EdgeStatus, RunKind
from review.decisions import decide_edges
from review.models import Grade, Held, HeldBack, PublishedLink, Release, Verb
from review.quality import audits, judging
from review.releases import create, drafts, outgoing
from tests.factories import make_edge, make_member, make_page, make_run
from tests.review.test_drafts import back_to, draft_of
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def link(project, editor):
    """An accepted link."""
    donor, old = make_page(project, "/donor", title="Donor"), make_page(project, "/old", title="Old")
    edge = make_edge(project, donor, old, anchor="tents", score=0.9, probability=0.8)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    return edge


@pytest.fixture
def new(project):
    return make_page(project, "/new", title="New")


def lead(old, new) -> None:
    call_command("page_event", "shop", "redirected", old.url, new.url)


def rows(release: Release) -> list[tuple[str, str, str]]:
    text = b"".join(create.release_pieces(release)).decode()
    return [(row["operation"], row["donor_url"], row["acceptor_url"]) for row in csv.DictReader(io.StringIO(text))]


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_draft_leaves_behind_what_leads_elsewhere_by_now_and_the_next_release_sends_it(
    project, editor, link, new, side
):
    same = make_edge(project, score=0.9)
    decide_edges(project, [same.pk], Verb.ACCEPT, editor)
    draft = draft_of(project, editor)
    lead(getattr(link, side), new)
    said = drafts.left_behind(draft)

    release = create.publish(draft, editor)

    assert said == {link.pk: Held.CHANGED}
    assert rows(release) == [("add", same.source.url, same.target.url)]
    assert HeldBack.objects.filter(release=release).values_list("edge", "reason").get() == (link.pk, Held.CHANGED)
    donor, acceptor = (new if side == name else getattr(link, name) for name in ("source", "target"))
    assert rows(release_of(project)) == [("add", donor.url, acceptor.url)]
    assert PublishedLink.objects.filter(is_out=True).count() == 2


@pytest.mark.nightly
def test_a_roll_back_leaves_a_link_with_the_page_that_it_leads_to(project, editor, link, new):
    """What was sent with a release is the link; the address is that of its page."""
    first = release_of(project)
    lead(link.target, new)
    release_of(project)
    draft = back_to(first, editor)
    assert (draft.added, draft.changed, draft.removed) == (0, 0, 0)


@pytest.mark.nightly
def test_a_roll_back_brings_back_a_removed_link_with_the_page_that_it_leads_to(project, editor, link, new):
    first = release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    lead(link.target, new)
    release = create.publish(back_to(first, editor), editor)
    assert rows(release) == [("add", link.source.url, new.url)]


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
def test_who_judges_a_link_of_an_audit_sees_the_page_that_it_leads_to(project, editor, link, new, side, client_for):
    bea = make_member(project, username="bea")
    audits.run_audit(make_run(project, RunKind.AUDIT))
    lead(getattr(link, side), new)

    shown = client_for(bea).get("/p/shop/quality/judge/").text
    [drawn] = judging.waiting_for(project, bea)
    judging.judge(project, bea, drawn.pk, Grade.BAD)

    assert new.url in shown
    assert getattr(link, side).url not in shown
    assert [found.edge for found in judging.bad_links(project, 5)] == [link]
    assert judging.put_right(project, bea, drawn.pk) == EdgeStatus.ACCEPTED
    link.refresh_from_db()
    assert link.status == EdgeStatus.REJECTED


@pytest.mark.nightly
def test_a_link_of_an_audit_whose_page_is_gone_can_be_judged_and_is_put_right_already(project, editor, link):
    bea = make_member(project, username="bea")
    audits.run_audit(make_run(project, RunKind.AUDIT))
    call_command("page_event", "shop", "removed", link.target.url)

    [drawn] = judging.waiting_for(project, bea)
    judging.judge(project, bea, drawn.pk, Grade.BAD)

    assert judging.bad_links(project, 5) == []
