"""What editors decide moves the probabilities of links of that kind, and the queue does not collapse."""

from __future__ import annotations

import html
import re
from collections import Counter

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from linker.embedding.service import embedding_model
from linker.engine.params import MatchParams
from linker.engine.ranking.calibration import DIGIT, SOURCES, Family
from linker.matching.changes_run import run_changes
from linker.matching.changes_start import start_changes
from linker.matching.eligibility import eligible_pages
from linker.matching.kept_runs import standing_run
from linker.matching.lessons import ROLES, decisions, kept_lesson, lesson_of, open_links
from linker.matching.ranked import load_site
from linker.matching.report_types import MatchReport
from linker.models import CandidateEdge, ExclusionRule, LearningChoice, Page, Project, Run, Side
from linker.models.querysets import OPEN, TO_REVIEW
from linker.projects.learning import KindRow, next_match
from linker.projects.queue_sum import queue_sum
from tests.factories import make_member
from tests.guides import guides_once, match, matched_once, site
from tests.guides import matched_project as project

pytestmark = pytest.mark.django_db
__all__ = ["guides_once", "matched_once", "project", "site"]

HUBS = 20  # every sixth guide to begin with, as if they were lists


SHOWN_FROM = 0.6  # lower than by default: so small a site has few surer links, and these tests need some hundred cards


def make_hubs(project: Project) -> set[int]:
    """Guides of one topic, which are linked to one another, so that they may give and receive links; and a queue that
    shows links from SHOWN_FROM."""
    likely = project.tiers.get(name="Likely", basis=project.tier_basis)
    project.tiers.filter(pk=likely.pk).update(lower_bound=SHOWN_FROM)
    project.edges.filter(OPEN, probability__gte=SHOWN_FROM).update(tier=likely)
    project.role_links = {"hub": {"gives": "yes", "receives": "name"}}
    project.save(update_fields=["role_links"])
    hubs = set(project.pages.order_by("pk").values_list("pk", flat=True)[: HUBS * 6 : 6])
    Page.objects.filter(pk__in=hubs).update(role="hub")
    return hubs


def decide(edge: CandidateEdge, *, accept: bool, reason: str = "irrelevant") -> None:
    status = "accepted" if accept else "rejected"
    CandidateEdge.objects.filter(pk=edge.pk).update(status=status, reviewed=True, rejected_for="" if accept else reason)


def shown(project: Project) -> dict[tuple[int, int], CandidateEdge]:
    return {(edge.source_id, edge.target_id): edge for edge in project.edges.filter(TO_REVIEW).order_by("-score", "id")}


def decide_80(project: Project, hubs: set[int]) -> set[tuple[int, int]]:
    """A careful editor's first 80 cards: no link to a hub, and eleven in twelve of the others."""
    for number, edge in enumerate(list(shown(project).values())[:80]):
        decide(edge, accept=edge.target_id not in hubs and number % 12 != 0)
    return set(shown(project))


def test_decisions_on_pages_that_may_receive_no_links_by_now_teach_nothing(project, site):
    hubs = make_hubs(project)
    decide_80(project, hubs)
    of_hubs = {row["target"] for row in decisions(project)} & hubs
    assert of_hubs
    excluded = min(of_hubs)
    ExclusionRule.objects.create(project=project, pattern=f"{Page.objects.get(pk=excluded).url}$", side=Side.ACCEPTOR)
    assert {row["target"] for row in decisions(project)} & hubs == of_hubs - {excluded}
    Page.objects.filter(pk__in=hubs).update(role="utility")
    assert not {row["target"] for row in decisions(project)} & hubs


def test_poor_anchors_move_words_and_no_pair(project, site):
    source = (
        project.edges.filter(OPEN, span_start__isnull=False)
        .order_by("-score")
        .values_list("anchor_source", flat=True)[0]
    )
    for edge in project.edges.filter(OPEN, span_start__isnull=False, anchor_source=source).order_by("-score")[:12]:
        decide(edge, accept=False, reason="bad_anchor")
    lesson = lesson_of(project, decisions(project), open_links(project))
    assert lesson.shift == 0
    assert lesson.shifts[Family.WORDS, SOURCES.index(source)] < 0
    assert all(shift == 0 for (family, _), shift in lesson.shifts.items() if family in (Family.TO, Family.FROM))


def traits_of(edge: CandidateEdge) -> dict[Family, int]:
    """Its kinds, as a match told them."""
    return {family: edge.evidence["traits"] // digit % 10 - 1 for family, digit in DIGIT.items()}


def test_a_match_tells_the_traits_of_words_and_decisions_on_them_move_that_kind(project, site):
    in_text = list(project.edges.filter(OPEN, span_start__isnull=False).order_by("-score")[:40])
    assert all(edge.evidence["traits"] > 1000 for edge in in_text)
    assert all(traits_of(edge)[Family.CAPITALS] == 0 for edge in in_text if edge.anchor == edge.anchor.lower())
    beside = project.edges.filter(OPEN, span_start__isnull=True)
    assert all(1 <= edge.evidence["traits"] <= 4 for edge in beside)

    far, near = beside.filter(evidence__traits=1), beside.filter(evidence__traits=4)
    for edge in far:
        decide(edge, accept=False)
    for edge in near.order_by("-score")[:20]:
        decide(edge, accept=True)
    lesson = lesson_of(project, decisions(project), open_links(project))
    assert lesson.shifts[Family.NEARNESS, 0] < 0
    assert lesson.shifts.get((Family.NEARNESS, 3), 0.0) >= 0


def test_words_that_an_editor_wrote_are_of_no_kind_of_words(project, site):
    edge = project.edges.filter(OPEN, span_start__isnull=False).order_by("-score")[0]
    decide(edge, accept=True)
    assert decisions(project)[Family.TITLE.value].tolist() == [traits_of(edge)[Family.TITLE]]
    CandidateEdge.objects.filter(pk=edge.pk).update(edited=True)
    known = decisions(project)
    assert known[Family.TITLE.value].tolist() == known[Family.CAPITALS.value].tolist() == [-1]
    assert known[Family.NEARNESS.value].tolist() == [traits_of(edge)[Family.NEARNESS]]


def test_links_to_a_page_whose_links_were_rejected_are_shown_less_and_others_as_before(project, site):
    waiting = list(shown(project).values())
    page = Counter(edge.target_id for edge in waiting).most_common(1)[0][0]
    to_page = [edge for edge in waiting if edge.target_id == page]
    others = [edge for edge in waiting if edge.target_id != page]
    assert len(to_page) > 2
    for edge in to_page[:-1]:
        decide(edge, accept=False)
    for edge in others[:30]:
        decide(edge, accept=True)
    run = match(project)
    report = MatchReport.from_json(run.report).approval
    moved = {int(one): shifts for one, *shifts in report.of_pages}
    assert min(moved[page]) < -0.5 < 0 < max(moved[others[0].target_id])
    assert kept_lesson(report).acceptors.of(np.array([page])).tolist() == [moved[page]]
    left = CandidateEdge.objects.get(pk=to_page[-1].pk)
    assert left.probability < left.evidence["stated"] - 0.05
    # Said as one kind of link, with one way back.
    row = next(row for row in next_match(project).rows if row.family == Family.ACCEPTOR)
    assert row.decisions >= len(to_page) - 1 + 30
    LearningChoice.objects.create(project=project, family=Family.ACCEPTOR, code=0, counts=False)
    assert not len(lesson_of(project, decisions(project), open_links(project)).acceptors.pages)
    assert not next(row for row in next_match(project).rows if row.family == Family.ACCEPTOR).counts


def test_a_match_of_what_changed_stays_on_the_scale_of_the_standing_run(project, site):
    pages, _ = site
    for edge in project.edges.filter(OPEN).order_by("-score", "id")[:40]:
        decide(edge, accept=False)
    Page.objects.filter(pk=pages[3].pk).update(body=f"{pages[3].body}\nA new end.")
    run = start_changes(project, to_queue=False)
    Run.objects.filter(pk=run.pk).update(status="running")
    assert run_changes(run).donors
    anew = [edge for edge in project.edges.filter(OPEN, source=pages[3]) if edge.evidence["stated"] > 0]
    assert anew
    beside = [edge for edge in anew if edge.span_start is None]
    assert all(edge.probability == pytest.approx(edge.evidence["stated"], abs=1e-6) for edge in beside)
    assert kept_lesson(MatchReport.from_json(standing_run(project).report).approval).decisions == 0


# ---------------------------------------------------------------------------------- what is said, and the way back


def hub_row(found) -> KindRow:
    return next(row for row in found.rows if row.family == "receiver" and row.code == ROLES.index("hub"))


def shows_what_the_editor_had_nothing_against(run: Run, waiting: set[tuple[int, int]], hubs: set[int]) -> bool:
    """After 80 decisions: of what waited, at least four in five that lead to no hub are still there."""
    others = {pair for pair in waiting if pair[1] not in hubs}
    return len(waiting) > 40 and len(others & set(shown(run.project))) >= 0.8 * len(others)


def test_what_left_is_said_by_kind_before_and_after_the_match_and_comes_back_with_one_click(project, site, client):
    hubs = make_hubs(project)
    assert queue_sum(project) is None
    before = decide_80(project, hubs)
    to_hubs = {pair for pair in before if pair[1] in hubs}
    assert len(to_hubs) >= 5
    told = next_match(project)
    assert (told.decisions, told.before) == (80, len(before))
    assert (hub_row(told).before, hub_row(told).approved) == (len(to_hubs), 0)
    assert hub_row(told).now < hub_row(told).before

    run = match(project)
    assert shows_what_the_editor_had_nothing_against(run, before, hubs)
    kinds = {(kind.family, kind.code): kind for kind in MatchReport.from_json(run.report).approval.kinds}
    learned = kinds[Family.RECEIVER, ROLES.index("hub")]
    assert learned.approved == 0 < learned.decisions
    assert learned.shift < -0.4
    said = queue_sum(project)
    assert (said.before, said.now) == (len(before), len(shown(project)))
    kept = {pair for pair in shown(project) if pair[1] in hubs}

    client.force_login(make_member(project, "manager"))
    overview = client.get(reverse("project", args=[project.slug])).content.decode()
    # Most hubs that were linked to are linked from hubs: each suggestion is told of under one kind.
    assert re.search(r"Links (to|from) pages with the role “Hub”: \d+ of \d+ rejected", overview)
    assert "Disregard these decisions" in overview
    kind = {"family": "receiver", "code": str(ROLES.index("hub"))}
    page = client.post(reverse("learning_choose", args=[project.slug]), kind | {"counts": "no"}, follow=True)
    assert "Count these decisions again" in page.content.decode()
    assert project.changes.order_by("-pk").first().subject == "Decisions: Links to pages with the role “Hub”"
    assert not {row["target"] for row in decisions(project)} & hubs
    loaded = load_site(
        project, embedding_model(project), eligible_pages(project, embedding_model(project), MatchParams())
    )
    assert not set(loaded.ids[loaded.site.rejected.dst].tolist()) & hubs
    match(project)
    back = {pair for pair in shown(project) if pair[1] in hubs}
    assert len(back) > len(kept)

    client.post(reverse("learning_choose", args=[project.slug]), kind | {"counts": "yes"})
    assert {row["target"] for row in decisions(project)} & hubs
    assert LearningChoice.objects.filter(project=project).count() == 2


def test_the_kinds_that_move_the_queue_come_first_each_with_links_that_it_moves(project, site, client):
    hubs = make_hubs(project)
    waiting = decide_80(project, hubs)
    told = next_match(project)
    assert told.first
    assert len(told.rows) == len(told.first) + len(told.more)
    assert [abs(row.moved) for row in told.first] == sorted((abs(row.moved) for row in told.first), reverse=True)
    assert all(row.moved and 1 <= len(row.examples) <= 3 for row in told.first)
    named = [example.pk for row in told.first for example in row.examples]
    assert len(named) == len(set(named))  # each suggestion that leaves or comes is counted under one kind
    assert min(row.moved for row in told.first if row.family in ("giver", "receiver")) < 0
    for row in told.first:
        for example in row.examples:
            edge = CandidateEdge.objects.get(pk=example.pk)
            assert ((edge.source_id, edge.target_id) in waiting) == (row.moved < 0)
            assert (example.words, f"{example.acceptor} | Shop") == (edge.anchor, edge.target.title)
    client.force_login(make_member(project, "viewer"))
    with CaptureQueriesContext(connection) as queries:
        page = client.get(reverse("learning", args=[project.slug])).content.decode()
    assert len(queries) < 40
    first, more = page.split("<details")[-2:] if told.more else (page, "")
    for row in told.first:
        assert f"/p/{project.slug}/queue/{row.examples[0].pk}/" in first
    assert all(html.escape(row.name) in more for row in told.more)
    assert re.search(r"Takes [\d,]+ suggestions? out of the queue", first)


def test_of_a_kind_that_moves_nothing_in_or_out_the_examples_are_links_that_are_shown(project, site):
    waiting = list(shown(project).values())
    for edge in waiting[:6]:
        decide(edge, accept=True)
    told = next_match(project)
    quiet = [row for row in told.rows if not row.moved and row.before]
    assert quiet
    open_now = {edge.pk for edge in shown(project).values()}
    assert all(row.examples and {example.pk for example in row.examples} <= open_now for row in quiet)


@pytest.mark.parametrize("code", ["9", "-1", "x", ""])
def test_a_kind_that_is_none_changes_nothing(project, site, client, code):
    client.force_login(make_member(project, "manager"))
    page = client.post(
        reverse("learning_choose", args=[project.slug]),
        {"family": "receiver", "code": code, "counts": "no"},
        follow=True,
    )
    assert "there is no such kind of link" in page.content.decode()
    assert not LearningChoice.objects.exists()
