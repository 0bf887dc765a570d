"""Whatever happens to pages, and in whatever order: nothing is lost, nothing open leads nowhere, and the sums agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ingest.kinds.events.telling import BadEvent, Telling
from ingest.kinds.pages import moves
from ingest.kinds.project_pages import find_pages
from ingest.kinds.sql import execute
from linker.models import (
    CandidateEdge,
    EventOrigin,
    Page,
    PageEventKind,
    PageTraffic,
    Project,
    SearchQuery,
    TrafficPeriod,
)
from linker.models.querysets import ACCEPTED, LIVE_STATUS, OPEN, of
from linker.pages.identity import edges
from linker.pages.identity.record import record
from linker.storage.edge_counts import recount
from review.decisions import decide_edges
from review.live import seeing
from review.live.verify import verify
from review.models import Decision, Verb
from review.releases import create, outgoing
from review.releases.create import NothingToExport
from review.rulings import NothingToUndo, Ruling, Shown
from review.undoing import undo
from tests.factories import make_edge, make_page
from tests.review.test_drafts import _sum, out

PAGES = 5
PATHS = [f"/{n}" for n in range(PAGES + 2)]  # two of them are not pages yet
DAY = datetime(2026, 1, 1, tzinfo=UTC)
STEP = st.one_of(
    st.tuples(
        st.sampled_from(["redirected", "merged", "removed", "restored", "crawl"]), *[st.integers(0, PAGES + 1)] * 2
    ),
    st.tuples(
        st.sampled_from(["accept", "reject", "undo", "release", "withdraw", "reopen", "verify"]),
        st.integers(1, 63),
        st.just(0),
    ),
)


@pytest.mark.django_db
@given(steps=st.lists(STEP, max_size=12))
@settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_nothing_is_lost_and_nothing_leads_nowhere(project, editor, steps):
    with transaction.atomic():
        pages = [make_page(project, path) for path in PATHS[:PAGES]]
        period = TrafficPeriod.objects.create(project=project, source="hits", imported_at=DAY)
        for number, page in enumerate(pages):
            PageTraffic.objects.create(period=period, page=page, hits=10**number, clicks=number)
            SearchQuery.objects.create(page=page, query="tents", source="search_console", clicks=10**number)
            SearchQuery.objects.create(page=page, query=f"words {number}", source="search_console", impressions=1)
        pairs = [(s, t) for s, t in product(pages[:3], pages) if s != t][:10]
        made = [make_edge(project, s, t, anchor=f"words {s.pk}") for s, t in pairs]
        decided: set[int] = set()
        for number, (step, one, two) in enumerate(steps):
            _act(project, editor, step, one, two, DAY + timedelta(days=number), made)
            edges.settle(project)
            now = set(Decision.objects.values_list("pk", flat=True))
            assert decided <= now
            decided = now
            dead = project.edges.filter(OPEN | ACCEPTED).exclude(of("source", LIVE_STATUS), of("target", LIVE_STATUS))
            assert not dead.exists()
            assert CandidateEdge.objects.filter(project=project).count() == len(made)
            assert out(project) == _sum(project)
            assert PageTraffic.objects.aggregate(Sum("hits"), Sum("clicks")) == {"hits__sum": 11111, "clicks__sum": 10}
            assert SearchQuery.objects.aggregate(clicks=Sum("clicks"), shown=Sum("impressions")) == {
                "clicks": 11111,
                "shown": PAGES,
            }
            assert not Page.objects.filter(successor__successor__isnull=False).exists()
            assert edges.settle(project) == 0, "a second time changes nothing"
        transaction.set_rollback(True)


def _act(project: Project, editor, step: str, one: int, two: int, at: datetime, made: list[CandidateEdge]) -> None:
    chosen = project.edges.filter(pk__in=[edge.pk for n, edge in enumerate(made) if one & 1 << n % 6])
    if step in PageEventKind.values:
        _tell(project, PageEventKind(step), one, two, at)
    elif step == "crawl":
        _crawl(project, one, two)
    elif step in ("accept", "reject"):
        ids = list(chosen.filter(status="suggested").values_list("pk", flat=True))
        ruling = Ruling(reason="irrelevant" if step == "reject" else "")
        if ids:
            decide_edges(project, ids, Verb(step), editor, ruling, Shown("suggested"))
    elif step == "undo":
        try:
            undo(project, editor)
        except NothingToUndo:
            return
    elif step == "release":
        try:
            with transaction.atomic():
                create.create_release(project, chosen, user=editor)
        except NothingToExport:
            return
    elif step == "withdraw":
        outgoing.withdraw(project, chosen, editor)
    elif step == "reopen":
        seeing.reopen(project, list(chosen.values_list("pk", flat=True)), editor, "")
    elif step == "verify":
        verify(project)


def _tell(project: Project, kind: PageEventKind, one: int, two: int, at: datetime) -> None:
    telling = Telling(project, find_pages(project, "events", first=""))
    try:
        telling.tell(kind, PATHS[one], at, PATHS[two])
    except BadEvent:
        return
    telling.story.write()
    record(project, EventOrigin.FILE)


def _crawl(project: Project, one: int, two: int) -> None:
    """The crawl finds that one page redirects to another, or, to itself, that it answers."""
    at = timezone.now()
    finder = find_pages(project, "pages", first="")
    page = finder.find(PATHS[one])
    if not isinstance(page, int):
        return
    to = "" if one == two else project.base_url + PATHS[two]
    Page.objects.filter(pk=page).update(last_seen_at=at, redirect_url=to, status_code=301 if to else 200)
    finder = find_pages(project, "pages", first="")
    execute("CREATE TEMP TABLE stage_naming (id bigint)")
    moves.tell(project, finder.moves, at, None, answers=True)
    recount(project)
