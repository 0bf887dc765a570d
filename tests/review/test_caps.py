"""Caps count what a page has already: at a match, at a decision and at a release, by place, length and section."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import Phase, given
from hypothesis import strategies as st

from linker.engine.params import MatchParams
from linker.matching.caps_run import run_apply_caps, start_if_due
from linker.matching.full_pages import take_out
from linker.matching.room import Room, rooms_of
from linker.matching.tiers import retier
from linker.models import Block, CandidateEdge, EdgeStatus, Page, RunKind, SectionCap
from linker.projects.cap_preview import touched_by
from linker.projects.policies.caps import set_cap
from linker.runs.due import start_unless_active
from review.decisions import decide_edges
from review.models import Decision, Held, Verb
from review.queue.selectors import card_of
from review.rulings import Outcome, Ruling
from tests.examples import tried
from tests.factories import make_category, make_edge, make_link, make_member, make_page, make_project, make_run
from tests.linker.matching.test_match import match, pairs, small
from tests.review.test_checks import held_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import User

    from linker.models import Project

pytestmark = pytest.mark.django_db

FULL = "Links in the donor’s text: 3 on the site and 1 approved; the cap of “Magazine” is 4."


def cap(project: Project, category=None, **numbers: int | None) -> SectionCap:
    return SectionCap.objects.create(project=project, category=category, **numbers)


def donor_with(project: Project, links: int, block: Block = Block.CONTENT, **fields) -> Page:
    page = make_page(project, **fields)
    for _ in range(links):
        make_link(page, make_page(project), block=block)
    if block == Block.CONTENT:
        Page.objects.filter(pk=page.pk).update(outlinks=links)
    page.refresh_from_db()
    return page


def accept(edge: CandidateEdge, user: User, *overrules: str) -> Outcome:
    return decide_edges(edge.project, [edge.pk], Verb.ACCEPT, user, Ruling(overrules={edge.pk: overrules}))


def codes(outcome: Outcome) -> list[str]:
    return [warning.code for doubt in outcome.doubts for warning in doubt.warnings]


@pytest.fixture
def magazine(project):
    return make_category(project, "Magazine")


# ----------------------------------------------------------------------------------------------- the three places


def test_a_donor_that_is_full_is_asked_about_and_its_card_says_so(project, editor, magazine):
    cap(project, magazine, inline_in_all=4)
    donor = donor_with(project, 3, category=make_category(project, "Magazine", "Tips"))
    first, second = (make_edge(project, donor, placement="inline", score=score) for score in (0.9, 0.8))
    assert not card_of(second).warnings
    assert accept(first, editor).decided
    [sign] = [one for one in card_of(CandidateEdge.objects.get(pk=second.pk)).signs if one.name == "Donor full"]
    assert sign.text == FULL
    assert codes(accept(second, editor)) == ["donor_full"]
    second.refresh_from_db()
    assert second.status == EdgeStatus.SUGGESTED


def test_what_an_editor_overrules_is_kept_and_leaves(project, editor, magazine):
    cap(project, magazine, inline_in_all=4)
    donor = donor_with(project, 3, category=magazine)
    first, second = (make_edge(project, donor, placement="inline", score=score) for score in (0.9, 0.8))
    accept(first, editor)
    assert accept(second, editor, "donor_full").decided
    assert Decision.objects.get(edge=second).overruled == [{"code": "donor_full", "text": FULL}]
    assert held_of(project) == []
    other = make_edge(project, donor, placement="inline", score=0.7, status=EdgeStatus.ACCEPTED)
    assert held_of(project) == [(Held.DONOR_FULL, FULL.replace("1 approved", "2 approved"))]
    assert CandidateEdge.objects.get(pk=other.pk).status == EdgeStatus.ACCEPTED


def test_the_preview_counts_as_held_what_a_release_would_hold(project, editor):
    donor = donor_with(project, 3)
    kept, held = (make_edge(project, donor, score=score, placement="inline") for score in (0.7, 0.8))
    accept(held, editor)
    cap(project, None, inline_in_all=4)
    assert codes(accept(kept, editor)) == ["donor_full"]
    accept(kept, editor, "donor_full")
    touched = touched_by(SectionCap(project=project, inline_in_all=3))
    assert (touched.held, touched.examples) == (1, [held])


def test_several_accepted_at_once_fill_the_donor_one_after_the_other(project, editor):
    cap(project, inline_in_all=5)
    donor = donor_with(project, 3)
    edges = [make_edge(project, donor, placement="inline", score=0.9 - n / 100) for n in range(4)]
    outcome = decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)
    assert (len(outcome.decided), codes(outcome)) == (2, ["donor_full"] * 2)


@pytest.mark.parametrize(
    ("caps", "fields", "sentence"),
    [
        ({"inline_in_all": 4}, {}, "Links in the donor’s text: 3 on the site and 1 approved; the cap is 4."),
        (
            {"per_1000_words": 8},
            {"word_count": 500},
            "Links in the donor’s text: 3 on the site and 1 approved; the cap for 500 words is 4.",
        ),
        ({"inline_in_all": 99}, {}, "New links in the donor’s text: 1 approved; the match run allows 1."),
    ],
)
def test_a_release_says_which_cap_of_the_text_is_met(project, caps, fields, sentence):
    cap(project, **caps)
    run = make_run(project, params={"inline_per_donor": 1 if caps == {"inline_in_all": 99} else 5})
    donor = donor_with(project, 3, **fields)
    for score in (0.9, 0.8):
        make_edge(project, donor, run=run, placement="inline", score=score, status=EdgeStatus.ACCEPTED)
    assert held_of(project) == [(Held.DONOR_FULL, sentence)]


def test_links_beside_the_text_have_a_cap_of_their_own(project, editor, magazine):
    cap(project, magazine, related_in_all=4, inline_in_all=0)
    donor = donor_with(project, 3, Block.ASIDE, category=magazine)
    for number in range(3):  # links of a menu take no room
        make_link(donor, make_page(project), anchor=str(number), block=Block.NAVIGATION)
    first, second = (make_edge(project, donor, placement="related", score=score) for score in (0.9, 0.8))
    assert accept(first, editor).decided
    assert codes(accept(second, editor)) == ["donor_full"]
    second.status = EdgeStatus.ACCEPTED
    second.save()
    said = "Links beside the donor’s text: 3 on the site and 1 approved; the cap of “Magazine” is 4."
    assert held_of(project) == [(Held.DONOR_FULL, said)]


def test_a_released_link_that_an_import_found_live_counts_once(project, editor):
    cap(project, inline_in_all=2)
    donor = donor_with(project, 0)
    out = make_edge(project, donor, placement="inline", status=EdgeStatus.EXPORTED)
    edge = make_edge(project, donor, placement="inline", score=0.8)
    make_link(donor, out.target)
    Page.objects.filter(pk=donor.pk).update(outlinks=1)
    assert not card_of(edge).warnings
    assert accept(edge, editor).decided
    assert held_of(project) == []


def test_what_is_accepted_already_may_get_other_words_on_a_full_donor(project, editor):
    cap(project, inline_in_all=1)
    donor = donor_with(project, 0)
    edge, _ = (make_edge(project, donor, placement="inline", status=EdgeStatus.ACCEPTED) for _ in range(2))
    from review.rulings import Shown

    outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(EdgeStatus.ACCEPTED))
    assert codes(outcome) == []


# -------------------------------------------------------------------------------------------------------- sections


def test_the_nearest_section_wins_number_by_number(project, magazine):
    tips, news = (make_category(project, "Magazine", name) for name in ("Tips", "News"))
    cap(project, inline_in_all=50, related_in_all=9, per_1000_words=30)
    cap(project, magazine, inline_in_all=4)
    cap(project, tips, inline_in_all=3, related_in_all=0)
    pages = {
        name: make_page(project, outlinks=2, word_count=10_000, category=category).pk
        for name, category in (("tips", tips), ("news", news), ("none", None))
    }
    found = rooms_of(project, MatchParams())
    rooms = {name: found[page] for name, page in pages.items()}
    assert rooms == {"tips": Room(1, 0), "news": Room(2, 9), "none": Room(5, 9)}


@pytest.mark.nightly
def test_a_match_proposes_nothing_where_a_section_is_full(project):
    pages = small(project, "a", "b", "c")
    match(project)
    assert {source for source, _ in pairs(project)} == {"a", "b", "c"}
    section = make_category(project, "Full")
    Page.objects.filter(pk=pages["a"].pk).update(category=section)
    cap(project, section, inline_in_all=0, related_in_all=0)
    match(project, levels_up=9)
    assert {source for source, _ in pairs(project, stale=False)} == {"b", "c"}


# ---------------------------------------------------------------------------------------------------------- the run


def applied(project: Project):
    return run_apply_caps(make_run(project, RunKind.CAPS, model=None))


@pytest.mark.nightly
def test_an_import_that_fills_a_donor_takes_its_suggestions_out_and_one_that_frees_it_brings_them_back(project):
    run = make_run(project, params={"related_in_all": 3})
    donor = make_page(project)
    edges = [make_edge(project, donor, run=run, placement="related", similarity=0.7, score=0.7) for _ in range(2)]
    other = make_edge(project, run=run, placement="related", similarity=0.7, score=0.7)
    links = [make_link(donor, make_page(project), block=Block.ASIDE) for _ in range(3)]
    assert applied(project).taken_out == 2
    assert applied(project).taken_out == 0
    assert [CandidateEdge.objects.get(pk=edge.pk).stale for edge in (*edges, other)] == [True, True, False]
    links[0].delete()
    assert applied(project).back == 2
    assert not CandidateEdge.objects.filter(stale=True).exists()
    assert not CandidateEdge.objects.filter(capped_at__isnull=False).exists()


def test_a_full_text_sends_its_suggestions_to_the_block_beside_it(project):
    run = make_run(project, params={"inline_in_all": 2})
    donor = donor_with(project, 2, body="All about warm socks. " * 40)
    edge = make_edge(project, donor, run=run, placement="inline", span_start=10, span_end=20, anchor="warm socks")
    assert applied(project).taken_out == 0
    edge.refresh_from_db()
    assert (edge.placement, edge.stale) == ("related", False)


def test_a_newer_match_that_passed_a_suggestion_over_keeps_it_away(project):
    donor, run = make_page(project), make_run(project, params={"related_in_all": 1})
    edge = make_edge(project, donor, run=run, placement="related", similarity=0.7, score=0.7)
    link = make_link(donor, make_page(project), block=Block.ASIDE)
    applied(project)
    from django.utils import timezone

    make_run(project, started_at=timezone.now(), finished_at=timezone.now())
    link.delete()
    assert applied(project).back == 0
    edge.refresh_from_db()
    assert (edge.stale, edge.capped_at) == (True, None)


def test_the_run_starts_after_imports_of_links_and_changes_of_caps(project, manager, redis_server):
    make_edge(project)
    done = make_run(project, RunKind.IMPORT_LINKS, finished_at="2026-01-01T00:00Z")
    run = start_if_due(done)
    assert run.kind == RunKind.CAPS
    project.runs.filter(pk=run.pk).update(status="succeeded", started_at="2026-01-02T00:00Z")
    assert start_if_due(done) is None
    with transaction.atomic():
        set_cap(SectionCap(project=project, inline_in_all=3), manager)
    assert project.runs.filter(kind=RunKind.CAPS).count() == 2


def test_a_run_ends_with_what_it_wrote_so_that_a_cap_that_is_set_afterwards_starts_another(project, manager):
    make_edge(project)
    run = start_unless_active(project, RunKind.CAPS, manager)
    run_apply_caps(run)
    set_cap(SectionCap(project=project, inline_in_all=3), manager)
    assert project.runs.filter(kind=RunKind.CAPS).exclude(pk=run.pk).count() == 1


def test_a_run_that_brings_nothing_back_locks_only_the_suggestions_it_takes_out(project):
    full = make_edge(project, score=0.6)  # of a tier whose links stand beside the text, so that no reading changes it
    staying = [make_edge(project, score=0.6) for _ in range(3)]
    section = make_category(project, "Full")
    Page.objects.filter(pk=full.source_id).update(category=section)
    cap(project, section, inline_in_all=0, related_in_all=0)
    assert applied(project).taken_out == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM linker_candidateedge WHERE xmax::text <> '0' AND NOT stale")
        locked = {pk for (pk,) in cursor.fetchall()}
    assert not locked & {edge.pk for edge in staying}


def test_a_suggestion_that_somebody_accepts_while_others_are_taken_out_stays(project):
    edges = [make_edge(project, score=0.6) for _ in range(2)]
    cap(project, inline_in_all=0, related_in_all=0)

    def accepted_meanwhile(execute, statement, *args):
        if "SKIP LOCKED" in statement:
            execute("UPDATE linker_candidateedge SET status = 'accepted' WHERE id = %s", [edges[0].pk], *args[1:])
        return execute(statement, *args)

    with transaction.atomic(), connection.execute_wrapper(accepted_meanwhile):
        assert take_out(project) == 1
    assert list(project.edges.filter(capped_at=None).values_list("pk", "stale")) == [(edges[0].pk, False)]


def test_the_planner_knows_how_many_sections_have_caps_when_tiers_are_read(project):
    for number in range(9):
        make_category(project, f"Section {number}")
    make_edge(project)
    cap(project, inline_in_all=4)
    with CaptureQueriesContext(connection) as queries:
        retier(project)
    (reading,) = (query["sql"] for query in queries if "TEMP TABLE readings" in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {reading.replace('TABLE readings', 'TABLE readings_again')}")
        ((((plan,)),),) = cursor.fetchall()
    # Taken for one, they would be compared one by one with each suggestion.
    assert [step["Plan Rows"] for step in steps(plan["Plan"]) if step.get("Alias") == "section"] == [10]


def steps(plan: dict) -> Iterator[dict]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from steps(part)


# ------------------------------------------------------------------------------------------------ against an oracle

_NUMBER = st.one_of(st.none(), st.integers(0, 6))
_SITE = st.fixed_dictionaries(
    {
        "caps": st.lists(
            st.tuples(st.sampled_from([None, "Magazine", "Tips"]), _NUMBER, _NUMBER, st.sampled_from([None, 0, 3, 8])),
            max_size=3,
            unique_by=lambda one: one[0],
        ),
        "run": st.fixed_dictionaries(
            {
                "inline_per_donor": st.integers(1, 4),
                "related_per_donor": st.integers(1, 4),
                "inline_in_all": st.integers(0, 6),
                "related_in_all": st.integers(0, 6),
                "per_1000_words": st.integers(0, 8),
            }
        ),
        "donors": st.lists(
            st.fixed_dictionaries(
                {
                    "category": st.sampled_from([None, "Magazine", "Tips", "Shop"]),
                    "words": st.sampled_from([0, 150, 1000]),
                    "content": st.integers(0, 5),
                    "aside": st.integers(0, 5),
                    "ours": st.lists(
                        st.tuples(
                            st.sampled_from(["accepted", "exported", "rejected", "suggested"]),
                            st.sampled_from(["inline", "related"]),
                            st.sampled_from([None, Block.CONTENT, Block.ASIDE, Block.FOOTER]),  # where the site has it
                        ),
                        max_size=5,
                    ),
                }
            ),
            min_size=1,
            max_size=2,
        ),
    }
)
_ABOVE = {None: [None], "Magazine": ["Magazine", None], "Tips": ["Tips", "Magazine", None], "Shop": [None]}


def room_by_hand(site: dict, donor: dict, placement: str) -> int:
    """New links that fit beside what the site has and what was approved, in plain Python."""
    caps = {name: numbers for name, *numbers in site["caps"] if any(number is not None for number in numbers)}
    run = site["run"]

    def said(at: int, name: str) -> float:
        for section in _ABOVE[donor["category"]]:
            if section in caps and caps[section][at] is not None:
                return caps[section][at]
        return run[name] or math.inf

    content = {f"c{n}" for n in range(donor["content"])}
    aside = {f"a{n}" for n in range(donor["aside"])}
    waiting = 0
    for n, (status, where, found) in enumerate(donor["ours"]):
        if found == Block.CONTENT:
            content.add(f"o{n}")
        if found == Block.ASIDE:
            aside.add(f"o{n}")
        on_site = found == Block.CONTENT or (where == "related" and found == Block.ASIDE)
        waiting += status in ("accepted", "exported") and where == placement and not on_site
    if placement == "inline":
        density = said(2, "per_1000_words")
        by_length = math.inf if density == math.inf else math.ceil(donor["words"] * density / 1000)
        most = min(run["inline_per_donor"], said(0, "inline_in_all") - len(content), by_length - len(content))
    else:
        most = min(run["related_per_donor"], said(1, "related_in_all") - len(aside))
    return max(0, int(most)) - waiting


def build(site: dict) -> tuple[Project, list[CandidateEdge]]:
    """The site in the database, and two open suggestions of each donor: in its text, and beside it."""
    project = make_project("oracle")
    categories = {
        "Magazine": make_category(project, "Magazine"),
        "Tips": make_category(project, "Magazine", "Tips"),
        "Shop": make_category(project, "Shop"),
        None: None,
    }
    for name, inline, related, words in site["caps"]:
        if (inline, related, words) != (None, None, None):
            cap(project, categories[name], inline_in_all=inline, related_in_all=related, per_1000_words=words)
    run, asked = make_run(project, params=site["run"]), []
    for donor in site["donors"]:
        page = make_page(project, category=categories[donor["category"]], word_count=donor["words"])
        content = donor["content"] + sum(found == Block.CONTENT for _, _, found in donor["ours"])
        Page.objects.filter(pk=page.pk).update(outlinks=content)
        for block, links in ((Block.CONTENT, donor["content"]), (Block.ASIDE, donor["aside"])):
            for _ in range(links):
                make_link(page, make_page(project), block=block)
        for status, where, found in donor["ours"]:
            edge = make_edge(project, page, run=run, status=status, placement=where, anchor=f"words {len(asked)}")
            if found is not None:
                make_link(page, edge.target, block=found)
        asked += [make_edge(project, page, run=run, placement=place, score=0.3) for place in ("inline", "related")]
    return project, asked


@pytest.mark.nightly
@given(site=_SITE)
@tried(25, phases=[Phase.explicit, Phase.generate])
def test_a_match_a_decision_and_the_queue_count_as_a_loop_in_python_does(db, site):
    with transaction.atomic():
        project, asked = build(site)
        editor = make_member(project)
        wanted = {
            (edge.source_id, edge.placement): room_by_hand(site, donor, edge.placement)
            for donor, both in zip(site["donors"], zip(asked[::2], asked[1::2], strict=True), strict=True)
            for edge in both
        }
        rooms = rooms_of(project, MatchParams.from_dict(site["run"]))
        usual = Room(site["run"]["inline_per_donor"], site["run"]["related_per_donor"])
        for donor, edge in zip(site["donors"], asked[::2], strict=True):
            bare = {**donor, "ours": [(status, "none", found) for status, _, found in donor["ours"]]}
            by_hand = Room(room_by_hand(site, bare, "inline"), room_by_hand(site, bare, "related"))
            assert rooms.get(edge.source_id, usual) == by_hand
        for edge in asked:
            full = wanted[edge.source_id, edge.placement] <= 0
            assert ("donor_full" in [one.code for one in card_of(edge).warnings]) == full
        open_ones = CandidateEdge.objects.filter(project=project, status="suggested")
        out = take_out(project)
        left = set(open_ones.filter(stale=True, capped_at__isnull=False).values_list("pk", flat=True))
        assert len(left) == out
        assert left == {edge.pk for edge in open_ones if wanted[edge.source_id, edge.placement] <= 0}
        CandidateEdge.objects.filter(project=project).update(stale=False, capped_at=None)
        CandidateEdge.objects.filter(project=project, status="accepted").update(status="exported")
        for edge in asked:
            full = wanted[edge.source_id, edge.placement] <= 0
            assert ("donor_full" in codes(accept(edge, editor))) == full
            CandidateEdge.objects.filter(pk=edge.pk).update(status="accepted", anchor=f"other words {edge.pk}")
        held = held_of(project)
        assert len([1 for reason, _ in held if reason == Held.DONOR_FULL]) == sum(n <= 0 for n in wanted.values())
        transaction.set_rollback(True)


# ---------------------------------------------------------------------------------------------------------- queries


@pytest.mark.nightly
def test_a_decision_and_a_release_ask_as_often_for_one_donor_as_for_many(project, editor):
    for number in range(3):
        cap(project, make_category(project, f"Section {number}"), inline_in_all=number)

    def asked(donors: int) -> list[int]:
        edges = [
            make_edge(project, make_page(project), placement="inline", anchor=f"a{n} {donors}") for n in range(donors)
        ]
        counts = []
        for work in (
            lambda: decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor),
            lambda: held_of(project),
            lambda: applied(project),
        ):
            with CaptureQueriesContext(connection) as queries:
                work()
            counts.append(len(queries))
        return counts

    asked(2)
    assert asked(2) == asked(9)
