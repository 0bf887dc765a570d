"""Whatever files say of pages, and in whatever order: nothing is lost, nothing leads where no page is any more, and the
sums agree.

Each example is a project of its own, to which files are imported and decisions are made as anywhere.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count, product
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.db.models import Count, F, Sum
from django.db.models.functions import Coalesce
from hypothesis import Phase, example, given
from hypothesis import strategies as st

from ingest import services
from ingest.errors import FileError, ImportStopped
from linker.models import (
    CandidateEdge,
    ExistingLink,
    Page,
    PageAddress,
    PageEvent,
    PageTraffic,
    Project,
    SearchQuery,
    Suppression,
    TrafficPeriod,
)
from linker.models.querysets import ACCEPTED, DECIDED, LIVE_STATUS, OPEN, OUT, PRESENT, PROPOSED, REFUSED, REOPENED, of
from linker.pages.identity import edges
from review.decisions import decide_edges
from review.live import seeing
from review.live.verify import verify
from review.models import Decision, Verb
from review.releases import create, outgoing
from review.releases.create import NothingToExport
from review.rulings import NothingToUndo, Ruling, Shown
from review.undoing import undo
from tests.examples import tried
from tests.factories import make_edge, make_page, make_project
from tests.review.test_drafts import _sum, out

if TYPE_CHECKING:
    from pathlib import Path

    from django.db.models import Q

PAGES = 5
PATHS = [f"/{n}" for n in range(PAGES + 2)]  # two of them are not pages yet
DAY = datetime(2026, 1, 1, tzinfo=UTC)
NUMBERS = count()
PATH = st.integers(0, len(PATHS) - 1)
EVENT = st.tuples(
    st.sampled_from(["created", "changed", "moved", "merged", "redirected", "removed", "restored"]),
    PATH,
    PATH,
    st.integers(0, 4),
)
EVENTS = st.tuples(st.just("events"), st.lists(EVENT, min_size=1, max_size=5))
# What a crawl says of each path: nothing, that it answers, that it is gone, or where it leads, by a redirect or a
# canonical.
ROW = st.one_of(
    st.just(""), st.just("200"), st.just("200"), st.just("404"), st.tuples(st.sampled_from(["301", "canonical"]), PATH)
)
CRAWL = st.tuples(st.just("crawl"), st.lists(ROW, min_size=len(PATHS), max_size=len(PATHS)))
LINKS = st.tuples(st.just("links"), st.lists(st.tuples(PATH, PATH), min_size=1, max_size=4))
NUMBERS_OF = st.tuples(st.just("traffic"), st.lists(PATH, min_size=1, max_size=3))
WORK = st.tuples(
    st.sampled_from(["accept", "accept", "reject", "undo", "release", "withdraw", "reopen", "verify"]),
    st.integers(1, 63),
)
STEPS = st.lists(st.one_of(EVENTS, EVENTS, CRAWL, LINKS, NUMBERS_OF, WORK, WORK), max_size=8)
# A page that was removed is back and names a canonical, while an address begins to redirect to it.
BACK_WITH_A_CANONICAL = [
    ("crawl", ["", "", "", "404", "", "", ""]),
    ("crawl", ["", "200", "", ("canonical", 1), "", "", ("301", 3)]),
]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@given(steps=STEPS)
@example(steps=BACK_WITH_A_CANONICAL)
@tried(40, phases=[Phase.explicit, Phase.generate, Phase.shrink])
def test_nothing_is_lost_and_nothing_leads_nowhere(editor, tmp_path, steps):
    name = f"site-{next(NUMBERS)}"
    project = make_project(name, base_url=f"https://{name}.example")
    made = _begin(project)
    decided: set[int] = set()
    for step, what in steps:
        _act(project, editor, tmp_path, step, what, made)
        now = set(Decision.objects.filter(project=project).values_list("pk", flat=True))
        assert decided <= now
        decided = now
        assert CandidateEdge.objects.filter(project=project).count() == len(made)
        _check(project)
        if step in ("events", "crawl"):
            before = _snapshot(project)
            _act(project, editor, tmp_path, step, what, made)
            assert not _differences(before, _snapshot(project)), "a second time changes nothing"
        before = _snapshot(project)
        assert edges.settle(project) == 0
        assert not _differences(before, _snapshot(project))


def _begin(project: Project) -> list[CandidateEdge]:
    pages = [make_page(project, path, canonical_link=project.base_url + path) for path in PATHS[:PAGES]]
    period = TrafficPeriod.objects.create(project=project, source="analytics", imported_at=DAY)
    for number, page in enumerate(pages):
        PageTraffic.objects.create(period=period, page=page, hits=10**number, clicks=number)
        SearchQuery.objects.create(page=page, query="tents", source="search_console", clicks=10**number)
        SearchQuery.objects.create(page=page, query=f"words {number}", source="search_console", impressions=1)
    pairs = [(s, t) for s, t in product(pages[:3], pages) if s != t][:10]
    return [make_edge(project, s, t, anchor=f"words {s.pk}") for s, t in pairs]


def _check(project: Project) -> None:
    every = CandidateEdge.objects.filter(project=project)
    # Each address is one page's, as its own or as a former one.
    own = Page.objects.filter(project=project).values("canonical_url")
    assert not PageAddress.objects.filter(project=project, canonical_url__in=own).exists()
    assert not Page.objects.filter(project=project, successor__successor__isnull=False).exists()
    # Nothing is with a page that leads to one that lives.
    assert not every.filter(OPEN | ACCEPTED).exclude(of("source", LIVE_STATUS), of("target", LIVE_STATUS)).exists()
    left = [
        every.filter(REFUSED & PROPOSED),
        ExistingLink.objects.filter(of("target", _led_on()), PRESENT, project=project),
        PageTraffic.objects.filter(of("page", _led_on()), page__project=project),
        SearchQuery.objects.filter(of("page", _led_on()), page__project=project),
    ]
    left[0] = left[0].filter(of("source", _led_on()) | of("target", _led_on()))
    assert [list(rows) for rows in left] == [[], [], [], []]
    for side in ("source", "target"):
        ruled_out = Suppression.objects.filter(of(side, _led_on()), project=project, lifted_at=None)
        assert not ruled_out.exists()
    # Nothing is proposed twice, nor released twice but for what is to be withdrawn.
    ends = every.annotate(
        s=Coalesce(F("source__successor"), F("source")), t=Coalesce(F("target__successor"), F("target"))
    )
    proposed = ends.filter(OPEN | ACCEPTED).values("s", "t").annotate(n=Count("pk")).filter(n__gt=1)
    assert not proposed.exists()
    # A link that is out is of the pages that live, unless both are one now, or another link of the two was decided on.
    for edge in ends.filter(OUT).filter(of("source", _led_on()) | of("target", _led_on())):
        assert edge.s == edge.t or every.filter(DECIDED | REOPENED, source=edge.s, target=edge.t).exists()
    assert out(project) == _sum(project)
    summed = PageTraffic.objects.filter(page__project=project, period__source="analytics")
    assert summed.aggregate(Sum("hits"), Sum("clicks")) == {"hits__sum": 11111, "clicks__sum": 10}
    queries = SearchQuery.objects.filter(page__project=project)
    assert queries.aggregate(clicks=Sum("clicks"), shown=Sum("impressions")) == {"clicks": 11111, "shown": PAGES}


def _led_on() -> Q:
    """A page that leads to one that lives."""
    return of("successor", LIVE_STATUS)


def _differences(before: list[Any], after: list[Any]) -> list[Any]:
    """What one of two snapshots alone holds, each with whether it is the later one."""
    return [
        (which, row)
        for old, new in zip(before, after, strict=True)
        for which, rows, others in (("before", old, new), ("after", new, old))
        for row in rows
        if row not in others
    ]


def _snapshot(project: Project) -> list[Any]:
    """All that events may change, as it is."""
    pages = Page.objects.filter(project=project)
    return [
        list(rows)
        for rows in (
            pages.order_by("pk").values_list("pk", "url", "canonical_url", "status", "successor", "state_since"),
            PageAddress.objects.filter(project=project).order_by("url").values_list("page", "url", "until"),
            PageEvent.objects.filter(project=project).order_by("pk").values_list("pk"),
            project.edges.order_by("pk").values_list("pk", "source", "target", "status", "stale", "regressed"),
            PageTraffic.objects.filter(page__in=pages).order_by("period", "page").values_list("page", "clicks", "hits"),
            ExistingLink.objects.filter(project=project).order_by("pk").values_list("pk", "source", "target"),
        )
    ]


def _act(project: Project, editor, tmp_path: Path, step: str, what: Any, made: list[CandidateEdge]) -> None:
    if step in FILES:
        path = tmp_path / "file.csv"
        path.write_text("\n".join(FILES[step](project, what)) + "\n")
        kind = "pages" if step == "crawl" else step
        before = _snapshot(project)
        try:
            services.import_file(project, kind, path, **({"allow_shrink": True} if kind in ("pages", "links") else {}))
        except (FileError, ImportStopped):
            assert not _differences(before, _snapshot(project)), "what is refused changes nothing"
        return
    chosen = project.edges.filter(pk__in=[edge.pk for n, edge in enumerate(made) if what & 1 << n % 6])
    if step in ("accept", "reject"):
        ids = list(chosen.filter(OPEN).values_list("pk", flat=True))
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


def _events(project: Project, rows: list[tuple[str, int, int, int]]) -> list[str]:
    return ["event,url,new_url,at"] + [
        f"{kind},{PATHS[one]},{PATHS[two] if kind in ('moved', 'merged', 'redirected') else ''},"
        f"{(DAY + timedelta(days=day)).isoformat()}"
        for kind, one, two, day in rows
    ]


def _crawl(project: Project, rows: list[Any]) -> list[str]:
    lines = ["Address,Title 1,Status Code,Indexability,Redirect URL,Canonical Link Element 1"]
    for path, says in zip(PATHS, rows, strict=True):
        if not says:
            continue
        url = project.base_url + path
        code, to = says if isinstance(says, tuple) else (says, None)
        elsewhere = project.base_url + PATHS[to] if to is not None else ""
        if code == "canonical":
            indexable = "Indexable" if elsewhere == url else "Non-Indexable"
            lines.append(f"{url},Words,200,{indexable},,{elsewhere}")
        else:
            lines.append(
                f"{url},Words,{code},{'Indexable' if code == '200' else 'Non-Indexable'},{elsewhere},"
                f"{url if code == '200' else ''}"
            )
    return lines


def _links(project: Project, rows: list[tuple[int, int]]) -> list[str]:
    url = project.base_url
    return ["Source,Destination,Anchor,Link Position"] + [
        f"{url}{PATHS[one]},{url}{PATHS[two]},words,Content" for one, two in rows
    ]


def _traffic(project: Project, rows: list[int]) -> list[str]:
    return ["url,clicks"] + [f"{project.base_url}{PATHS[one]},7" for one in rows]


FILES = {"events": _events, "crawl": _crawl, "links": _links, "traffic": _traffic}
