"""An editor puts a link elsewhere, or picks the very words of the text that it shall stand on."""

from __future__ import annotations

import itertools

import pytest

from linker.engine.params import Mode
from linker.models import CandidateEdge, Placement
from linker.projects.policies.tiers import change_tiers
from review.decisions import decide_edges
from review.link_places import where_of
from review.models import Decision, Verb, Where
from review.rulings import AnchorError, Ruling
from review.undoing import undo
from tests.factories import make_edge, make_page
from tests.linker.matching.test_match import match, small
from tests.review.queue_requests import decide_url, decision, form, operation, results, send, text
from tests.review.test_export_file import rows_of

pytestmark = pytest.mark.django_db

BODY = "Feet\nWarm boots help. Dry the warm boots at night.\nWarm boots again.\nBoots and warm boots end it."
PROSE = "\n" + "This is a page of many words, as one has that a sentence could be added to. " * 20
PHRASE = "warm boots"
OF_RUNS = [where for where in Where if where != Where.LINE]  # editors alone choose a line
COLUMNS = (
    "status", "anchor", "anchor_source", "edited", "rel", "placement", "content_gap", "span_start", "span_end",
    "sentence", "section_heading", "body_hash", "tier_id", "reviewed",
    "own_line", "new_sentence",
)  # fmt: skip


def places(body: str = BODY, phrase: str = PHRASE) -> list[tuple[int, int]]:
    """Every place of the phrase in the text, in order."""
    folded, found, at = body.lower(), [], -1
    while (at := folded.find(phrase, at + 1)) >= 0:
        found.append((at, at + len(phrase)))
    return found


def suggestion(project, where: Where, anchor: str = PHRASE, **fields: object) -> CandidateEdge:
    """A suggestion that a run put there."""
    page = make_page(project, body=BODY + PROSE)
    page.refresh_from_db()
    target = make_page(project, title="Warm boots and other shoes")
    paragraph = {"paragraph_start": 0, "paragraph_end": 4, "paragraph_hash": page.body_hash}
    kept: dict[str, object] = {"placement": Placement.RELATED, "content_gap": where == Where.GAP}
    if where == Where.TEXT:
        start, end = places()[0]
        kept = {
            "placement": Placement.INLINE, "span_start": start, "span_end": end, "sentence": "Warm boots help.",
            "section_heading": "Feet", "body_hash": page.body_hash,
        }  # fmt: skip
    edge = make_edge(
        project,
        page,
        target,
        anchor=anchor,
        score=0.7 if where == Where.BESIDE else 0.85,
        **kept,
        **paragraph,
        **fields,
    )
    return CandidateEdge.objects.get(pk=edge.pk)


def columns(edge: CandidateEdge) -> dict[str, object]:
    return CandidateEdge.objects.filter(pk=edge.pk).values(*COLUMNS).get()


def accept(edge: CandidateEdge, editor, **ruling: object) -> CandidateEdge:
    verb = Verb.EDIT if "anchor" in ruling else Verb.ACCEPT
    decide_edges(edge.project, [edge.pk], verb, editor, Ruling(**ruling))  # type: ignore[arg-type]
    return CandidateEdge.objects.select_related("source").get(pk=edge.pk)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("before", "after"), list(itertools.product(OF_RUNS, Where)))
def test_a_link_goes_where_the_editor_puts_it_and_undo_puts_it_back(project, editor, before, after):
    edge = suggestion(project, before)
    was = columns(edge)
    assert where_of(edge) == before
    moved = accept(edge, editor, where=after)
    assert where_of(moved) == after
    assert Decision.objects.get().moved_to == ("" if before == after else after)
    assert (moved.status, moved.anchor, moved.edited) == ("accepted", PHRASE, False)
    if after == Where.TEXT:
        assert (moved.span_start, moved.span_end) == places()[0]
        assert (moved.sentence, moved.body_hash) == ("Warm boots help.", moved.source.body_hash)
    else:
        assert (moved.span_start, moved.sentence, moved.body_hash) == (None, "", None)
    undo(project, editor)
    assert columns(edge) == was


@pytest.mark.nightly
@pytest.mark.parametrize("before", [Where.BESIDE, Where.GAP])
def test_words_that_the_text_does_not_hold_are_not_put_into_it(project, editor, as_editor, before):
    edge = suggestion(project, before, anchor="other shoes")
    was = columns(edge)
    with pytest.raises(AnchorError, match="does not hold “other shoes” where a link may stand"):
        accept(edge, editor, where=Where.TEXT)
    [answer] = send(as_editor, decision(edge, where="text"))["answers"]
    assert answer["result"] == "refused"
    assert "does not hold “other shoes”" in answer["message"]
    plain = as_editor.post(decide_url(edge), form(edge, where="text"))
    assert plain.status_code == 422
    assert "does not hold “other shoes”" in text(plain)
    assert columns(edge) == was
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("setting", "said"), [("beside", "goes into the list at the end"), ("gap", "waits for somebody to write them")]
)
def test_words_that_the_text_lacks_are_said_to_go_elsewhere_before_they_are_accepted(
    project, editor, as_editor, setting, said
):
    project.gap_links = setting
    project.save(update_fields=["gap_links"])
    edge = suggestion(project, Where.TEXT)
    was = columns(edge)
    asked = as_editor.get(f"/p/shop/queue/{edge.pk}/words/", {"anchor": "cotton boots"}).json()
    assert asked["where"] == setting
    assert said in asked["note"]
    held = as_editor.get(f"/p/shop/queue/{edge.pk}/words/", {"anchor": "boots again"}).json()
    assert (held["where"], held["note"]) == (Where.TEXT, "")
    send(as_editor, decision(edge, anchor="cotton boots", proposed="text", overrules="unrelated"))
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (where_of(moved), moved.anchor, moved.span_start) == (Where(setting), "cotton boots", None)
    undo(project, editor)
    assert columns(edge) == was


@pytest.mark.parametrize("before", OF_RUNS)
def test_a_form_that_names_the_place_shown_moves_nothing(project, editor, as_editor, before):
    """Without a script every form names it."""
    project.gap_links = "gap"
    project.save(update_fields=["gap_links"])
    edge = suggestion(project, before, anchor="other shoes" if before != Where.TEXT else PHRASE)
    as_editor.post(decide_url(edge), form(edge, where=before, proposed=before))
    assert where_of(CandidateEdge.objects.get(pk=edge.pk)) == before
    assert Decision.objects.get().moved_to == ""


@pytest.mark.parametrize("how", ["written", "offered", "with a script"])
def test_other_words_that_the_text_holds_become_the_link_in_every_tier(project, editor, as_editor, how):
    """Also in a tier whose links a run puts beside the text."""
    before = Where.BESIDE
    offered = [{"text": PHRASE, "source": "title", "start": places()[1][0], "end": places()[1][1]}]
    edge = suggestion(project, before, anchor="help dry", anchor_alternatives=offered)
    was = columns(edge)
    start, end = places()[1]
    said = {
        "written": {"anchor": PHRASE, "where": before, "proposed": before},
        "offered": {"pick": PHRASE, "where": before, "proposed": before},
        "with a script": {"anchor": PHRASE, "start": start, "end": end, "proposed": before},
    }[how]
    asked = as_editor.get(f"/p/shop/queue/{edge.pk}/words/", {"anchor": PHRASE, "start": start, "end": end})
    assert asked.json()["where"] == Where.TEXT
    as_editor.post(decide_url(edge), form(edge, **said))
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (where_of(moved), moved.anchor) == (Where.TEXT, PHRASE)
    assert (moved.span_start == start) if how == "with a script" else (moved.span_start, moved.span_end) in places()
    undo(project, editor)
    assert columns(edge) == was


def test_the_words_proposed_go_into_the_text_where_they_are_picked_there(project, editor, as_editor):
    edge = suggestion(project, Where.BESIDE)
    start, end = places()[2]
    asked = as_editor.get(f"/p/shop/queue/{edge.pk}/words/", {"anchor": PHRASE, "start": start, "end": end})
    assert asked.json()["where"] == Where.TEXT
    send(as_editor, decision(edge, start=start, end=end, proposed="beside"))
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (where_of(moved), moved.span_start, moved.edited) == (Where.TEXT, start, False)
    assert Decision.objects.get().moved_to == Where.TEXT
    undo(project, editor)
    assert where_of(CandidateEdge.objects.get(pk=edge.pk)) == Where.BESIDE


@pytest.mark.nightly
@pytest.mark.parametrize("setting", ["line", "beside", "gap"])
def test_a_link_whose_words_the_text_lacks_goes_where_the_project_has_them_go(project, editor, as_editor, setting):
    project.gap_links = setting
    project.save(update_fields=["gap_links"])
    edge, other = (suggestion(project, Where.GAP, anchor="other shoes") for _ in range(2))
    was = columns(edge)
    card = as_editor.get(f"/p/shop/queue/{edge.pk}/").content.decode()
    assert f'name="proposed" value="{setting}"' in card
    assert ("the place that the project’s settings chose" in card) == (setting != "gap")
    assert results(send(as_editor, decision(edge))) == ["saved"]
    assert where_of(accepted := CandidateEdge.objects.get(pk=edge.pk)) == setting
    assert (accepted.anchor, accepted.edited) == ("other shoes", False)
    undo(project, editor)
    assert columns(edge) == was
    decide_edges(project, [edge.pk, other.pk], Verb.ACCEPT, editor)
    assert {where_of(found) for found in CandidateEdge.objects.filter(status="accepted")} == {setting}


@pytest.mark.parametrize("wish", [Where.BESIDE, Where.GAP])
def test_an_editor_keeps_words_of_the_text_out_of_it(project, editor, as_editor, wish):
    """Though the card had proposed the same place for words that the text did not hold."""
    edge = suggestion(project, Where.GAP, anchor="other shoes")
    send(as_editor, decision(edge, anchor=PHRASE, where=wish))
    assert where_of(CandidateEdge.objects.get(pk=edge.pk)) == wish


def test_a_card_keeps_its_promise_when_a_manager_has_chosen_anew(project, as_editor):
    edge = suggestion(project, Where.GAP, anchor="other shoes")
    project.gap_links = "gap"
    project.save(update_fields=["gap_links"])
    send(as_editor, decision(edge, proposed="beside"))
    assert where_of(CandidateEdge.objects.get(pk=edge.pk)) == Where.BESIDE


def test_a_place_is_chosen_together_with_words_and_rel(project, editor, as_editor):
    edge = suggestion(project, Where.BESIDE, anchor="other shoes")
    assert results(send(as_editor, decision(edge, "accept:ugc", anchor=PHRASE, where="text"))) == ["saved"]
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (where_of(moved), moved.anchor, moved.rel) == (Where.TEXT, PHRASE, "ugc")
    assert (moved.span_start, moved.span_end) == places()[0]


def test_a_rejection_moves_nothing(project, editor, as_editor):
    edge = suggestion(project, Where.TEXT)
    send(as_editor, decision(edge, "reject", where="beside"))
    assert where_of(CandidateEdge.objects.get(pk=edge.pk)) == Where.TEXT


def test_the_export_says_where_the_link_was_put(project, editor):
    beside = accept(suggestion(project, Where.TEXT), editor, where=Where.BESIDE)
    inline = accept(suggestion(project, Where.BESIDE), editor, where=Where.TEXT)
    missing = accept(suggestion(project, Where.TEXT), editor, where=Where.GAP)
    rows = {row["donor_url"]: row for row in rows_of(project)}
    said = {
        edge: tuple(rows[edge.source.url][name] for name in ("placement", "content_gap", "anchor_start", "sentence"))
        for edge in (beside, inline, missing)
    }
    assert said == {
        beside: ("related", "false", "", ""),
        inline: ("inline", "false", str(places()[0][0]), "Warm boots help."),
        missing: ("related", "true", "", ""),
    }


@pytest.mark.parametrize(
    ("before", "after"), [pair for pair in itertools.product(OF_RUNS, Where) if pair[0] != pair[1]]
)
def test_new_tiers_leave_an_accepted_link_where_it_was_put(project, editor, before, after):
    moved = accept(suggestion(project, before), editor, where=after)
    was = columns(moved)
    tiers = list(project.tiers.filter(basis="cosine"))
    for tier in tiers:
        tier.placement = Placement.RELATED if tier.placement == Placement.INLINE else Placement.INLINE
    change_tiers(project, tiers)
    assert {name: value for name, value in columns(moved).items() if name != "tier_id"} == {
        name: value for name, value in was.items() if name != "tier_id"
    }


# The words that were picked.


@pytest.mark.nightly
@pytest.mark.parametrize("at", [1, 2, 3])
def test_words_picked_at_a_later_place_stand_there(project, editor, as_editor, at):
    edge = suggestion(project, Where.TEXT, anchor="boots again")
    start, end = places()[at]
    sent = decision(edge, anchor=BODY[start:end], start=start, end=end)
    assert results(send(as_editor, sent)) == ["saved"]
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (moved.span_start, moved.span_end) == (start, end)
    assert BODY[start:end] in moved.sentence
    send(as_editor, operation("undo", of=sent["key"]))
    back = CandidateEdge.objects.get(pk=edge.pk)
    assert (back.anchor, back.span_start, back.span_end) == ("boots again", *places()[0])


def test_words_picked_for_a_link_beside_the_text_move_it_there(project, editor):
    edge = suggestion(project, Where.BESIDE)
    moved = accept(edge, editor, where=Where.TEXT, span=places()[2])
    assert (moved.span_start, moved.span_end) == places()[2]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "span", [(0, 4), (5, 9), (0, 10**9), (10**9, 10**9 + 10), (len(BODY) - 3, len(BODY) + 7), (1, 2), (3, 3), (9, 4)]
)
@pytest.mark.parametrize("anchor", [PHRASE, "warm footwear"])
def test_a_span_that_is_not_of_these_words_is_passed_over(project, editor, as_editor, span, anchor):
    edge = suggestion(project, Where.TEXT, anchor="boots again")
    sent = decision(edge, anchor=anchor, start=span[0], end=max(span[1], 1))
    sent |= {"do": "anyway", "warned": "unrelated misleading generic", "warned_of": anchor}
    assert results(send(as_editor, sent)) == ["saved"]
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (moved.span_start, moved.span_end) == (places()[0] if anchor == PHRASE else (None, None))


@pytest.mark.parametrize("before", [Where.BESIDE, Where.TEXT])
def test_a_span_that_another_link_has_already_is_refused_and_no_other_taken(project, editor, before):
    edge = suggestion(project, before)
    was = columns(edge)
    start, end = places()[1]
    make_edge(
        project, edge.source, anchor=PHRASE, status="accepted", placement="inline", span_start=start, span_end=end
    )
    with pytest.raises(AnchorError, match="where you picked the words"):
        accept(edge, editor, where=Where.TEXT, span=(start, end))
    assert columns(edge) == was


def test_a_span_within_a_heading_is_passed_over(project, editor):
    edge = suggestion(project, Where.BESIDE, anchor="warm boots again")
    type(edge.source).objects.filter(pk=edge.source_id).update(headings=["Warm boots again."])
    start = BODY.index("Warm boots again")
    with pytest.raises(AnchorError, match="does not hold"):
        accept(edge, editor, where=Where.TEXT, span=(start, start + len("Warm boots again")))


def test_the_same_words_at_another_place_are_a_wish_that_is_kept(project, editor, as_editor):
    """The words are those proposed, and only their place was picked."""
    edge = suggestion(project, Where.TEXT)
    start, end = places()[1]
    send(as_editor, decision(edge, start=start, end=end))
    moved = CandidateEdge.objects.get(pk=edge.pk)
    assert (moved.span_start, moved.span_end) == (start, end)
    assert "Dry the warm boots" in moved.sentence
    undo(project, editor)
    assert (moved.anchor, columns(edge)["span_start"]) == (PHRASE, places()[0][0])


@pytest.mark.nightly
@pytest.mark.parametrize("mode", list(Mode))
def test_a_later_match_leaves_an_accepted_link_where_it_was_put(project, editor, mode):
    pages = small(project, "a", "b")
    type(pages["a"]).objects.filter(pk=pages["a"].pk).update(body="We say here all about b, and then some more.")
    project.tiers.filter(basis="cosine").update(placement=Placement.INLINE)
    match(project, mode=mode)
    edge = CandidateEdge.objects.get(source=pages["a"], target=pages["b"])
    assert where_of(edge) == Where.TEXT
    was = columns(accept(edge, editor, where=Where.BESIDE))
    match(project, mode=mode)
    assert columns(edge) == was
    undo(project, editor)
    assert where_of(CandidateEdge.objects.get(pk=edge.pk)) == Where.TEXT
