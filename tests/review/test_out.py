"""What is out on the site is the same to the files, the lists and the figures, also where it is back in the queue."""

from __future__ import annotations

import csv
import io

import pytest

from linker.models import EdgeStatus, Rel
from linker.projects.overview import site_figures
from review.decisions import decide_edges
from review.live import funnel, seeing
from review.live.verify import verify
from review.models import Operation, PublishedLink, ReleaseFormat, Verb
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from review.releases import outgoing, rows
from review.releases.outgoing import LinkFilter, State
from review.releases.preview import preview
from review.releases.rows import Choice
from review.releases.since import since
from review.rulings import Shown
from review.web.release_words import to_do
from tests.factories import make_edge, make_page
from tests.markup import compact
from tests.review.test_release import release_of


@pytest.fixture
def sent(project):
    """Three links that were released and not found on the site."""
    for number in range(3):
        make_edge(
            project, status=EdgeStatus.ACCEPTED, anchor=f"words {number}", score=0.9 - number / 100, reviewed=True
        )
    release_of(project)
    verify(project)
    return list(project.edges.order_by("pk"))


@pytest.fixture
def back(project, sent, editor):
    """The second of them, back in the queue."""
    seeing.reopen(project, [sent[1].pk], editor, "")
    sent[1].refresh_from_db()
    return sent[1]


def file_of(project, choice: Choice) -> dict[str, str]:
    """The operation by the words of each row."""
    text = b"".join(rows.file_pieces(rows.choose(project.edges.all(), choice), ReleaseFormat.FULL)).decode()
    return {row["anchor_text"]: row["operation"] for row in csv.DictReader(io.StringIO(text))}


def listed(project, state: State = State.OUT) -> list:
    return outgoing.links_page(project, LinkFilter(state), "")[0]


def decided(project, edge, verb: Verb, user) -> None:
    decide_edges(project, [edge.pk], verb, user, shown=Shown(EdgeStatus.SUGGESTED))
    edge.refresh_from_db()


@pytest.mark.nightly
def test_a_link_that_is_back_in_the_queue_is_out_everywhere(project, sent, back):
    assert file_of(project, Choice.EXPORTED) == {"words 0": "", "words 1": "", "words 2": ""}
    assert set(file_of(project, Choice.ALL)) == {"words 0", "words 1", "words 2"}
    assert listed(project) == sent
    assert site_figures(project).out == PublishedLink.objects.filter(is_out=True).count() == 3


@pytest.mark.nightly
def test_it_is_out_until_a_release_takes_it_off(project, sent, back, editor):
    decided(project, back, Verb.REJECT, editor)
    before = file_of(project, Choice.EXPORTED), file_of(project, Choice.ALL), listed(project), site_figures(project).out
    waiting = listed(project, State.WAITING)

    release_of(project)

    assert before == ({"words 0": "", "words 1": "remove", "words 2": ""},) * 2 + (sent, 3)
    assert waiting == [back]
    assert set(file_of(project, Choice.EXPORTED)) == {"words 0", "words 2"}
    assert (listed(project), site_figures(project).out) == ([sent[0], sent[2]], 2)


def test_the_list_goes_on_among_those_that_are_back(project, sent, back, monkeypatch):
    monkeypatch.setattr(outgoing, "PAGE_SIZE", 1)
    found, after = [], ""
    for _screen in range(3):
        [link], after = outgoing.links_page(project, LinkFilter(), after)
        found.append(link)

    assert (found, after) == (sent, "")


def test_the_list_says_where_it_is_decided_on_and_offers_nothing_else(project, back, client_for, editor):
    page = compact(client_for(editor).get("/p/shop/export/links/").content.decode())

    assert "In the review queue" in page
    assert f'value="{back.pk}"' not in page


def test_a_release_counts_those_that_are_back_among_its_links(project, sent, back, editor):
    release = project.releases.get()
    whole = since(release)
    decided(project, back, Verb.REJECT, editor)
    refused = since(release)
    release_of(project)

    assert (whole.unchanged, whole.reopened, whole.leaving, whole.to_withdraw) == (3, 1, 0, 2)
    assert (refused.unchanged, refused.reopened, refused.leaving) == (3, 0, 1)
    assert (since(release).unchanged, since(project.releases.get(number=2)).unchanged) == (2, 1)


@pytest.mark.nightly
def test_no_more_links_are_released_than_approved(project, sent, back, editor):
    make_edge(project, status=EdgeStatus.ACCEPTED)
    steps = [funnel.funnel(project).steps]
    decided(project, back, Verb.REJECT, editor)
    steps.append(funnel.funnel(project).steps)
    release_of(project)
    steps.append(funnel.funnel(project).steps)

    assert [[step.links for step in each[:3]] for each in steps] == [[4, 4, 3], [4, 4, 3], [4, 4, 4]]


@pytest.mark.nightly
def test_what_is_asked_for_again_is_said_to_be_added_again(project, sent, editor, client_for):
    assert outgoing.ask_again(project, project.edges.filter(pk=sent[0].pk), editor) == 1

    [edge] = preview(project, project.edges.all()).sample
    again = to_do(edge.to_do, (edge.out.anchor, edge.out.rel), (edge.anchor, edge.rel))
    page = compact(client_for(editor).get("/p/shop/export/").content.decode())

    assert (edge.to_do, again, to_do(Operation.ADD, ("", ""), ("words", "follow"))) == ("add", "Add again", "Add")
    assert "Add again" in page
    assert "Add again" in compact(client_for(editor).get("/p/shop/export/links/").content.decode())


def test_a_link_that_is_asked_for_again_is_no_other_link_with_its_anchor(project, editor):
    project.identical_anchor_limit, project.anchor_repeats = 2, "names"
    project.save()
    target = make_page(project)
    edges = [make_edge(project, target=target, status=EdgeStatus.ACCEPTED, anchor="warm boots") for _ in range(2)]
    release_of(project)
    verify(project)
    outgoing.ask_again(project, project.edges.all(), editor)

    found = preview(project, project.edges.all())

    assert {edge.pk for edge in found.sample} == {edge.pk for edge in edges}
    assert not found.held


def test_what_is_said_of_released_links_is_no_work_of_the_queue(project, sent, editor):
    outgoing.withdraw(project, project.edges.filter(pk=sent[0].pk), editor)
    outgoing.confirm(project, project.edges.filter(pk=sent[1].pk), editor, Rel.UGC)
    outgoing.ask_again(project, project.edges.filter(pk=sent[2].pk), editor)
    decided(project, make_edge(project), Verb.ACCEPT, editor)

    assert queue_counts(project, QueueFilter(), editor).today == 1
