"""The words that a card marks in the donor's text are the place that a decision stores and a release tells."""

from __future__ import annotations

import re

import pytest

from linker.models import CandidateEdge, ExistingLink, Page
from review.queue.selectors import card_of
from tests.factories import make_edge, make_link, make_page
from tests.review.queue_requests import PAGE, decision, excerpts, results, send, text
from tests.review.test_export_file import rows_of

pytestmark = pytest.mark.django_db

WORDS = "batch source"
LINKED = "create a batch source with the new framework article"
FIRST = {
    "a link that leads elsewhere": "Then read how to create a batch source with the new framework article.",
    "a link of the site": "Then read how to create a batch source with the new framework article.",
    "a link that is to come": "Then read how to create a batch source with the new framework article.",
    "a heading": "Write a batch source",
    "code": "run(batch source) { return it; }",
}
LAST = "This concludes the series of articles about creating a batch source, which has many more parts than these two."


def suggested(project, kind: str, **fields: object) -> CandidateEdge:
    """A suggestion for "articles", whose donor has the words twice: first within what the kind says."""
    line = FIRST[kind]
    body = f"News of the framework, all of which is told below in many words.\n{line}\n{LAST}"
    page = make_page(project, "/news", body=body, headings=[line] if kind == "a heading" else [])
    start, link, own = body.index(WORDS), body.find(LINKED), body.index("articles")
    edge = make_edge(
        project, page, make_page(project, "/source", title="A batch source"), anchor="articles", placement="inline",
        span_start=own, span_end=own + 8,
        anchor_alternatives=[{"text": WORDS, "source": "title", "raw": ""}], **fields,
    )  # fmt: skip
    if kind == "a link that leads elsewhere":
        page.refresh_from_db()
        Page.objects.filter(pk=page.pk).update(
            linked_elsewhere=[link, link + len(LINKED)], linked_elsewhere_hash=page.body_hash
        )
    elif kind == "a link of the site":
        ExistingLink.objects.filter(pk=make_link(page, make_page(project, "/other"), LINKED).pk).update(place=link)
    elif kind == "a link that is to come":
        make_edge(
            project, page, anchor=WORDS, status="accepted", placement="inline", span_start=start, span_end=start + 12
        )
    return CandidateEdge.objects.get(pk=edge.pk)


def second(edge: CandidateEdge) -> tuple[int, int]:
    start = edge.source.body.index(WORDS, edge.source.body.index(LAST))
    return start, start + len(WORDS)


@pytest.mark.parametrize("kind", FIRST)
def test_other_words_are_offered_where_they_are_stored_and_exported(project, as_editor, kind):
    edge = suggested(project, kind)
    [offered] = card_of(edge).alternatives
    assert offered.span == second(edge)
    page = as_editor.get(PAGE).content.decode()
    assert re.search(r'data-pick\s+data-from="(\d+)" data-to="(\d+)"', page).groups() == tuple(map(str, second(edge)))
    sent = decision(edge, anchor=WORDS, start=offered.span[0], end=offered.span[1])
    assert results(send(as_editor, sent)) == ["saved"]
    stored = CandidateEdge.objects.get(pk=edge.pk)
    assert (stored.span_start, stored.span_end) == offered.span
    [row] = [row for row in rows_of(project) if row["acceptor_url"].endswith("/source")]
    assert row["sentence"] == LAST


@pytest.mark.parametrize("kind", FIRST)
def test_words_picked_where_no_link_may_stand_are_shown_elsewhere_and_never_stored_elsewhere(project, as_editor, kind):
    edge = suggested(project, kind)
    start = edge.source.body.index(WORDS)
    asked = {"anchor": WORDS, "start": start, "end": start + len(WORDS)}
    answer = as_editor.get(f"{PAGE}{edge.pk}/words/", asked).json()
    assert tuple(answer["place"]) == second(edge)
    assert "where you picked the words" in answer["note"]
    [shown] = excerpts(answer["excerpt"])
    assert shown.endswith(LAST.replace(WORDS, f"[{WORDS}]"))
    [refused] = send(as_editor, decision(edge, **asked))["answers"]
    assert refused["result"] == "refused"
    assert "where you picked the words" in refused["message"]
    assert CandidateEdge.objects.get(pk=edge.pk).status == "suggested"


def test_a_link_that_leads_elsewhere_is_marked_as_one_on_the_card(project, as_editor):
    edge = suggested(project, "a link that leads elsewhere")
    start = edge.source.body.index("framework article")
    CandidateEdge.objects.filter(pk=edge.pk).update(anchor="read", span_start=start - 50, span_end=start - 46)
    linked = re.findall(r'class="is-linked">([^<]*)<', as_editor.get(PAGE).content.decode())
    assert "".join(linked) == LINKED


def test_words_of_its_own_that_an_import_has_moved_are_shown_where_a_release_finds_them(project, as_editor):
    edge = suggested(project, "a link that leads elsewhere")
    CandidateEdge.objects.filter(pk=edge.pk).update(anchor=WORDS, span_start=5000, span_end=5012)
    [shown] = excerpts(as_editor.get(PAGE).content.decode())
    assert shown.endswith(LAST.replace(WORDS, f"[{WORDS}]"))
    assert text(as_editor.get(PAGE)).count("Not in the text") == 0
