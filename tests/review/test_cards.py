"""What a card of the queue shows."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.http import QueryDict
from django.utils import timezone

from linker.engine.text.sentences import beginning_and_end
from linker.models import Block, CandidateEdge
from review.anchor_warnings import CODES
from review.decisions import decide_edges
from review.models import Verb, Where
from review.queue import card_words
from review.queue.filters import QueueFilter
from review.queue.selectors import card_of
from review.rulings import Ruling
from tests.factories import make_category, make_edge, make_link, make_page
from tests.markup import compact
from tests.review.queue_requests import (
    EVIL,
    GROUP,
    PAGE,
    decide_url,
    excerpts,
    form,
    text,
)

pytestmark = pytest.mark.django_db

SOCKS = "Socks\nPut socks on. Warm socks help.\nBoots\nDry the socks at night. Then rest."


def test_a_card_says_what_an_editor_needs(edge, as_editor):
    page = as_editor.get(PAGE)
    for words in ("Warm feet", "Tips", "/boots", "12 in", "3 out", "1,234 clicks", "0.850 score", "0.850 similarity"):
        assert words in text(page)
    for words in ("2 levels up", "In the text", "Tier Likely · rel=follow", f"run {edge.run_id}", "test-model 1"):
        assert words in text(page)
    assert "0 accepted of 1" in text(page)
    assert "1 winter boots in this paragraph · H1 2 boots for snow Title" in text(page)


def test_a_card_says_where_its_anchors_came_from(project, as_editor):
    others = [{"text": "boots for snow", "source": "query", "raw": "", "impressions": 1200}]
    make_edge(project, anchor="Winter boots", anchor_source="query", anchor_alternatives=others)
    page = text(as_editor.get(PAGE))
    assert "boots for snow Search query, 1,200 impressions" in page


def test_the_anchor_is_marked_in_its_sentence(edge, as_editor):
    [shown] = excerpts(as_editor.get(PAGE).content.decode())
    assert shown == "Warm feet The day is long. Wear [warm winter boots] on snow. Dry them at night."


def test_an_anchor_that_is_not_in_the_text_is_called_a_copy_change(project, as_editor):
    make_edge(project, anchor="nowhere to be found")
    assert "Not in the text: needs a copy change" in text(as_editor.get(PAGE))


@pytest.mark.nightly
def test_a_link_of_the_related_block_needs_no_place_in_the_text(project, as_editor):
    make_edge(project, score=0.7, anchor="nowhere to be found")
    page = text(as_editor.get(PAGE))
    assert "In the list at the end" in as_editor.get(PAGE).content.decode()
    assert "copy change" not in page


def test_a_sensitive_card_says_why_a_person_must_look(project, as_editor):
    make_edge(project, sensitive="Medical: Magazine › Health")
    assert "Needs human review. Medical: Magazine › Health" in text(as_editor.get(PAGE))


def test_hostile_titles_and_anchors_stay_text(project, as_editor):
    donor = make_page(project, "/a", title=EVIL, body=f"A {EVIL} b.")
    target = make_page(project, "javascript:alert(1)", title=EVIL, canonical_url="x")
    target.url = "javascript:alert(1)"
    target.save()
    first = make_edge(project, donor, target, anchor=EVIL, anchor_alternatives=[{"text": EVIL + "2", "source": "h1"}])
    as_editor.post(decide_url(first), form(first, "reject", note=EVIL))
    make_edge(project, donor, make_page(project, title=EVIL), anchor=EVIL, sensitive=EVIL)
    for address in (
        PAGE,
        f"{PAGE}?status=all",
        f"{PAGE}{first.pk}/",
        f"{GROUP}?donor={donor.pk}",
        f"{PAGE}?text={EVIL}",
        f"{PAGE}page/{donor.pk}/?words={EVIL}",
    ):
        content = as_editor.get(address).content.decode()
        assert "<script>alert" not in content
        assert "<img" not in content
        assert 'href="javascript' not in content


@pytest.mark.nightly
def test_entities_and_markup_of_titles_and_headings_are_read_and_not_shown(project, as_editor):
    body = "Wind &amp; <b>rain</b>\nDry warm socks at night, then rest. Do so each time.\n"
    donor = make_page(project, title="Rest &amp;amp; be <b>dry</b>", body=body)
    target = make_page(project, title="The <b> element", description="Socks&nbsp;&#8211; all <i>about</i> them")
    make_edge(project, donor, target, anchor="warm socks")
    page = text(as_editor.get(PAGE))
    assert "Rest & be dry" in page
    assert "Wind & rain Dry" in page
    assert "The <b> element Socks – all about them" in page
    assert "&amp;" not in page


def test_levels_in_words(project):
    block = make_category(project, "Tips")
    named = {0: "same category", 1: "1 level up", 3: "3 levels up"}
    assert {level: card_words.level_in_words(make_edge(project, level=level, block=block)) for level in named} == named
    assert card_words.level_in_words(make_edge(project, level=2, block=None)) == "whole site"


def learned(project, body: str = SOCKS, **fields: object) -> CandidateEdge:
    """A suggestion of a learned run."""
    fields = {"ranked_by": "learned", "probability": 0.624, "quantile": 0.95, **fields}
    return make_edge(project, make_page(project, body=body), **fields)  # type: ignore[arg-type]


def at(phrase: str, body: str = SOCKS) -> dict[str, int]:
    return {"span_start": body.rindex(phrase), "span_end": body.rindex(phrase) + len(phrase)}


@pytest.mark.nightly
def test_the_sentence_is_that_of_the_place_and_not_the_first_mention(project, as_editor):
    learned(project, anchor="socks", **at("socks"))
    assert excerpts(as_editor.get(PAGE).content.decode()) == ["Boots Dry the [socks] at night. Then rest."]


def test_words_that_a_link_was_accepted_for_are_marked_on_the_donors_other_cards_where_they_were_placed(project):
    donor = make_page(project, body="Warm socks, wool and old boots. Socks are warm.")
    edge = make_edge(project, donor, anchor="old boots")
    second = donor.body.index("Socks are")
    make_edge(project, donor, anchor="socks", status="accepted", span_start=second, span_end=second + 5)
    make_edge(project, donor, anchor="wool", status="exported", span_start=2000, span_end=2004)  # the text has moved
    make_edge(project, donor, anchor="warm", status="rejected")
    make_edge(project, donor, anchor="and", status="accepted", placement="related")
    make_edge(project, anchor="old", status="accepted")  # elsewhere
    pieces = card_of(edge).excerpt.pieces
    assert [(piece.text, piece.start) for piece in pieces if piece.is_linked] == [("wool", 12), ("Socks", second)]
    edge.status = "accepted"
    edge.save()
    own = [piece for piece in card_of(edge).excerpt.pieces if piece.in_anchor]
    assert not any(piece.is_linked for piece in own)


@pytest.mark.nightly
def test_where_an_import_has_moved_the_text_the_words_are_looked_for_anew(project, as_editor):
    learned(project, anchor="warm socks", span_start=1, span_end=11)
    assert "[Warm socks] help." in excerpts(as_editor.get(PAGE).content.decode())[0]
    CandidateEdge.objects.update(span_start=5000, span_end=5010)
    assert "[Warm socks] help." in excerpts(as_editor.get(PAGE).content.decode())[0]


@pytest.mark.nightly
def test_the_card_says_why_in_words_and_who_found_it(project, as_editor):
    learned(project, why="The text names this page: “socks”.", generators=["mention", "nearest", "neighbour_links"])
    page = text(as_editor.get(PAGE))
    assert "The text names this page: “socks”." in page
    assert "Mention · Nearest by meaning · Neighbours link to it" in page
    assert "62% probability" in page
    assert "Ranked by learned" in page


@pytest.mark.nightly
def test_the_numbers_behind_it_are_folded_away(project, as_editor):
    learned(project, evidence={"share": 0.8, "an_unknown_one": 2})
    content = as_editor.get(PAGE).content.decode()
    assert '<details class="edge__numbers' in content
    assert "0.800 of the phrase's links lead here 2 an unknown one" in text(as_editor.get(PAGE))


@pytest.mark.parametrize(
    ("quantile", "words"),
    [(1.0, "best 10%"), (0.9, "best 10%"), (0.89, "best 25%"), (0.5, "upper half"), (0.0, "lower half")],
)
def test_words_for_a_score_are_read_off_its_run(project, quantile, words):
    assert words in card_of(learned(project, quantile=quantile, score=0.3, similarity=0.1)).quantile_in_words


@pytest.mark.parametrize(
    ("probability", "shown"), [(0.0, "0%"), (0.004, "<1%"), (0.625, "62%"), (0.998, ">99%"), (1.0, "100%")]
)
def test_a_probability_is_never_rounded_to_certainty(project, probability, shown):
    assert card_of(learned(project, probability=probability)).headline == (shown, "probability")


def test_a_content_gap_says_what_an_editor_can_do(project, as_editor):
    learned(project, anchor="blisters", content_gap=True, placement="related")
    page = text(as_editor.get(PAGE))
    assert "Content gap: no words of the text fit well" in page
    assert "Write the sentence with the words of the link in it, now or later, or put the link elsewhere." in page


@pytest.mark.parametrize(
    ("why", "said", "hint"),
    [
        ("The two pages are alike.", "In the list at the end: no words of the text fit well", "The text has no"),
        (
            "The text says “wool socks”, the words of 3 other links to this page.",
            "In the list at the end",
            "The text has “wool socks”, but a link on these words is less likely to be approved.",
        ),
    ],
)
def test_a_card_does_not_say_both_that_the_text_has_words_and_that_it_has_none(project, why, said, hint):
    card = card_of(learned(project, anchor="blisters", content_gap=True, placement="related", why=why))
    assert dict(card.places)[card.where] == said
    assert [words.startswith(hint) for where, words in card.hints if where == card.where] == [True]
    assert "The text" not in card.why


def test_the_tab_for_links_beside_the_text_says_what_their_filter_and_their_cards_say(project, as_editor):
    """With words that are not sure enough, without any, and of a page that has no text to speak of."""
    beside = {"placement": "related"}
    for why in ("The text says “wool socks”, the words of 3 other links to this page.", "The two pages are alike."):
        learned(project, anchor="blisters", content_gap=True, why=why, **beside)
    learned(project, anchor="tents", **beside)
    learned(project, anchor="Winter boots")
    page = as_editor.get(PAGE).text
    [address] = re.findall(r'<a href="([^"]+)"[^>]*>\s*Beside the text</a>', page)
    assert "No words fit" not in page
    assert QueueFilter.from_query(QueryDict(address[1:])).queryset(project).count() == 3
    chips = as_editor.get(PAGE + address).text.split("queuebar__chips")[1].split("</ul>")[0]
    assert re.findall(r'"truncate">([^<]+)<', chips) == ["Beside the text"]


def gap(project, paragraph: str, body: str = SOCKS, **fields: object) -> CandidateEdge:
    """A content gap that a match found a paragraph for."""
    page = make_page(project, body=body)
    page.refresh_from_db()
    start = body.index(paragraph)
    span = {"paragraph_start": start, "paragraph_end": start + len(paragraph), "paragraph_hash": page.body_hash}
    fields = {"anchor": "blisters", "content_gap": True, "placement": "related", **span, **fields}
    return make_edge(project, page, make_page(project, "/blisters", title="All about blisters"), **fields)


@pytest.mark.nightly
def test_a_content_gap_shows_the_paragraph_that_a_sentence_could_follow(project, as_editor):
    gap(project, "Warm socks help.", paragraph_heading="Boots")
    page = as_editor.get(PAGE)
    assert "A sentence about blisters could follow this paragraph: Boots Warm socks help." in text(page)
    hidden = '<div data-when="gap" hidden>'  # until the editor puts the link into the text
    assert hidden in page.content.decode()
    project.gap_links = Where.GAP
    project.save()
    assert hidden not in as_editor.get(PAGE).content.decode()


@pytest.mark.nightly
def test_links_in_the_paragraph_of_a_gap_are_marked(project, as_editor):
    edge = gap(project, "Warm <b> socks help.", body="Cold. Warm <b> socks help. More.")
    make_link(edge.source, make_page(project), anchor="socks")
    page = as_editor.get(PAGE).content.decode()
    assert '<p>Warm &lt;b&gt; <span class="is-linked">socks</span> help.</p>' in page


def test_a_link_that_a_crawl_found_outside_the_text_marks_no_words_of_it(project):
    """As a tag of a byline that is left out of the text."""
    edge = gap(project, "Warm socks help in warm socks.", body="Warm socks. Warm socks help in warm socks. More.")
    make_link(edge.source, make_page(project), anchor="socks")
    help_link = make_link(edge.source, make_page(project), anchor="help")
    assert '<span class="is-linked">socks</span>' in card_of(edge).paragraph.html
    type(help_link).objects.filter(pk=help_link.pk).update(place=edge.source.body.index("help"))
    assert card_of(edge).paragraph.html == 'Warm socks <span class="is-linked">help</span> in warm socks.'


def test_a_paragraph_of_a_text_that_has_changed_is_not_shown(project, as_editor):
    edge = gap(project, "Warm socks help.")
    type(edge.source).objects.filter(pk=edge.source_id).update(body=f"{SOCKS} Always.")
    assert "could follow this paragraph" not in text(as_editor.get(PAGE))


def test_of_a_long_paragraph_the_card_shows_whole_sentences_at_both_ends_and_all_when_asked(project, as_editor):
    body = "First words of it. " + "And so it goes on and on. " * 40 + "Last words of it."
    shown = card_of(gap(project, body, body)).paragraph
    assert shown is not None
    first, last = shown.html.split(" … ")
    assert first == "First words of it. " + "And so it goes on and on. " * 6 + "And so it goes on and on."
    assert last == "And so it goes on and on. " * 7 + "Last words of it."
    assert shown.whole == body
    assert f"Whole paragraph {body}" in text(as_editor.get(PAGE))


def test_a_paragraph_is_cut_between_words_only_where_sentences_do_not_end(project):
    names = "Anna, Bert, Carla, " * 60
    shown = card_of(gap(project, names + "Zoe.", names + "Zoe.")).paragraph
    assert shown is not None
    assert len(shown.html) < 450
    short = "One sentence that is as long as this one. " * 9
    assert beginning_and_end(short) == (short.strip(), "")


def test_a_card_says_of_when_its_pages_are(project, as_editor):
    donor = make_page(project, "/blog/2021/07/news/", last_modified=datetime(2023, 5, 3, tzinfo=UTC))
    make_edge(project, donor, make_page(project, "/2019-11-02-plans"))
    page = text(as_editor.get(PAGE))
    assert "of Jul 2021 changed 3 May 2023" in page
    assert "/2019-11-02-plans of Nov 2019" in page


@pytest.mark.parametrize(
    ("donor", "acceptor", "is_said"),
    [
        ({"path": "/2023/03/call/"}, {"title": "Call for candidates 2020"}, True),
        ({"title": "Plans for 2023"}, {"h1": "Election 2019"}, True),
        ({"path": "/2023/03/call/"}, {"title": "Candidates 2022"}, False),
        ({"path": "/2023/03/call/"}, {"title": "Strategy 2020–2025"}, False),
        ({"path": "/2023/03/call/"}, {"path": "/2019/01/old/"}, False),
        ({"title": "Tents"}, {"title": "Tents 2019"}, False),
        ({"title": "Tents 2023"}, {"title": "Order 120190"}, False),
    ],
)
def test_a_card_warns_of_an_acceptor_that_names_another_year(project, donor, acceptor, is_said):
    pages = (make_page(project, **{"title": "News", **page}) for page in (donor, acceptor))
    edge = make_edge(project, *pages)
    assert ("Another year" in [sign.name for sign in card_of(edge).signs]) == is_said


def test_a_hostile_paragraph_stays_text(project, as_editor):
    EVIL = "<script>alert(1)</script> and <img src=x>."
    gap(project, EVIL, EVIL, paragraph_heading=EVIL)
    content = as_editor.get(PAGE).content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content


def test_alternatives_say_where_they_come_from_and_whether_the_text_holds_them(project, as_editor):
    others = [
        {"text": "warm socks", "source": "anchor", "raw": "", "start": 20, "end": 30},
        {"text": "wool", "source": "query", "raw": "", "impressions": 1200},
    ]
    learned(project, anchor="socks", anchor_alternatives=others, **at("socks"))
    page = text(as_editor.get(PAGE))
    found = "1 warm socks in the text: Put socks on. Warm socks help. · Anchor in use"
    assert f"{found} 2 wool Search query, 1,200 impressions" in page


def test_words_that_the_text_holds_are_offered_first_and_once(project):
    """Also those of a content gap that its run has found no place for, unless they stand in a heading or a link."""
    texts = ["wool hats", "| Warm socks", "warm socks", "hats", "Then rest", "Boots", "cold", "frost"]
    edge = learned(
        project, anchor="feet", content_gap=True, placement="related",
        anchor_alternatives=[{"text": text, "source": "text", "raw": ""} for text in texts],
    )  # fmt: skip
    offered = [(other.text, other.place) for other in card_of(edge).alternatives]
    assert offered == [
        ("warm socks", "in the text: Put socks on. Warm socks help."),
        ("Then rest", "in the text: Dry the socks at night. Then rest."),
        ("wool hats", ""),
        ("hats", ""),
        ("Boots", ""),
    ]


def test_an_edited_anchor_that_the_text_does_not_hold_says_where_it_goes(project, as_editor, editor):
    edge = learned(project, anchor="socks", **at("socks"))
    decide_edges(project, [edge.pk], Verb.EDIT, editor, Ruling(anchor="woollen hats", overrules={edge.pk: CODES}))
    assert "In the list at the end" in text(as_editor.get(f"{PAGE}{edge.pk}/"))
    # Accepted before such words went beside the text, it still says that it stands nowhere.
    CandidateEdge.objects.update(placement="inline", content_gap=False, span_start=None, span_end=None)
    assert "Not in the text: needs a copy change" in text(as_editor.get(f"{PAGE}{edge.pk}/"))


def test_hostile_reasons_and_numbers_stay_text(project, as_editor):
    body = f"A {EVIL} b."
    alternatives = [{"text": EVIL, "source": EVIL, "raw": "", "start": 2, "end": 2 + len(EVIL)}]
    learned(project, body, why=EVIL, evidence={EVIL: 1.0}, anchor="b", anchor_alternatives=alternatives)
    learned(project, body, why=EVIL, generators=[EVIL[:20]], anchor=EVIL, **at(EVIL, body))
    content = as_editor.get(PAGE).content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content


def test_an_anchor_says_where_its_words_came_from():
    assert card_words.source_in_words("query", 1200) == "Search query, 1,200 impressions"
    assert card_words.source_in_words("query", 1) == "Search query, 1 impression"
    assert [card_words.source_in_words(source) for source in ("query", "h1", "new")] == ["Search query", "H1", "new"]


def test_a_suggestion_that_is_linked_where_its_tier_puts_it_says_so(project):
    edge = make_edge(project, stale=True, placement="related")
    make_link(edge.source, edge.target, block=Block.ASIDE)
    said = {sign.name: sign.text for sign in card_of(edge).signs}
    assert said["No longer proposed"].startswith("The donor has this link already where its tier would put it")
    other = make_edge(project, stale=True)
    said = {sign.name: sign.text for sign in card_of(other).signs}
    assert said["No longer proposed"] == "The newest run no longer proposes this link."


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ({"status": "removed"}, "was removed from the site."),
        ({"status": "merged", "missing_since": timezone.now()}, "was merged into another page."),
        ({"status": "redirected"}, "redirects to another page."),
    ],
)
def test_a_card_says_of_both_pages_that_they_are_gone(project, gone, words):
    edge = make_edge(project, source=make_page(project, **gone), stale=True)
    assert [sign.text for sign in card_of(edge).signs if sign.name == "Page gone"] == [f"The donor {words}"]
    edge = make_edge(project, target=make_page(project, **gone), stale=True)
    assert [sign.text for sign in card_of(edge).signs if sign.name == "Page gone"] == [f"The acceptor {words}"]


def test_which_page_is_gone_is_read_without_a_pointer(project, as_editor):
    edge = make_edge(project, target=make_page(project, status="removed"), stale=True)
    page = compact(as_editor.get(f"/p/shop/queue/{edge.pk}/").content.decode())
    assert "<b>Page gone.</b> The acceptor was removed from the site.</p>" in page


def test_a_card_says_that_the_newest_import_lacks_a_page(project):
    missing = make_page(project, missing_since=timezone.now())
    for edge, side in ((make_edge(project, source=missing), "donor"), (make_edge(project, target=missing), "acceptor")):
        said = {sign.name: sign.text for sign in card_of(edge).signs}
        assert said["Page gone"] == f"The newest import no longer holds the {side}."


def test_words_that_stand_inside_another_link_are_said_to_stand_there(project):
    source = make_page(project, body="Our walking boots guide tells all.")
    why = "The text says “walking boots”, the words of 2 other links to this page."
    gap = {"content_gap": True, "placement": "related", "why": why}
    edge = make_edge(project, source, anchor="boots for hills", **gap)
    card = card_of(edge)
    assert not card.is_inside_link
    make_link(source, make_page(project), "walking boots guide")
    card = card_of(edge)
    assert card.is_inside_link
    assert any("inside another link" in said for _where, said in card.hints)
