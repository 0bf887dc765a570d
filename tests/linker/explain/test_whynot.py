"""Why not: each reason for which a page or a pair has no suggestion is named, by the code that a run would use."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from linker.engine.allocation.allocate import Reason
from linker.engine.params import MatchParams, PageFilter, Ranking, Scope
from linker.explain.findings import Finding, PairAnswer
from linker.explain.page import why_not_page
from linker.explain.pair import why_not_pair
from linker.matching.eligibility import IneligibleReason, eligibility_of, eligible_pages
from linker.matching.start import run_match
from linker.models import Block, EdgeStatus, ExclusionRule, Page, RunKind, SensitiveRule, Tier, UnallocatedPairs
from linker.pages.listing import find_page, nearest_addresses
from linker.projects.policies.sensitive import add_sensitive
from linker.runs import lifecycle
from review.decisions import decide_edges
from review.models import Verb
from review.rulings import Ruling
from tests.factories import (
    embed,
    make_category,
    make_edge,
    make_link,
    make_member,
    make_model,
    make_page,
    make_project,
    make_run,
)

if TYPE_CHECKING:
    from linker.models import Project, Run

pytestmark = pytest.mark.django_db

HOSTILE = '"><script>alert(1)</script>'
TEXT = "A text of the page."


def page(project: Project, path: str = "", vector: tuple[float, ...] | None = (1, 0, 0, 0), **fields) -> Page:
    made = make_page(project, path or f"/p{project.pages.count()}", **{"body": TEXT, **fields})
    if vector is not None:
        embed(made, vector)
    return made


def run_of(project: Project, ranking: str = "cosine", report: dict | None = None, **params) -> Run:
    """A finished match run, begun after everything there is."""
    values = MatchParams(**params)
    said = {"ranking": ranking, "allocation": {"target_cap": values.target_cap(100)}, **(report or {})}
    now = timezone.now()
    return make_run(project, params=values.to_dict(), report=said, started_at=now, finished_at=now)


def blocking(findings: list[Finding], side: str = "") -> list[str]:
    return [one.code for one in findings if one.blocking and (not side or one.side in (side, "both"))]


def finding(findings: list[Finding], code: str) -> Finding:
    return next(one for one in findings if one.code == code)


def ask(donor: Page, acceptor: Page) -> PairAnswer:
    """As the page asks, for the pages as they are stored."""
    fresh = [Page.objects.get(pk=one.pk) for one in (donor, acceptor)]
    return why_not_pair(donor.project, *fresh)


# --------------------------------------------------------------------------------------------------------- a page


def test_nothing_keeps_a_good_page_away_and_its_shares_are_named(project):
    good = page(project)
    run_of(project)
    make_edge(project, good, placement="inline")
    make_edge(project, good, placement="related", status=EdgeStatus.ACCEPTED, stale=True)
    make_edge(project, good, status=EdgeStatus.REJECTED)
    make_edge(project, good, stale=True)
    make_edge(project, None, good)
    found = why_not_page(project, good)
    assert blocking(found) == []
    assert "gives 2 of 15 new links: 1 of 5 in the text, 1 of 10 beside it" in finding(found, "donor-links").text
    assert "receives 1 of 20 new links" in finding(found, "acceptor-links").text


@pytest.mark.parametrize(
    ("path", "fields", "code", "said"),
    [
        ("/a", {"status": "removed"}, "not-live", "removed"),
        ("/a", {"missing_since": timezone.now()}, "missing", "missing since"),
        ("/a", {"status_code": 404}, "status-code", "404"),
        ("/a", {"redirect_url": "https://shop.example/b"}, "redirect", "https://shop.example/b"),
        ("/list/page/2", {}, "pagination", "listing"),
        ("/list?sort=price", {}, "parameter-url", "Leave out variants"),
        ("/a", {"vector": None}, "no-vector", "vector"),
    ],
)
def test_what_bars_a_page_bars_it_on_both_sides(path, fields, code, said, project):
    page(project)
    run_of(project)
    found = why_not_page(project, page(project, path, **{"first_seen_at": timezone.now(), **fields}))
    assert said in finding(found, code).text
    assert finding(found, code).side == "both"
    assert finding(found, code).blocking


@pytest.mark.parametrize(
    ("fields", "code", "said"),
    [
        ({"indexable": False, "indexability_status": "noindex"}, "not-indexable", "noindex"),
        ({"indexable": False, "canonical_link": "https://shop.example/other"}, "canonical", "/other"),
    ],
)
def test_what_search_engines_leave_out_receives_nothing_but_may_give(fields, code, said, project):
    one = page(project, "/a", **fields)
    run_of(project, donors=PageFilter(indexable_only=False))
    found = why_not_page(project, one)
    assert blocking(found, "acceptor") == [code]
    assert said in finding(found, code).text
    assert blocking(found, "donor") == []


def test_an_exclusion_rule_is_named_with_its_note_and_side(project):
    one = page(project, "/legal/terms")
    run_of(project)
    ExclusionRule.objects.create(project=project, pattern="/legal/", side="donor", note="by counsel")
    found = why_not_page(project, one)
    assert blocking(found, "donor") == ["excluded"]
    assert blocking(found, "acceptor") == []
    assert "“/legal/” (by counsel)" in finding(found, "excluded").text


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"url_pattern": "/blog/"}, "addresses that match “/blog/”"),
        ({"min_clicks": 9}, "9 clicks or more"),
        ({"max_clicks": 3}, "3 clicks at most"),
        ({"min_inlinks": 9}, "9 body links in or more"),
        ({"max_inlinks": 0}, "0 body links in at most"),
    ],
)
def test_the_filter_of_the_newest_run_that_left_a_page_out_is_named(wanted, said, project):
    one = page(project, "/a", clicks=5, inlinks=1)
    run_of(project, donors=PageFilter(**wanted))
    found = why_not_page(project, one)
    assert blocking(found, "donor") == ["outside-run"]
    assert said in finding(found, "outside-run").text
    assert blocking(found, "acceptor") == []


def test_a_filter_by_category_names_the_category(project):
    one = page(project, "/a", category=make_category(project, "Shop"))
    run_of(project, acceptors=PageFilter(categories=(make_category(project, "Magazine", "Health").pk,)))
    found = why_not_page(project, one)
    assert blocking(found, "acceptor") == ["outside-run"]
    assert "Magazine › Health" in finding(found, "outside-run").text


def test_without_vectors_at_all_the_answer_says_to_embed(project):
    found = why_not_page(project, page(project, vector=None))
    assert "Embed them first" in finding(found, "no-vector").text
    assert "no-run" in blocking(found)


def test_a_page_without_text_is_told_and_still_gives(project):
    one = page(project, body="")
    run_of(project)
    found = why_not_page(project, one)
    assert not finding(found, "no-text").blocking
    assert blocking(found) == []


def test_a_page_at_its_cap_is_told_so(project):
    one = page(project)
    run_of(project, inline_per_donor=1, related_per_donor=0, per_target=1)
    make_edge(project, one)
    make_edge(project, None, one)
    found = why_not_page(project, one)
    assert blocking(found, "donor") == ["donor-full"]
    assert blocking(found, "acceptor") == ["acceptor-full"]


def test_a_page_newer_than_the_newest_run_waits_for_the_next(project):
    run = run_of(project)
    one = page(project)
    assert blocking(why_not_page(project, one)) == ["newer"]
    Page.objects.filter(pk=one.pk).update(first_seen_at=run.started_at - timedelta(days=1))
    one.refresh_from_db()
    found = why_not_page(project, one)
    assert blocking(found) == []
    assert finding(found, "text-newer")


def test_sensitive_is_said_with_its_rule_and_keeps_nothing_away(project):
    health = make_category(project, "Magazine", "Health")
    one = page(project, "/ticks", category=make_category(project, "Magazine", "Health", "Insects"))
    run_of(project)
    SensitiveRule.objects.create(project=project, kind="medical", category=health)
    add_sensitive(SensitiveRule(project=project, kind="legal", url_pattern="/tick"))
    found = why_not_page(project, one)
    assert blocking(found) == []
    said = " ".join(one.text for one in found if one.code == "sensitive")
    assert "medical (Magazine › Health)" in said
    assert "legal (address has /tick)" in said


def test_a_run_takes_exactly_the_pages_of_which_nothing_is_said(project):
    make_category(project, "Shop")
    for number, fields in enumerate(
        [
            {}, {"status": "merged"}, {"missing_since": timezone.now()}, {"status_code": 500}, {"indexable": False},
            {"redirect_url": "/x"}, {"vector": None}, {"clicks": 50}, {"category": project.categories.get()},
        ]
    ):  # fmt: skip
        page(project, f"/p{number}", **fields)
    for path in ("/legal/a", "/legal/b?sort=up", "/p0?colour=red", "/p0?pid=1", "/list/page/3", "/both"):
        page(project, path)
    ExclusionRule.objects.create(project=project, pattern="/legal/", side="donor")
    ExclusionRule.objects.create(project=project, pattern="/both", side="both")
    params = MatchParams(
        donors=PageFilter(max_clicks=10), acceptors=PageFilter(categories=(project.categories.get().pk,))
    )
    taken = eligible_pages(project, make_model(), params)
    ids = list(project.pages.values_list("pk", flat=True))
    standing = eligibility_of(project, make_model(), params, ids)
    assert taken.ids.tolist() == [pk for pk in sorted(ids) if not standing[pk].reasons]
    for side, is_side, chosen in (
        ("donor", taken.is_donor, taken.chosen_donor),
        ("acceptor", taken.is_target, taken.chosen_target),
    ):
        for place, pk in enumerate(taken.ids.tolist()):
            assert is_side[place] == (not standing[pk].refusals[side])
            assert chosen[place] == (is_side[place] and not standing[pk].filters[side])
    first = [standing[pk].reasons[0] for pk in ids if standing[pk].reasons]
    counted = {
        IneligibleReason.NOT_ANSWERING: 2, IneligibleReason.PAGINATION: 1, IneligibleReason.PARAMETER_URL: 3,
    }  # fmt: skip
    assert {bar: first.count(bar) for bar in counted} == counted
    assert {why.words: pages for why, pages in taken.left_out.items()} == {
        "not answering with 200": 2, "pagination": 1, "parameter URL": 3,
        "not indexable (as acceptor)": 1, "excluded as donor": 2, "excluded as acceptor": 1,
    }  # fmt: skip
    alone = (IneligibleReason.NOT_LIVE, IneligibleReason.MISSING, IneligibleReason.NO_VECTOR)
    assert [first.count(reason) for reason in alone] == [1, 1, 1]


# --------------------------------------------------------------------------------------------------------- a pair


@pytest.fixture
def pair(project) -> tuple[Page, Page]:
    """Two pages with a similarity of 0.6, in the same category."""
    return page(project, "/donor"), page(project, "/acceptor", (0.6, 0.8, 0, 0))


def test_a_page_is_not_linked_to_itself(project):
    one = page(project)
    assert blocking(ask(one, one).findings) == ["same-page"]


@pytest.mark.parametrize(
    ("status", "words"),
    [("suggested", "waiting for review"), ("accepted", "accepted"), ("exported", "exported")],
)
def test_a_suggestion_is_answered_with_its_card_and_state(status, words, pair, project):
    run_of(project)
    edge = make_edge(project, *pair, status=status)
    answer = ask(*pair)
    assert answer.edge == edge
    assert words in answer.headline
    assert blocking(answer.findings) == []


def test_a_suggestion_that_is_held_back_or_lacks_words_says_so(pair, project):
    run_of(project)
    edge = make_edge(project, *pair, score=0.55, content_gap=True)
    assert edge.tier.held
    codes = [one.code for one in ask(*pair).findings]
    assert codes == ["held", "content-gap"]


def test_a_suggestion_of_a_page_that_may_no_longer_give_says_it_will_go(pair, project):
    run_of(project)
    make_edge(project, *pair)
    ExclusionRule.objects.create(project=project, pattern="/donor", side="donor")
    answer = ask(*pair)
    assert answer.edge is not None
    assert "withdraw" in answer.headline
    assert blocking(answer.findings) == ["excluded"]


def test_either_page_that_is_out_is_named_with_its_side(pair, project):
    run_of(project)
    donor, acceptor = pair
    Page.objects.filter(pk=donor.pk).update(status_code=404)
    Page.objects.filter(pk=acceptor.pk).update(indexable=False)
    found = ask(*pair).findings
    assert finding(found, "status-code").side == "donor"
    assert finding(found, "not-indexable").side == "acceptor"
    assert blocking(found)[:2] == ["status-code", "not-indexable"]


def test_a_donor_that_is_not_indexable_is_not_told_off_for_what_only_acceptors_must_be(pair, project):
    run_of(project, donors=PageFilter(indexable_only=False), threshold=0.5)
    Page.objects.filter(pk=pair[0].pk).update(indexable=False)
    assert blocking(ask(*pair).findings) == ["not-found"]


def test_a_link_in_the_text_is_named_with_its_anchor_and_one_in_the_footer_does_not_count(pair, project):
    run_of(project, threshold=0.0)
    make_link(*pair, anchor="the company", block=Block.FOOTER)
    found = ask(*pair).findings
    assert "linked" not in blocking(found)
    assert "does not count" in finding(found, "footer-link").text
    make_link(*pair, anchor="warm boots")
    found = ask(*pair).findings
    assert blocking(found) == ["linked"]
    assert "“warm boots”" in finding(found, "linked").text


def test_a_link_that_went_after_the_run_began_asks_for_the_next_run(pair, project):
    link = make_link(*pair)
    run_of(project, threshold=0.0)
    type(link).objects.update(missing_since=timezone.now())
    assert blocking(ask(*pair).findings) == ["link-gone"]


def test_a_rejection_is_named_with_who_when_and_why_until_it_is_undone(pair, project):
    run_of(project)
    editor = make_member(project, username="mara")
    edge = make_edge(project, *pair)
    decide_edges(
        project,
        [edge.pk],
        user=editor,
        verb=Verb.REJECT,
        ruling=Ruling(reason="wrong_target", note="see the other"),
    )
    said = finding(ask(*pair).findings, "rejected")
    assert said.blocking
    assert "mara rejected it on" in said.text
    assert "Wrong acceptor" in said.text
    assert "see the other" in said.text
    assert said.link.href == reverse("edge", args=[project.slug, edge.pk])


def test_before_any_run_the_answer_is_that_there_is_none(pair):
    assert blocking(ask(*pair).findings) == ["no-run"]


def test_a_pair_outside_the_newest_run_is_told_which_side_was(pair, project):
    run_of(project, threshold=0.0, donors=PageFilter(url_pattern="/blog"), acceptors=PageFilter(min_clicks=1))
    found = ask(*pair).findings
    assert [(one.code, one.side) for one in found if one.blocking] == [
        ("outside-run", "donor"),
        ("outside-run", "acceptor"),
    ]


def test_a_suggestion_of_an_earlier_run_is_mentioned(pair, project):
    make_edge(project, *pair, score=0.61, stale=True)
    run_of(project, threshold=0.7)
    found = ask(*pair).findings
    assert "0.610" in finding(found, "stale").text
    assert blocking(found) == ["below-floor"]


def taken_again(project: Project, run: Run) -> None:
    make_run(project, RunKind.STAND, params={"run": run.pk}, finished_at=timezone.now())


def test_where_an_earlier_run_was_taken_again_the_answer_is_about_that_run(pair, project):
    earlier = run_of(project, threshold=0.7)
    newer = run_of(project, threshold=0.1, donors=PageFilter(url_pattern="/nowhere"))
    make_edge(project, *pair, score=0.61, stale=True, run=newer)
    assert blocking(ask(*pair).findings) == ["outside-run"]
    taken_again(project, earlier)
    found = ask(*pair).findings
    assert blocking(found) == ["below-floor"]
    assert f"The match run that stands ({earlier.pk}) kept 0.700 and above." in finding(found, "below-floor").text
    assert f"the match run that stands ({earlier.pk}) does not" in finding(found, "stale").text
    assert blocking(why_not_page(project, pair[0])) == []


def test_what_a_run_left_out_is_not_made_up_once_a_newer_run_has_come(pair, project):
    earlier = run_of(project, "formula", threshold=0.2)
    newer = run_of(project, "formula", threshold=0.2)
    row = {"targets": [pair[1].pk], "scores": [0.12], "reasons": [Reason.BELOW_FLOOR]}
    UnallocatedPairs.objects.create(run=newer, source=pair[0].pk, **row)
    taken_again(project, earlier)
    found = ask(*pair).findings
    assert blocking(found) == ["not-kept"]
    assert "is not kept, since a newer run has come after it" in finding(found, "not-kept").text
    taken_again(project, newer)
    assert blocking(ask(*pair).findings) == ["below-floor"]


LEFT = [
    (Reason.BELOW_FLOOR, "below-floor", ["0.120", "kept 0.200"]),
    (Reason.SOURCE_FULL, "donor-full", ["0.120", "gives at most 2 new links", "of the 2 it has", "scored 0.310"]),
    (Reason.TARGET_FULL, "acceptor-full", ["0.120", "receives at most 1 new link", "of the 1 it has", "scored 0.440"]),
    (Reason.RECIPROCAL, "reciprocal", ["0.120", "its 3 links of that kind"]),
    (Reason.RELATED_FULL, "related-full", ["0.120", "places it beside the text", "its 1 new link"]),
]


@pytest.mark.parametrize(("reason", "code", "said"), LEFT)
def test_what_a_ranked_run_left_out_is_answered_with_its_score_and_what_was_needed(reason, code, said, pair, project):
    donor, acceptor = pair
    run = run_of(project, "formula", threshold=0.2, inline_per_donor=1, related_per_donor=1, per_target=1, reciprocal=3)
    make_edge(project, donor, score=0.9, run=run)
    make_edge(project, donor, score=0.31, run=run)
    make_edge(project, None, acceptor, score=0.44, run=run)
    UnallocatedPairs.objects.create(
        run=run, source=donor.pk, targets=[acceptor.pk + 1, acceptor.pk], scores=[0.5, 0.12], reasons=[2, reason]
    )
    found = ask(*pair).findings
    assert blocking(found) == [code]
    for words in said:
        assert words in finding(found, code).text


@pytest.mark.parametrize(
    ("basis", "score", "inline", "code"),
    [
        ("probability", 0.8, 5, "no-phrase"),
        ("probability", 0.8, 1, "donor-full"),
        ("probability", 0.2, 5, "related-full"),
        ("quantile", 0.95, 5, "no-phrase"),
        ("quantile", 0.35, 5, "related-full"),
        ("cosine", 0.6, 5, "related-full"),
    ],
)
def test_without_room_in_the_block_the_tier_tells_whether_words_were_missing(basis, score, inline, code, pair, project):
    run = run_of(project, "learned", {"basis": basis}, inline_per_donor=inline, related_per_donor=1)
    make_edge(project, pair[0], score=0.9, run=run, placement="inline")
    make_edge(project, pair[0], score=0.3, run=run, placement="related")
    UnallocatedPairs.objects.create(
        run=run, source=pair[0].pk, targets=[pair[1].pk], scores=[score], reasons=[Reason.RELATED_FULL]
    )
    assert blocking(ask(*pair).findings) == [code]


@pytest.mark.parametrize(
    ("score", "inline", "code", "said"),
    [
        (0.2, 5, "related-full", "beside the text, but the block beside the text already has its 1 new link."),
        (
            0.8,
            5,
            "donor-full",
            "The donor’s 6 new links went to other pages, and not all of those found words in the text",
        ),
        (0.8, 1, "donor-full", "The donor gives at most 2 new links, and other pairs came first; of the 2 it has"),
    ],
)
def test_a_donor_whose_links_found_no_place_is_not_said_to_give_its_most(score, inline, code, said, pair, project):
    run = run_of(project, "learned", {"basis": "probability"}, inline_per_donor=inline, related_per_donor=1)
    make_edge(project, pair[0], score=0.9, run=run, placement="inline")
    make_edge(project, pair[0], score=0.7, run=run, placement="related")
    UnallocatedPairs.objects.create(
        run=run, source=pair[0].pk, targets=[pair[1].pk], scores=[score], reasons=[Reason.SOURCE_FULL]
    )
    assert said in finding(ask(*pair).findings, code).text


def test_links_beside_the_text_that_nobody_is_shown_are_named_where_they_fill_the_block(pair, project):
    run = run_of(project, "learned", {"basis": "probability"}, inline_per_donor=5, related_per_donor=2)
    held = Tier.objects.filter(project=project, basis="probability", held=True).first()
    make_edge(project, pair[0], score=0.7, run=run, placement="related", tier=held)
    make_edge(project, pair[0], score=0.7, run=run, placement="related")
    UnallocatedPairs.objects.create(
        run=run, source=pair[0].pk, targets=[pair[1].pk], scores=[0.2], reasons=[Reason.RELATED_FULL]
    )
    assert "already has its 2 new links (1 held back)." in finding(ask(*pair).findings, "related-full").text


def test_words_that_the_card_offers_are_not_denied(pair, project):
    """It said that the text named the acceptor nowhere, of a text that names it."""
    others = [{"text": "the boots", "source": "text", "raw": "the boots", "start": 3, "end": 12, "fit": 0.5}]
    make_edge(project, *pair, content_gap=True, placement="related", anchor_alternatives=others)
    assert "The donor’s text has “the boots”, but" in finding(ask(*pair).findings, "content-gap").text


def test_what_a_ranked_run_never_found_was_no_candidate(pair, project):
    run = run_of(project, "learned")
    make_edge(project, pair[0], run=run)
    UnallocatedPairs.objects.create(run=run, source=pair[0].pk, targets=[7, 8], scores=[0.1, 0.1], reasons=[1, 2])
    found = ask(*pair).findings
    assert blocking(found) == ["not-a-candidate"]
    assert "the 3 candidates" in finding(found, "not-a-candidate").text
    assert "0.600" in finding(found, "not-a-candidate").text


def test_below_the_floor_of_a_run_by_cosine_the_sum_is_shown(pair, project):
    donor, acceptor = pair
    Page.objects.filter(pk=donor.pk).update(category=make_category(project, "Shop", "Tents"))
    Page.objects.filter(pk=acceptor.pk).update(category=make_category(project, "Shop", "Stoves"))
    run_of(project, threshold=0.6, level_penalty=0.02)
    found = ask(*pair).findings
    assert blocking(found) == ["below-floor"]
    text = finding(found, "below-floor").text
    assert "similarity is 0.600, less 0.020 for 1 level up the tree: 0.580" in text
    assert "kept 0.600 and above" in text


def test_an_acceptor_too_far_up_the_tree_says_how_many_levels_it_takes(pair, project):
    donor, acceptor = pair
    Page.objects.filter(pk=donor.pk).update(category=make_category(project, "Shop", "Tents", "Domes"))
    Page.objects.filter(pk=acceptor.pk).update(category=make_category(project, "News"))
    run_of(project, threshold=0.1, levels_up=1)
    found = ask(*pair).findings
    assert blocking(found) == ["too-far"]
    assert "outside the run’s scope: the acceptor is 3 levels up" in finding(found, "too-far").text
    assert "looked 1 level up" in finding(found, "too-far").text


@pytest.mark.parametrize("ranking", ["learned", "formula"])
def test_a_pair_outside_the_scope_of_a_ranked_run_is_told_so_and_over_the_whole_site_it_is_not(ranking, pair, project):
    donor, acceptor = pair
    Page.objects.filter(pk=donor.pk).update(category=make_category(project, "Shop", "Tents"))
    Page.objects.filter(pk=acceptor.pk).update(category=make_category(project, "News"))
    run_of(project, ranking, scope=Scope.LEVELS, levels_up=0)
    found = ask(*pair).findings
    assert blocking(found) == ["too-far"]
    assert "2 levels up the category tree from the donor’s category" in finding(found, "too-far").text
    assert "looked at the donor’s own category only" in finding(found, "too-far").text
    run_of(project, ranking, levels_up=0)
    assert blocking(ask(*pair).findings) == ["not-a-candidate"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"inline_per_donor": 1, "related_per_donor": 1}, "donor-full"),
        ({"per_target": 1}, "acceptor-full"),
        ({"inline_per_donor": 5, "related_per_donor": 1}, "related-full"),
        ({}, "not-found"),
    ],
)
def test_above_the_floor_of_a_run_by_cosine_the_caps_are_looked_at(params, code, pair, project):
    donor, acceptor = pair
    run = run_of(project, threshold=0.5, **params)
    make_edge(project, donor, score=0.9, run=run, placement="inline")
    make_edge(project, donor, score=0.7, run=run, placement="related")
    make_edge(project, None, acceptor, score=0.8, run=run)
    assert blocking(ask(*pair).findings) == [code]


def test_an_import_after_the_newest_run_is_mentioned(pair, project):
    run_of(project, threshold=0.9)
    make_run(project, RunKind.IMPORT_LINKS, finished_at=timezone.now())
    assert "Import links" in finding(ask(*pair).findings, "imported-since").text


# ------------------------------------------------------------------------------------------------ of real runs


def match(project: Project, **params) -> None:
    run = lifecycle.start_run(project, RunKind.MATCH, MatchParams(**params).to_dict(), to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running", started_at=timezone.now())
    run.refresh_from_db()
    run_match(run)


@pytest.fixture
def site(project) -> list[Page]:
    """Pages of three topics over a small tree, whose texts name some others."""
    pages = []
    for number in range(12):
        topic = ("tent", "stove", "boot")[number % 3]
        body = f"A long text on the {topic}. It goes well with {topic} guide {(number + 3) % 12}, says who knows. " * 8
        vector = tuple(float(number % 3 == place) + 0.1 * (number % 4 == place) for place in range(4))
        category = make_category(project, topic, str(number % 2))
        title = f"{topic.title()} guide {number}"
        pages.append(page(project, f"/{topic}/guide-{number}", vector, title=title, body=body, category=category))
    make_link(pages[0], pages[3], "a tent guide")
    ExclusionRule.objects.create(project=project, pattern="guide-11$", side="donor")
    return pages


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param(
            {"ranking": Ranking.COSINE, "levels_up": 1, "inline_per_donor": 0, "related_per_donor": 2, "per_target": 2},
            {"linked", "excluded", "too-far", "donor-full"},
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            {"ranking": Ranking.COSINE, "levels_up": 3, "threshold": 0.9, "inline_per_donor": 5},
            {"linked", "excluded", "below-floor"},
            marks=pytest.mark.nightly,
        ),
        (
            {"ranking": Ranking.FORMULA, "threshold": 0.6, "inline_per_donor": 0, "related_per_donor": 1},
            {"linked", "excluded", "below-floor", "donor-full"},
        ),
    ],
)
def test_after_a_run_every_pair_is_a_suggestion_or_has_a_reason(params, expected, site, project):
    match(project, **params)
    edges = {(edge.source_id, edge.target_id) for edge in project.edges.filter(stale=False)}
    assert edges
    seen = set()
    for donor in site:
        for acceptor in site:
            if donor == acceptor:
                continue
            answer = why_not_pair(project, donor, acceptor)
            has_suggestion = answer.edge is not None
            assert has_suggestion == ((donor.pk, acceptor.pk) in edges)
            codes = blocking(answer.findings)
            assert bool(codes) != has_suggestion, (donor, acceptor, codes)
            assert "not-found" not in codes
            seen |= set(codes)
    assert expected <= seen


# ------------------------------------------------------------------------------------------- addresses as written


@pytest.mark.parametrize(
    "written",
    [
        "https://shop.example/tents/nallo-3", "http://shop.example/tents/nallo-3", "https://shop.example/tents/nallo-3/",
        "HTTPS://Shop.Example/tents/nallo-3", "https://www.shop.example/tents/nallo-3#sizes", "/tents/nallo-3",
        "tents/nallo-3", "shop.example/tents/nallo-3", "  https://shop.example/tents/nallo-3 ",
    ],
)  # fmt: skip
def test_an_address_is_found_however_it_is_written(written, project):
    there = make_page(project, "/tents/nallo-3")
    make_page(make_project("other"), "https://shop.example/tents/nallo-3")
    assert find_page(project, written) == there


def test_an_address_as_crawled_is_found_where_the_key_is_another(project):
    there = make_page(project, "/a?utm_source=x", canonical_url="https://shop.example/a")
    other = make_page(project, "/b/")
    plain = make_page(project, "/b")
    assert find_page(project, "https://shop.example/a?utm_source=x") == there
    assert find_page(project, "https://shop.example/b/") == other
    assert find_page(project, "https://shop.example/b") == plain
    umlaut = make_page(project, "/gr%C3%B6%C3%9Fe")
    assert find_page(project, "https://shop.example/größe") == umlaut


@pytest.mark.parametrize(
    "written", ["", "/", "https://", "http://[", "\x00", "javascript:alert(1)", "x" * 5000, "%", "?"]
)
def test_what_is_no_address_finds_nothing_and_breaks_nothing(written, project):
    make_page(project, "/tents")
    assert find_page(project, written) is None
    nearest_addresses(project, written)


def test_the_nearest_addresses_are_those_of_the_same_name_words_or_folder(project):
    for path in ("/tents/nallo-3", "/tents/allak-2", "/stoves/primus", "/tents/keron/poles", "/magazine/tick-bites"):
        make_page(project, path)
    assert nearest_addresses(project, "/tents/nalo-3")[0].endswith("/tents/nallo-3")
    assert nearest_addresses(project, "/tents/nalo-3", limit=1) == ["https://shop.example/tents/nallo-3"]
    assert nearest_addresses(project, "/shop/old/primus")[0] == "https://shop.example/stoves/primus"
    assert nearest_addresses(project, "/magazin/tik-bites")[0] == "https://shop.example/magazine/tick-bites"
    assert len(nearest_addresses(project, "/nothing", limit=2)) == 2


# ---------------------------------------------------------------------------------------------- page and command


def url(project, **query) -> str:
    from urllib.parse import urlencode

    return f"{reverse('why_not', args=[project.slug])}?{urlencode(query)}"


def test_the_page_answers_by_its_address_alone(pair, project, viewer, client_for):
    run_of(project, threshold=0.9)
    client = client_for(viewer)
    empty = client.get(url(project)).content.decode()
    assert "There is no suggestion" not in empty
    body = client.get(url(project, donor="/donor", acceptor="/acceptor")).content.decode()
    assert 'data-code="below-floor"' in body
    assert "There is no suggestion for this pair." in body
    one = client.get(url(project, acceptor="/acceptor")).content.decode()
    assert "As donor" in one
    assert "As acceptor" in one
    edge = make_edge(project, *pair)
    body = client.get(url(project, donor="/donor", acceptor="/acceptor")).content.decode()
    assert reverse("edge", args=[project.slug, edge.pk]) in body


def test_an_unknown_address_is_answered_with_the_nearest_as_questions(pair, project, viewer, client_for):
    response = client_for(viewer).get(url(project, donor="/donr", acceptor="/acceptor"))
    body = response.content.decode()
    assert response.status_code == 200
    assert "The site has no such donor" in body
    assert "?donor=https%3A%2F%2Fshop.example%2Fdonor&amp;acceptor=%2Facceptor" in body


def test_only_members_ask_and_only_about_their_own_pages(pair, project, outsider, client_for):
    assert client_for(outsider).get(url(project, donor="/donor")).status_code == 404
    assert client_for(outsider).post(url(project)).status_code in {404, 405}
    elsewhere = outsider.projects.get()
    body = client_for(outsider).get(url(elsewhere, donor=pair[0].url)).content.decode()
    assert "no such donor" in body
    assert "As donor" not in body


def test_links_to_what_only_managers_may_open_are_shown_to_managers(pair, project, viewer, manager, client_for):
    run_of(project)
    ExclusionRule.objects.create(project=project, pattern="/donor")
    address = url(project, donor="/donor")
    settings = reverse("settings_exclusions", args=[project.slug])
    assert settings in client_for(manager).get(address).content.decode()
    body = client_for(viewer).get(address).content.decode()
    assert settings not in body
    assert "A manager can do that." in " ".join(body.split())


@pytest.mark.nightly
def test_what_crawls_and_people_write_is_escaped(project, viewer, client_for):
    donor = page(project, "/a", title=HOSTILE, indexability_status=HOSTILE[:20], indexable=False)
    acceptor = page(project, "/b", title=HOSTILE, canonical_link=HOSTILE, indexable=False)
    ExclusionRule.objects.create(project=project, pattern="/a", note=HOSTILE)
    make_link(donor, acceptor, HOSTILE)
    run_of(project)
    client = client_for(viewer)
    for query in ({"donor": "/a", "acceptor": "/b"}, {"donor": "/b"}, {"donor": "/a"}, {"donor": HOSTILE}):
        assert "<script>alert" not in client.get(url(project, **query)).content.decode()
    assert "&lt;script&gt;" in client.get(url(project, donor="/a", acceptor="/b")).content.decode()


@pytest.mark.nightly
def test_a_question_costs_the_same_on_a_large_site_as_on_a_small_one(pair, project, viewer, client_for):
    run = run_of(project, threshold=0.9)
    client, address = client_for(viewer), url(project, donor="/donor", acceptor="/acceptor")

    def cost(question: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(question)
        return len(asked)

    alone = url(project, donor="/donor")
    cost(address)
    before = cost(address), cost(alone)
    for number in range(12):
        other = page(project, f"/other/{number}", category=make_category(project, f"C{number}"))
        make_edge(project, pair[0], other, run=run)
        make_link(pair[0], pair[1], f"end {number}", block=Block.FOOTER)
        ExclusionRule.objects.create(project=project, pattern=f"/x{number}")
        SensitiveRule.objects.create(project=project, url_pattern=f"/y{number}")
    assert (cost(address), cost(alone)) == before
    assert max(before) <= 26


def test_the_lists_of_pages_lead_there(pair, project, viewer, client_for):
    question = f"{reverse('why_not', args=[project.slug])}?donor=https%3A%2F%2Fshop.example%2Fdonor"
    client = client_for(viewer)
    assert question in client.get(reverse("pages", args=[project.slug])).content.decode()
    assert question in client.get(reverse("page", args=[project.slug, pair[0].pk])).content.decode()


def command(*args: str) -> str:
    out = StringIO()
    call_command("why_not", *args, stdout=out)
    return out.getvalue()


def test_the_command_says_what_the_page_says(pair, project):
    run_of(project, threshold=0.9)
    said = command(project.slug, "--donor", "/donor", "--acceptor", "/acceptor")
    assert said.startswith("There is no suggestion for this pair.")
    assert "below-floor Their similarity is 0.600. The newest match run" in said
    assert "(acceptor-links) acceptor: It receives 0 of" in command(project.slug, "--acceptor", "/acceptor")


def test_the_command_refuses_no_address_and_unknown_ones(pair, project):
    with pytest.raises(CommandError, match="Name a page"):
        command(project.slug)
    with pytest.raises(CommandError, match=r"The nearest: https://shop\.example/donor"):
        command(project.slug, "--donor", "/donr")


def test_a_question_counts_no_vectors_of_the_whole_site(pair, project):
    run_of(project)
    ask(*pair)  # the first one keeps the figures of a project that has none
    with CaptureQueriesContext(
        connection,
    ) as asked:
        ask(*pair)
    assert [query["sql"] for query in asked if 'COUNT("linker_pageembedding"' in query["sql"]] == []
