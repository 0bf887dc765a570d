"""The later crawls of the sample site: what becomes of the links that its editors release."""

from __future__ import annotations

import gzip

import pytest
from django.core.management import call_command

from ingest import services
from ingest.folder import SAMPLE, find_crawl
from ingest.sample.later import CRAWLS, build, read_released
from linker.models import CandidateEdge, PageAddress, Run, RunKind
from review.live.verify import verify
from review.models import LiveState, PublishedLink
from tests.factories import make_edge, make_member, make_project, make_run
from tests.follow_ups import follow_up

SITE = "https://www.fernpeak.example"


@pytest.mark.nightly
def test_the_files_are_what_the_builder_makes(tmp_path):
    build(tmp_path)
    for name in CRAWLS:
        for file in (SAMPLE / name).iterdir():
            made, kept = (tmp_path / name / file.name).read_bytes(), file.read_bytes()
            if file.suffix == ".gz":
                made, kept = gzip.decompress(made), gzip.decompress(kept)
            assert made == kept, file


@pytest.fixture
def site(db):
    """The sample after its first crawl, with a suggestion for each link that its editors release."""
    project = make_project("fernpeak", base_url=SITE)
    make_member(project, "manager", username="mara")
    crawl = find_crawl(SAMPLE)
    load(project, crawl)
    pages = {page.url: page for page in project.pages.defer("body")}
    for link in read_released():
        make_edge(
            project, pages[SITE + link.donor], pages[SITE + link.acceptor], anchor=link.anchor, placement="inline"
        )
    return project, crawl


def load(project, crawl) -> None:
    run = make_run(project, RunKind.IMPORT_PAGES)
    services.import_file(project, "pages", crawl.pages, run=run)
    follow_up(run)  # links follow their pages
    services.import_file(project, "links", crawl.links)


def states(project) -> dict[tuple[str, str], str]:
    """By the addresses that pages had first."""
    before = {row.page_id: row.url for row in PageAddress.objects.filter(project=project).order_by("-until")}
    rows = PublishedLink.objects.filter(project=project).select_related("edge__source", "edge__target")
    found = [([before.get(page.pk, page.url) for page in (row.edge.source, row.edge.target)], row) for row in rows]
    return {(pair[0].removeprefix(SITE), pair[1].removeprefix(SITE)): row.state for pair, row in found}


def expected(crawl: int) -> dict[tuple[str, str], str]:
    """What each crawl shows of each link, by what is known of it."""
    of_pages = {
        "/magazine/reading-an-avalanche-forecast/": LiveState.MOVED,
        "/magazine/reading-contour-lines/": LiveState.MOVED,
        "/shop/p/ullstad-waterproof-sock/": LiveState.TARGET_GONE,
        "/magazine/field-repairs/": LiveState.DONOR_GONE,
    }
    of_links = {
        "live": LiveState.LIVE,
        "words": LiveState.DIFFERENT,
        "nofollow": LiveState.DIFFERENT,
        "aside": LiveState.MISSING,
        "": LiveState.MISSING,
    }
    said = {}
    for link in read_released():
        shown = link.shown[crawl]
        state = of_pages.get(link.acceptor) or of_pages.get(link.donor) or of_links[shown]
        if crawl == 1 and link.withdrawn:
            state = LiveState.STILL_THERE if shown else LiveState.REMOVED
        elif crawl == 1 and link.shown == ("live", ""):
            state = LiveState.LOST
        said[link.donor, link.acceptor] = state
    return said


@pytest.mark.nightly
def test_the_crawls_show_every_state_that_a_released_link_can_be_in(site):
    project, crawl = site
    seen = set()
    for number, later in enumerate(crawl.later):
        call_command("decide_links", "fernpeak", later.decisions, user="mara")
        seen |= set(states(project).values())
        load(project, later.crawl)
        verify(project)

        assert states(project) == expected(number)
        seen |= set(states(project).values())
    # Acceptors that are gone while their links stay, or are kept from search engines, are in tests/review/test_live.py.
    assert seen == set(LiveState) - {LiveState.DEAD, LiveState.NOT_INDEXABLE}
    assert project.releases.count() == 2
    lost = CandidateEdge.objects.get(project=project, published__state=LiveState.LOST)
    assert (lost.status, lost.regressed) == ("suggested", True)


@pytest.mark.nightly
def test_decisions_that_were_made_are_not_made_again(site, capsys):
    project, crawl = site
    for _time in range(2):
        call_command("decide_links", "fernpeak", crawl.later[0].decisions, user="mara")

    assert "0 of 13 links decided.\nNothing is ready to export" in capsys.readouterr().out
    assert project.releases.count() == 1
    assert not Run.objects.filter(project=project, status="failed").exists()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,b,words,follow,publish", "a decision is “accept” or “withdraw”, not “publish”"),
        ("a,b,words,loud,accept", "a rel is one of follow, nofollow, ugc, not “loud”"),
    ],
)
def test_rows_that_are_not_understood_are_refused(project, editor, tmp_path, row, said):
    file = tmp_path / "decisions.csv"
    file.write_text(f"donor_url,acceptor_url,anchor_text,rel,decision\n{row}\n")
    with pytest.raises(Exception, match=said):
        call_command("decide_links", project.slug, file, user=editor.username)
