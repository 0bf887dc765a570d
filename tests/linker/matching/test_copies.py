"""Pages that are one page more than once are listed, never suggested to each other, and one of them is the target."""

from __future__ import annotations

import csv
import io
import random

import pytest

from linker.engine.allocation.allocate import Reason
from linker.engine.params import MatchParams, PageFilter, Ranking
from linker.errors import UserError
from linker.explain.page import why_not_page
from linker.explain.pair import why_not_pair
from linker.matching.start import run_match
from linker.models import CandidateEdge, Change, PageGroup, PageTwin, RunKind, UnallocatedPairs
from linker.pages import copies
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_edge, make_link, make_model, make_page, make_project

pytestmark = pytest.mark.django_db

TOPICS = ("tent", "stove", "kayak", "rope")


def words(seed: int, count: int = 120) -> str:
    chance = random.Random(seed)
    syllables = [first + vowel + last for first in "bcdfgklmnp" for vowel in "aeiou" for last in "lmnrst"]
    return " ".join(f"{chance.choice(syllables)}{chance.choice(syllables)}" for _ in range(count))


@pytest.fixture
def shop(project):
    """Guides, and three jackets that differ in their colour: the blue one has a link."""
    category, model = make_category(project, "Outdoor"), make_model(4)
    pages = {}

    def add(path: str, title: str, body: str, **fields):
        name = path.rsplit("/", 1)[1]
        pages[name] = make_page(project, path, title=title, body=body, category=category, **fields)
        embed(pages[name], [1, random.Random(path).random() / 4, 0, 0], model)

    for number in range(6):
        add(f"/guides/{TOPICS[number % 4]}-{number}", f"Guide {number} to the Fjell rain jacket",
            f"{words(number)}. The Fjell rain jacket keeps you dry. {words(number + 50)}.")  # fmt: skip
    for colour, inlinks in (("red", 0), ("blue", 1), ("green", 0)):
        add(f"/p/jacket-{colour}", f"Fjell rain jacket {colour}", f"A {colour} jacket. {words(99)}", inlinks=inlinks)
    make_link(pages["tent-0"], pages["jacket-blue"], "Fjell rain jacket")
    return pages


def match(project, ranking: Ranking = Ranking.COSINE, **params):
    values = MatchParams(**{"ranking": ranking, "threshold": 0.0, **params}).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    run.refresh_from_db()
    return run


def suggested(project) -> set[tuple[str, str]]:
    edges = CandidateEdge.objects.filter(project=project, stale=False).select_related("source", "target")
    return {(edge.source.url.rsplit("/", 1)[1], edge.target.url.rsplit("/", 1)[1]) for edge in edges}


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", [Ranking.COSINE, Ranking.FORMULA, Ranking.LEARNED])
def test_variants_are_one_target_and_never_linked_with_each_other(project, shop, ranking):
    run = match(project, ranking)
    pairs = suggested(project)
    assert pairs
    jackets = {pair for pair in pairs if pair[1].startswith("jacket")}
    assert {target for _, target in jackets} == {"jacket-blue"}, "the one with most links in stands for all"
    assert not any(source.startswith("jacket") for source, _ in jackets)
    assert ("tent-0", "jacket-blue") not in pairs, "linked already"
    told = run.report["copies"]
    assert (told["groups"], told["variant_pages"], told["pages_held_out"]) == (1, 3, 2)


def test_open_suggestions_within_a_group_go_stale_with_the_next_run(project, shop):
    inside = make_edge(project, shop["jacket-red"], shop["jacket-blue"])
    to_another = make_edge(project, shop["rope-3"], shop["jacket-red"])
    outside = make_edge(project, shop["rope-3"], shop["stove-1"])
    decided = make_edge(project, shop["kayak-2"], shop["jacket-green"], status="accepted", reviewed=True)
    elsewhere = PageFilter(url_pattern="/guides/tent-0")
    match(project, donors=elsewhere)  # a run over a part: the others it could not have proposed
    states = {edge.pk: edge.stale for edge in CandidateEdge.objects.filter(project=project)}
    assert (states[inside.pk], states[to_another.pk]) == (True, True)
    assert (states[outside.pk], states[decided.pk]) == (False, False)


def test_a_donor_that_has_a_link_to_one_of_a_group_is_given_no_other(project, shop):
    make_edge(project, shop["rope-3"], shop["jacket-red"], status="accepted", reviewed=True)
    make_edge(project, shop["kayak-2"], shop["jacket-green"], status="rejected", reviewed=True)
    match(project)
    pairs = suggested(project)
    assert ("rope-3", "jacket-blue") not in pairs
    assert ("kayak-2", "jacket-blue") not in pairs
    assert ("stove-1", "jacket-blue") in pairs


@pytest.mark.parametrize("ranking", [Ranking.COSINE, Ranking.FORMULA])
def test_of_translations_a_donor_gets_the_best_one_alone(project, ranking):
    category, model = make_category(project, "Outdoor"), make_model(4)
    pages = {}
    for number, (path, language, vector) in enumerate(
        [
            ("/en/tents", "en", [1, 0.1, 0, 0]),
            ("/de/tents", "de", [1, 0.2, 0, 0]),
            ("/fr/tents", "fr", [1, 0.3, 0, 0]),
            ("/donor", "en", [1, 0, 0, 0]),
        ]
    ):
        text = f"{words(number)}. All about tents. {words(number + 9)}"
        pages[path] = make_page(
            project, path, title=f"Tents {language}", language=language, body=text, category=category
        )
        embed(pages[path], vector, model)
    run = match(project, ranking)
    given = project.edges.get(source=pages["/donor"]).target
    assert given != pages["/donor"]
    assert not project.edges.filter(source__url__endswith="tents", target__url__endswith="tents").exists()
    assert run.report["copies"]["pairs_held_out"] >= 2
    if ranking is Ranking.FORMULA:
        left = UnallocatedPairs.objects.get(run=run, source=pages["/donor"].pk)
        assert Reason.SAME_GROUP in left.reasons
        other = next(page for path, page in pages.items() if path != "/donor" and page != given)
        found = why_not_pair(project, pages["/donor"], other).findings
        assert "other-of-group" in {finding.code for finding in found}


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["linked", "rejected"])
def test_why_not_says_that_another_page_of_the_group_settles_it(project, shop, how):
    match(project)
    donor = shop["rope-3"]
    CandidateEdge.objects.filter(source=donor).delete()
    if how == "linked":
        make_link(donor, shop["jacket-red"], "jacket")
    else:
        make_edge(project, donor, shop["jacket-red"], status="rejected")
    found = {finding.code: finding for finding in why_not_pair(project, donor, shop["jacket-green"]).findings}
    assert f"{shop['jacket-red'].url} is a variant of the acceptor" in found["group-settled"].text


@pytest.mark.nightly
def test_why_not_says_what_the_page_is_and_of_which(project, shop):
    match(project)
    of_page = {finding.code: finding for finding in why_not_page(project, shop["jacket-red"])}
    assert f"a variant of {shop['jacket-blue'].url}" in of_page["variant"].text
    assert of_page["variant"].blocking
    lead = {finding.code: finding for finding in why_not_page(project, shop["jacket-blue"])}
    assert "2 other pages" in lead["lead"].text
    pair = why_not_pair(project, shop["jacket-red"], shop["jacket-green"]).findings
    assert "same-group" in {finding.code for finding in pair}
    assert any(f"a variant of the donor, {shop['jacket-red'].url}" in finding.text for finding in pair)


@pytest.mark.nightly
def test_a_word_that_pages_differ_holds_in_later_runs_and_is_logged(project, shop, manager):
    match(project)
    group = PageGroup.objects.get(project=project)
    copies.keep_apart(project, group.pk, user=manager)
    assert not PageGroup.objects.filter(project=project).exists()
    match(project)
    assert not PageGroup.objects.filter(project=project).exists()
    assert ("jacket-red", "jacket-blue") in suggested(project)
    change = Change.objects.get(project=project, kind="copies")
    assert (change.user, change.before["pages"], change.after) == (manager, 3, {})
    assert shop["jacket-red"].url in change.before["addresses"]


@pytest.mark.nightly
def test_one_page_can_leave_its_group(project, shop, manager):
    match(project)
    group = PageGroup.objects.get(project=project)
    copies.keep_apart(project, group.pk, shop["jacket-blue"].pk, manager)
    assert set(PageTwin.objects.values_list("page", flat=True)) == {shop["jacket-red"].pk, shop["jacket-green"].pk}
    assert PageTwin.objects.filter(lead=True, receives=True).count() == 1
    match(project)
    assert set(PageTwin.objects.values_list("page", flat=True)) == {shop["jacket-red"].pk, shop["jacket-green"].pk}


@pytest.mark.nightly
def test_the_word_can_be_taken_back(project, shop, manager):
    match(project)
    word = copies.keep_apart(project, PageGroup.objects.get(project=project).pk, user=manager)
    copies.take_back(project, word.pk, manager)
    match(project)
    assert PageGroup.objects.get(project=project).pages == 3
    assert Change.objects.filter(project=project, kind="copies").count() == 2
    with pytest.raises(UserError, match="taken back already"):
        copies.take_back(project, word.pk, manager)


def test_a_group_that_is_gone_is_an_error_for_the_user(project, shop):
    match(project)
    with pytest.raises(UserError, match="a match run has replaced it"):
        copies.keep_apart(project, 10**9)
    other = make_project(slug="other")
    with pytest.raises(UserError):
        copies.keep_apart(other, PageGroup.objects.get(project=project).pk)


@pytest.mark.nightly
def test_a_run_replaces_the_groups_of_its_project_alone(project, shop):
    other = make_project(slug="other")
    for path in ("/a", "/b"):
        embed(make_page(other, path, title="Our new team", body=words(5)), [1, 0, 0, 0], make_model(4))
    match(other)
    match(project)
    match(project)
    assert PageGroup.objects.filter(project=other).count() == 1
    assert PageGroup.objects.filter(project=project).count() == 1


@pytest.mark.nightly
def test_the_list_shows_filters_and_pages_the_groups(project, shop, viewer, client_for, monkeypatch):
    monkeypatch.setattr(copies, "GROUPS_SHOWN", 1)
    model = make_model(4)
    for path in ("/a", "/b"):
        embed(make_page(project, path, title="Our new team", body=words(5)), [0, 1, 0, 0], model)
    match(project)
    client = client_for(viewer)

    def shown(query: str = "") -> str:
        return " ".join(client.get(f"/p/{project.slug}/copies/{query}").content.decode().split())

    first = shown()
    assert "3 variants" in first
    assert "Our new team" not in first
    query = copies.group_list(project, copies.CopiesQuery())[1]
    second = shown(f"?after={query}")
    assert "2 near-copies" in second
    assert "3 variants" not in second
    assert "2 near-copies" in shown("?kind=copy")
    assert "3 variants" in shown("?q=jacket-red")
    assert "No groups match these filters" in shown("?q=nothing")
    assert "Not the same" not in first, "only managers may say so"


@pytest.mark.nightly
def test_the_file_holds_every_page_of_every_group(project, shop, viewer, client_for):
    match(project)
    answer = client_for(viewer).get(f"/p/{project.slug}/copies/copies.csv?kind=variant")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["address"].rsplit("/", 1)[1] for row in rows] == ["jacket-blue", "jacket-red", "jacket-green"]
    assert [row["stands_for_group"] for row in rows] == ["true", "false", "false"]
    assert (rows[0]["group_kind"], rows[0]["links_in"]) == ("variant", "1")


@pytest.mark.nightly
def test_a_manager_says_so_on_the_page(project, shop, manager, client_for):
    match(project)
    group = PageGroup.objects.get(project=project)
    client = client_for(manager)
    answer = client.post(f"/p/{project.slug}/copies/{group.pk}/apart/{shop['jacket-red'].pk}/", follow=True)
    assert "The page has left its group" in answer.content.decode()
    assert "Marked as different" in answer.content.decode()
    answer = client.post(f"/p/{project.slug}/copies/{group.pk}/apart/", follow=True)
    assert "The group has been dissolved" in answer.content.decode()
    answer = client.post(f"/p/{project.slug}/copies/{group.pk}/apart/", follow=True)
    assert "a match run has replaced it" in answer.content.decode()


@pytest.mark.parametrize("ranking", [Ranking.COSINE, Ranking.FORMULA])
def test_a_page_that_waits_for_its_translation_gives_no_links(project, ranking):
    """It says that it is in German, and its text is that of the English page: its readers were led to English pages."""
    model, english = make_model(4), "".join(f"We walk to the {word} and set up the camp. " for word in words(1).split())
    sure = {"detected_language": "en", "language_sureness": 1.0}
    one = make_page(project, "/en/setup", title="Setup", body=english, language="en", **sure)
    two = make_page(project, "/de/setup", title="Setup", body=english, language="de-DE", **sure)
    other = make_page(project, "/en/stoves", title="Stoves", body=words(2), language="en", **sure)
    for page in (one, two, other):
        embed(page, [1, 0.1, 0, 0], model)
    match(project, ranking)
    assert PageTwin.objects.get(page=two).kind == "copy"
    assert {source for source, _ in sources(project)} == {"/en/setup", "/en/stoves"}
    assert [one.code for one in why_not_pair(project, two, other).findings if one.blocking] == ["untranslated"]
    assert "untranslated" not in [found.code for found in why_not_pair(project, one, other).findings]


def sources(project) -> set[tuple[str, str]]:
    pairs = CandidateEdge.objects.filter(project=project, stale=False).values_list("source__url", "target__url")
    return {(source.partition(".example")[2], target) for source, target in pairs}
