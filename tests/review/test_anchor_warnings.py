"""What is to be said against the words of a link is said before it is accepted, and may be overruled."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.diversity import word_set
from linker.matching.anchor_use import may_repeat
from linker.matching.tiers import retier
from linker.models import AnchorRepeats, CandidateEdge, Project, SearchQuery, Tier
from linker.projects.policies.tiers import change_tiers
from review.anchor_warnings import CODES, beforehand
from review.decisions import decide_edges
from review.models import Decision, Verb, Where
from review.queue.selectors import card_of
from review.releases.create import create_release
from review.rulings import NothingToUndo, Outcome, Ruling, Shown
from review.undoing import undo
from tests.examples import tried
from tests.factories import make_edge, make_link, make_member, make_page, make_project
from tests.markup import compact

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("asks")]

BODY = "How to wash a sleeping bag of down. Rinse it twice, and dry it for a whole day."


@pytest.fixture
def edge(project) -> CandidateEdge:
    target = make_page(project, "/care/down-bags", title="Washing a down bag", headings=["Drying"], body=BODY)
    others = [{"text": "feathers", "source": "query", "raw": "feathers"}]
    return make_edge(project, target=target, anchor="a down bag", anchor_alternatives=others)


def rewrite(edge: CandidateEdge, editor: User, anchor: str, *overrules: str) -> Outcome:
    ruling = Ruling(anchor=anchor, overrules={edge.pk: overrules})
    return decide_edges(edge.project, [edge.pk], Verb.EDIT, editor, ruling)


def codes(outcome: Outcome) -> list[str]:
    return [warning.code for doubt in outcome.doubts for warning in doubt.warnings]


def status(edge: CandidateEdge) -> tuple[str, str]:
    edge.refresh_from_db()
    return edge.status, edge.anchor


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    ("anchor", "found"),
    [
        ("washing down", []),
        ("dryer settings", []),  # a form of a word of the headings stands in none, but "drying" does
        ("click here", ["generic"]),
        ("Our Ranges", ["banned"]),
        ("www.shop.example/contact", ["address"]),
        ("https://shop.example/care", ["address"]),
        ("totally unrelated cheap loans", ["unrelated"]),
        ("a whole day twice", []),  # most of its words stand in the text
        ("a bag " + "of down and more " * 8, ["too_long"]),
        ("Winter boots", ["misleading", "unrelated"]),
        ("WASHING A DOWN BAG", []),
        ("feathers", []),  # a run proposed it
        ("quilts", []),  # a search query
        ("duvets", []),  # the site links here with it
    ],
)
def test_an_anchor_that_an_editor_wrote_is_looked_at_as_a_run_looks_at_its_own(project, edge, editor, anchor, found):
    project.banned_anchors = ["our ranges"]
    project.save()
    make_page(project, title="Winter boots | Shop", h1="winter boots")
    SearchQuery.objects.create(page=edge.target, query="best quilts", source="search_console")
    make_link(make_page(project), edge.target, "duvets")
    if anchor == "dryer settings":
        edge.target.headings = ["Dryer"]
        edge.target.save()
    edge.project = project
    outcome = rewrite(edge, editor, anchor)
    assert codes(outcome) == found
    assert status(edge)[0] == ("suggested" if found else "accepted")
    assert Decision.objects.count() == (0 if found else 1)


def test_a_page_that_left_the_site_misleads_nobody(project, edge, editor):
    make_page(project, title="Down bags", h1="Down bags", status="removed")
    assert codes(rewrite(edge, editor, "down bags")) == []


def test_a_page_of_which_nothing_is_known_is_related_to_everything(project, editor):
    edge = make_edge(project, target=make_page(project, f"{project.base_url}/", title="", h1=""))
    assert codes(rewrite(edge, editor, "totally unrelated cheap loans")) == []


def test_words_without_spaces_are_found_in_names_without_spaces(project, editor):
    edge = make_edge(project, target=make_page(project, title="冬の登山靴の選び方", language="ja"))
    assert codes(rewrite(edge, editor, "登山靴")) == []
    other = make_edge(project, target=make_page(project, title="冬の登山靴の選び方", language="ja"))
    assert codes(rewrite(other, editor, "住宅ローン")) == ["unrelated"]


def test_what_is_overruled_stands_with_the_decision_in_words(project, edge, editor):
    assert codes(rewrite(edge, editor, "cheap loans")) == ["unrelated"]
    assert codes(rewrite(edge, editor, "cheap loans", "generic")) == ["unrelated"]
    (decision,) = rewrite(edge, editor, "cheap loans", "unrelated", "generic").decided
    decision.refresh_from_db()
    (said,) = decision.overruled
    assert said["code"] == "unrelated"
    assert "None of these words is in the name" in said["text"]
    assert status(edge) == ("accepted", "cheap loans")


@pytest.mark.nightly
def test_the_same_words_are_not_accepted_beyond_the_limit(project, editor):
    """Eight editors' "cheap loans" to one target were eight links of the same words."""
    target = make_page(project, title="Loans")
    edges = [make_edge(project, target=target, anchor=f"loan {n}") for n in range(8)]
    make_link(make_page(project), target, "CHEAP loans")
    found = [codes(rewrite(edge, editor, "cheap loans")) for edge in edges]
    assert found == [[]] * 2 + [["identical"]] * 6
    assert "3 other links to “Loans” say “cheap loans”, which is the same as “loans, cheap” but for small words" in (
        rewrite(edges[7], editor, "loans, cheap").doubts[0].warnings[0].text
    )


def test_a_plain_accept_is_counted_too(project, editor):
    target = make_page(project)
    edge = make_edge(project, target=target, anchor="a good anchor")
    for _ in range(3):
        make_link(make_page(project), target, "a good anchor")
    outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    assert codes(outcome) == ["identical"]
    assert status(edge)[0] == "suggested"
    (decision,) = decide_edges(
        project, [edge.pk], Verb.ACCEPT, editor, Ruling(overrules={edge.pk: ["identical"]})
    ).decided
    assert (decision.verb, [said["code"] for said in decision.overruled]) == ("accept", ["identical"])


def test_many_at_once_are_counted_one_after_the_other_and_those_beyond_the_limit_stay_open(project, editor):
    target = make_page(project)
    edges = [make_edge(project, target=target) for _ in range(5)]
    CandidateEdge.objects.update(anchor="snow boots")
    outcome = decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)
    assert [decision.edge_id for decision in outcome.decided] == [edge.pk for edge in edges[:3]]
    assert [doubt.edge.pk for doubt in outcome.doubts] == [edge.pk for edge in edges[3:]]
    assert Counter(project.edges.values_list("status", flat=True)) == {"accepted": 3, "suggested": 2}


def test_an_edit_sends_open_suggestions_of_the_same_words_to_others(project, editor):
    target = make_page(project, title="Snow boots")
    others = [{"text": "Boots", "source": "title", "raw": "Boots", "whole": True}]
    edges = [make_edge(project, target=target, anchor="snow boots", anchor_alternatives=others) for _ in range(3)]
    mine = make_edge(project, target=target, anchor="my boots")
    rewrite(mine, editor, "boots for snow")
    said = Counter(word_set(anchor) for anchor in project.edges.values_list("anchor", flat=True))
    assert said == {"boots snow": 3, "boots": 1}
    assert status(edges[0])[0] == "suggested"


def test_a_suggestion_is_not_accepted_with_other_words_than_were_seen(project, editor):
    edge = make_edge(project, anchor="Boots")
    outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(anchors={edge.pk: "snow boots"}))
    assert "The words have changed since you looked" in outcome.conflicts[0].message
    assert status(edge) == ("suggested", "Boots")
    assert decide_edges(project, [edge.pk], Verb.REJECT, editor, shown=Shown(anchors={edge.pk: "snow boots"})).decided


@pytest.mark.nightly
def test_what_was_overruled_leaves_and_is_not_held_back_for_it(project, editor):
    target = make_page(project)
    edges = [make_edge(project, target=target, anchor="snow boots") for _ in range(2)]
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, editor, Ruling(overrules={edges[0].pk: ["identical"]}))
    CandidateEdge.objects.filter(pk=edges[1].pk).update(status="accepted", reviewed=True)  # accepted before the others
    create_release(project, project.edges.filter(status="accepted"))
    assert [status(edge)[0] for edge in edges] == ["exported", "accepted"]


# ------------------------------------------------------------------------------------------------------ the queue


def form(edge: CandidateEdge, do: str = "accept", **more: Any) -> dict[str, Any]:
    values = {"do": do, "expected": "suggested", "run": edge.run_id, "shown": edge.anchor, "anchor": edge.anchor}
    return {**values, **more}


@pytest.mark.nightly
def test_the_first_answer_is_the_card_with_the_warnings_and_a_button_that_overrules(edge, as_editor):
    url = reverse("decide", args=["shop", edge.pk])
    answer = as_editor.post(url, form(edge, "accept:ugc", anchor="cheap loans"))
    content = compact(answer.content.decode())
    assert answer.status_code == 422
    assert "None of these words is in the name" in content
    assert '<p role="alert"><b>Not accepted yet.</b>' in content
    again = {
        name: re.search(rf'name="{name}"[^>]* value="([^"]*)"', content).group(1)  # type: ignore[union-attr]
        for name in ("anchor", "warned", "warned_of", "shown")
    }
    button = re.search(r'data-do="anyway" value="([^"]*)"', content).group(1)  # type: ignore[union-attr]
    assert button == "anyway:ugc"
    assert again == {
        "anchor": "cheap loans", "warned": "unrelated ", "warned_of": "cheap loans", "shown": "a down bag"
    }  # fmt: skip
    # A button pressed after the words were changed overrules nothing.
    changed = form(edge, button, **{**again, "anchor": "car insurance"})
    assert as_editor.post(url, changed).status_code == 422
    assert status(edge)[0] == "suggested"
    as_editor.post(url, form(edge, button, **again))
    assert status(edge) == ("accepted", "cheap loans")
    assert edge.rel == "ugc"


def said_beforehand(edge: CandidateEdge, as_editor: Client) -> str:
    content = compact(as_editor.get(reverse("queue", args=["shop"])).content.decode())
    found = re.search(rf'id="doubt-{edge.pk}" data-doubt>(.*?)</div>', content)
    return re.sub("<.*?>", "", found[1]).strip() if found else ""


@pytest.mark.nightly
@pytest.mark.parametrize("links", [2, 3])
def test_a_card_says_before_the_decision_that_too_many_links_say_the_same(project, as_editor, links):
    target = make_page(project)
    edge = make_edge(project, target=target, anchor="snow boots")
    for _ in range(links):
        make_link(make_page(project), target, "Snow boots")
    expected = f"3 other links to “{target.title}” say “snow boots”. This project allows 3 in all."
    assert said_beforehand(edge, as_editor) == (expected if links == 3 else "")
    answer = as_editor.post(reverse("decide", args=["shop", edge.pk]), form(edge))
    assert (answer.status_code == 422) == (links == 3)


@pytest.mark.nightly
@pytest.mark.parametrize("where", [{"placement": "related"}, {"placement": "related", "content_gap": True}])
def test_a_link_without_words_of_the_text_may_say_its_pages_name_however_many_others_do(
    project, editor, as_editor, where
):
    target = make_page(project, title="Snow boots | Shop", h1="Snow boots")
    edge = make_edge(project, make_page(project, body="Our snow boots."), target, anchor="snow boots", **where)
    for _ in range(3):
        make_link(make_page(project), target, "Snow boots")
    words = reverse("words", args=["shop", edge.pk])

    def asked(**changed: str) -> list[str]:
        return [warning["code"] for warning in as_editor.get(words, changed).json()["warnings"]]

    assert said_beforehand(edge, as_editor) == ""
    assert asked(anchor="snow boots") == asked(anchor="Snow boots", where="beside") == []
    assert asked(anchor="snow boots", where="text") == ["identical"], "in the text it is one too many"
    in_text = Ruling(where=Where.TEXT)
    assert codes(decide_edges(project, [edge.pk], Verb.ACCEPT, editor, in_text)) == ["identical"]
    assert decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided


def test_words_that_are_written_for_a_gap_and_stand_in_the_text_are_counted(project, editor):
    target = make_page(project, h1="Snow boots")
    for _ in range(3):
        make_link(make_page(project), target, "Snow boots")
    donors = [make_page(project, body=body) for body in ("Our snow boots.", "Other shoes.")]
    gaps = [make_edge(project, donor, target, content_gap=True, placement="related") for donor in donors]
    assert [codes(rewrite(gap, editor, "snow boots")) for gap in gaps] == [["identical"], []]


@pytest.mark.nightly
def test_a_card_that_warned_beforehand_accepts_by_its_button_at_once(project, as_editor):
    target = make_page(project)
    edge = make_edge(project, target=target, anchor="snow boots")
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    content = compact(as_editor.get(reverse("queue", args=["shop"])).content.decode())
    sent = {name: re.search(rf'name="{name}"[^>]* value="([^"]*)"', content)[1] for name in ("warned", "warned_of")}  # type: ignore[index]
    button = re.search(r'data-do="anyway" value="([^"]*)"', content)[1]  # type: ignore[index]
    url = reverse("decide", args=["shop", edge.pk])
    # It was a word on these very words: others are looked at.
    assert as_editor.post(url, form(edge, button, **sent, anchor="cheap loans")).status_code == 422
    assert status(edge)[0] == "suggested"
    as_editor.post(url, form(edge, button, **sent))
    assert status(edge)[0] == "accepted"
    assert [said["code"] for said in Decision.objects.get(edge=edge).overruled] == ["identical"]


@pytest.mark.nightly
def test_a_card_with_an_editors_words_does_not_count_itself(project, as_editor):
    target = make_page(project)
    edge = make_edge(project, target=target, anchor="snow boots", edited=True)
    for _ in range(2):
        make_link(make_page(project), target, "snow boots")
    assert said_beforehand(edge, as_editor) == ""
    make_link(make_page(project), target, "snow boots")
    assert said_beforehand(edge, as_editor).startswith(f"3 other links to “{target.title}” say “snow boots”.")


@pytest.mark.nightly
def test_a_group_leaves_out_what_would_exceed_the_limit_until_it_is_checked(project, as_editor):
    donor, target = make_page(project), make_page(project)
    edge, other = make_edge(project, donor, target, anchor="snow boots"), make_edge(project, donor)
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    group = reverse("accept_group", args=["shop"])
    preview = compact(as_editor.get(group, {"donor": donor.pk}).content.decode())
    assert f"3 other links to “{target.title}” say “snow boots”" in preview
    boxes = re.findall(r'name="edge" value="([^"]+)"( checked)?>', preview)
    assert {value.split(":")[0]: checked for value, checked in boxes} == {str(edge.pk): "", str(other.pk): " checked"}
    values = [value for value, _ in boxes]
    as_editor.post(group, {"donor": donor.pk, "edge": values})  # nobody was asked about it
    assert (status(edge)[0], status(other)[0]) == ("suggested", "accepted")
    warned = re.findall(r'name="warned" value="([^"]+)"', preview)
    as_editor.post(
        group, {"donor": donor.pk, "edge": [v for v in values if v.startswith(f"{edge.pk}:")], "warned": warned}
    )
    assert status(edge)[0] == "accepted"
    assert Decision.objects.get(edge=edge).overruled[0]["code"] == "identical"


def test_a_proposed_address_is_warned_of_when_it_is_accepted_alone_or_with_others(project, edge, editor, as_editor):
    """Earlier runs proposed addresses where they knew nothing better."""
    CandidateEdge.objects.filter(pk=edge.pk).update(anchor="www.shop.example/contact")
    assert codes(decide_edges(project, [edge.pk], Verb.ACCEPT, editor)) == ["address"]
    group = reverse("accept_group", args=["shop"])
    preview = compact(as_editor.get(group, {"donor": edge.source_id}).content.decode())
    assert "is an address" in preview
    assert "None is ticked, since each needs its own look." in preview
    assert "data-none-ticked hidden" not in preview
    [(value, checked)] = re.findall(r'name="edge" value="([^"]+)"( checked)?>', preview)
    assert not checked
    as_editor.post(group, {"donor": edge.source_id, "edge": value})
    assert status(edge)[0] == "suggested"
    warned = re.findall(r'name="warned" value="([^"]+)"', preview)
    as_editor.post(group, {"donor": edge.source_id, "edge": value, "warned": warned})
    assert status(edge)[0] == "accepted"
    assert [said["code"] for said in Decision.objects.get(edge=edge).overruled] == ["address"]


# ------------------------------------------------------------------------------------------------------ property


WORDS = ("snow boots", "Boots", "winter footwear", "Boots guide")
STEPS = st.one_of(
    st.tuples(st.just("accept"), st.integers(0, 11)),
    st.tuples(st.just("edit"), st.integers(0, 11), st.sampled_from(WORDS)),
    st.tuples(st.just("anyway"), st.integers(0, 11), st.sampled_from(WORDS)),
    st.tuples(st.just("reject"), st.integers(0, 11)),
    st.tuples(st.just("undo")),
    st.tuples(st.just("tiers"), st.sampled_from([0.2, 0.66, 0.75])),
    st.tuples(st.just("retier")),
)


def _step(project: Project, edges: list[CandidateEdge], editor: User, step: tuple[Any, ...]) -> None:
    verb, *values = step
    if verb == "undo":
        try:
            undo(project, editor)
        except NothingToUndo:
            return
    elif verb == "retier":
        retier(project)
    elif verb == "tiers":
        related = Tier.objects.get(project=project, basis="cosine", name="Related")
        related.lower_bound = values[0]
        change_tiers(project, [related])
    elif verb in ("accept", "reject"):
        decide_edges(project, [edges[values[0]].pk], Verb(verb), editor)
    else:
        pk = edges[values[0]].pk
        overrules = {pk: CODES if verb == "anyway" else ()}
        decide_edges(project, [pk], Verb.EDIT, editor, Ruling(anchor=values[1], overrules=overrules))


@pytest.mark.nightly
@given(
    st.lists(STEPS, min_size=1, max_size=12),
    st.integers(0, 4),
    st.lists(st.floats(0.1, 0.99), min_size=12, max_size=12),
)
@tried(25)
def test_proposals_keep_to_the_limit_unless_a_person_overruled_it_or_nothing_else_fits(steps, links, scores):
    """Whatever is retiered, accepted, edited and undone: a suggestion that is seen carries words used up only where all
    of its own words are, and an accepted link only where the decision says that somebody overruled it."""
    slug = f"p{Project.objects.count()}-{CandidateEdge.objects.count()}"
    project = make_project(slug=slug, anchor_repeats=AnchorRepeats.ASK)
    editor = make_member(project)
    target = make_page(project, title="Boots")
    for _ in range(links):
        make_link(make_page(project), target, "Snow boots")
    others = [{"text": text, "source": "title", "raw": text, "whole": True} for text in WORDS[1:]]
    edges = [
        make_edge(project, target=target, score=score, anchor=WORDS[0], anchor_alternatives=others[: n % 4])
        for n, score in enumerate(scores)
    ]
    retier(project)
    for step in steps:
        _step(project, edges, editor, step)
        _holds(project, links)


def _holds(project: Project, links: int) -> None:
    limit = project.identical_anchor_limit
    edges = list(project.edges.select_related("tier"))
    settled = Counter({word_set("snow boots"): links})
    settled.update(word_set(edge.anchor) for edge in edges if edge.status == "accepted")
    seen = [edge for edge in edges if edge.status == "suggested" and edge.tier is not None and not edge.tier.held]
    used = settled + Counter(word_set(edge.anchor) for edge in seen)
    for words in {word_set(edge.anchor) for edge in seen}:
        of_these = [edge for edge in seen if word_set(edge.anchor) == words]
        without_choice = [
            edge for edge in of_these if all(used[word_set(o["text"])] >= limit for o in edge.anchor_alternatives)
        ]
        assert len(without_choice) >= min(used[words] - limit, len(of_these))
    decisions = Decision.objects.filter(project=project, edge__status="accepted", undone_by=None).exclude(verb="undo")
    overruled = Counter(
        word_set(decision.edge.anchor)
        for decision in decisions
        if any(said["code"] == "identical" for said in decision.overruled)
    )
    settled.subtract(
        word_set(edge.anchor)
        for edge in edges
        if edge.status == "accepted" and may_repeat(project, edge.anchor, edge.placement, "Boots", "")
    )
    for words, times in settled.items():
        assert times <= max(limit, links if words == word_set("snow boots") else 0) + overruled[words]


def test_words_that_are_the_same_but_for_small_ones_are_named_as_they_read(project):
    target = make_page(project, title="Boots")
    for _ in range(3):
        make_edge(project, target=target, anchor="how boots should fit", status="accepted", reviewed=True)
    edge = make_edge(project, target=target, anchor="boots should fit")
    [warning] = beforehand(project, [edge])[edge.pk]
    assert warning.text.startswith(
        "3 other links to “Boots” say “how boots should fit”, which is the same as “boots should fit” but for small"
    )


def test_words_that_are_the_same_but_for_small_ones_are_no_way_out(project):
    target = make_page(project, title="Boots")
    for _ in range(3):
        make_edge(project, target=target, anchor="how boots should fit", status="accepted", reviewed=True)
    others = [{"text": text, "source": "h1", "strength": 1.0} for text in ("boots should fit", "boots for hills")]
    edge = make_edge(project, target=target, anchor="how boots should fit", anchor_alternatives=others)
    card = card_of(edge)
    assert [other.text for other in card.alternatives] == ["boots for hills"]
