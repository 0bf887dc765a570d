"""The export page: what it shows, who may do what, and the files it hands out."""

from __future__ import annotations

import hashlib
import html
import re
from urllib.parse import urlencode

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from linker.models import CandidateEdge, EdgeStatus, Rel, SensitiveRule
from linker.projects.policies.sensitive import add_sensitive
from review.models import Release
from review.releases import outgoing
from review.releases.rows import Choice
from tests.examples import tried
from tests.factories import lenient_tiers, make_category, make_edge, make_page
from tests.markup import compact

PAGE = "/p/shop/export/"
LINKS = f"{PAGE}links.csv"
FILE = f"{PAGE}1/"


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def text(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def as_editor(client_for, editor):
    return client_for(editor)


@pytest.fixture
def exported(project, as_editor) -> Release:
    make_edge(project, status=EdgeStatus.ACCEPTED)
    as_editor.post(PAGE, {"format": "full"})
    return Release.objects.get()


@pytest.mark.parametrize("url", [PAGE, LINKS, FILE])
def test_outsiders_and_strangers_do_not_get_in(exported, client, client_for, outsider, url):
    assert client_for(outsider).get(url).status_code == 404
    assert client.get(url).status_code == 302


def test_each_choice_of_other_files_makes_its_file(project, as_editor):
    """As the page sends the form, untouched and with each of its choices."""
    make_edge(project)
    page = as_editor.get(PAGE).content.decode()
    for choice in Choice:
        if f'value="{choice}"' in page:
            file = as_editor.get(f"{LINKS}?status={choice}&format=full")
            assert file.status_code == 200, choice
            assert len(body(file).splitlines()) == (1 if choice == Choice.EXPORTED else 2), choice


def test_outsiders_cannot_export(project, client_for, outsider):
    make_edge(project, status=EdgeStatus.ACCEPTED)

    assert client_for(outsider).post(PAGE, {"format": "full"}).status_code == 404
    assert not Release.objects.exists()


@pytest.mark.nightly
def test_viewers_see_and_download_but_do_not_export(exported, project, client_for, viewer):
    make_edge(project, status=EdgeStatus.ACCEPTED)
    client = client_for(viewer)

    page = client.get(PAGE)

    assert [page.status_code, client.get(LINKS).status_code, client.get(FILE).status_code] == [200] * 3
    assert "Exporting requires the editor role" in text(page)
    assert client.post(PAGE, {"format": "full"}).status_code == 403
    assert Release.objects.count() == 1


@pytest.mark.nightly
def test_exporting_makes_a_release_and_leads_back_to_the_page(project, as_editor, editor):
    make_edge(project, status=EdgeStatus.ACCEPTED)

    response = as_editor.post(PAGE, {"format": "joil", "bom": "on"}, follow=True)

    release = Release.objects.get()
    assert response.redirect_chain == [(PAGE, 302)]
    assert "Release 1 holds 1 link." in text(response)
    assert (release.created_by, release.format) == (editor, "joil")
    assert release.sha256 in text(response)
    assert body(as_editor.get(FILE)).startswith(b"\xef\xbb\xbfdonor_url,anchor_text,acceptor_url\n")


def test_a_release_downloads_the_same_bytes_every_time(exported, as_editor):
    first, second = as_editor.get(FILE), as_editor.get(FILE)

    content = body(first)
    assert content == body(second)
    assert hashlib.sha256(content).hexdigest() == exported.sha256
    assert first["Content-Length"] == str(len(content))
    assert first["Content-Type"] == "text/csv; charset=utf-8"
    assert first["Content-Disposition"] == 'attachment; filename="anchorline-shop-release-1.csv"'


def test_the_table_of_the_next_release_sums_up_to_its_links(project, as_editor, editor):
    for _ in range(3):
        make_edge(project, status=EdgeStatus.ACCEPTED)
    as_editor.post(PAGE, {"format": "full"})
    outgoing.withdraw(project, project.edges.filter(pk=project.edges.first().pk), editor)
    outgoing.confirm(project, project.edges.filter(pk=project.edges.last().pk), editor, Rel.UGC)
    make_edge(project, status=EdgeStatus.ACCEPTED)
    page = text(as_editor.get(PAGE))
    assert "<strong>3 links</strong> would be exported now. 1 to add, 1 to change, 1 to remove." in page
    table = page.split('id="next-release"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert re.findall(r'<td data-label="Links" class="num">(\d+)</td>', table) == ["1", "1", "1"]
    assert "<td>Change</td>" in table
    assert "<td>Remove</td>" in table


@pytest.mark.nightly
def test_a_release_says_how_many_of_its_links_stand(project, as_editor, editor):
    for _ in range(3):
        make_edge(project, status=EdgeStatus.ACCEPTED)
    as_editor.post(PAGE, {"format": "full"})
    assert "All 3 links are still as this release left them." in text(as_editor.get(f"{FILE}links/"))

    outgoing.withdraw(project, project.edges.filter(pk=project.edges.first().pk), editor)
    outgoing.confirm(project, project.edges.filter(pk=project.edges.last().pk), editor, Rel.UGC)
    assert "1 will be removed by the next release." in text(as_editor.get(f"{FILE}links/"))
    page = text(as_editor.get(PAGE))
    assert "<strong>2 links</strong> would be exported now. 0 to add, 1 to change, 1 to remove." in page
    assert "accepted all that are to be added" not in page

    as_editor.post(PAGE, {"format": "full"})
    assert "1 of 3 links is still as this release left it;" in text(as_editor.get(f"{FILE}links/"))
    assert "All 2 links are still as this release left them." in text(as_editor.get(f"{PAGE}2/links/"))


@pytest.mark.nightly
def test_a_release_of_another_project_is_not_found(exported, client_for, outsider):
    assert client_for(outsider).get("/p/elsewhere/export/1/").status_code == 404


@pytest.mark.nightly
def test_exporting_twice_says_that_nothing_is_left(exported, as_editor):
    response = as_editor.post(PAGE, {"format": "full"})

    assert response.status_code == 409
    assert "Nothing is ready to export" in text(response)
    assert Release.objects.count() == 1


def sent(response, **changes: object) -> dict[str, object]:
    """What the form of the export page sends."""
    shown = re.search(r'name="links" value="(\d+)"', response.content.decode())
    assert shown
    return {"format": "full", "links": shown[1], **changes}


@pytest.mark.nightly
def test_a_link_accepted_since_the_page_was_shown_does_not_leave_unseen(project, as_editor):
    make_edge(project, status=EdgeStatus.ACCEPTED)
    form = sent(as_editor.get(PAGE))
    make_edge(project, status=EdgeStatus.ACCEPTED)

    refused = as_editor.post(PAGE, form)

    assert (refused.status_code, Release.objects.count()) == (409, 0)
    assert "Nothing was exported: 2 links would be exported now, and not 1 as when you looked." in text(refused)
    assert "Export 2 links</button>" in compact(refused.content.decode())
    assert as_editor.post(PAGE, sent(refused)).status_code == 302
    assert Release.objects.get().links == 2


@pytest.mark.nightly
def test_the_number_shown_counts_what_a_joil_file_leaves_for_later(project, as_editor, editor):
    for _ in range(2):
        make_edge(project, status=EdgeStatus.ACCEPTED)
    as_editor.post(PAGE, sent(as_editor.get(PAGE)))
    outgoing.withdraw(project, project.edges.filter(pk=project.edges.first().pk), editor, "")
    make_edge(project, status=EdgeStatus.ACCEPTED)

    page = as_editor.get(PAGE)
    as_editor.post(PAGE, sent(page, format="joil"))

    assert "Export 2 links</button>" in compact(page.content.decode())
    assert [release.links for release in Release.objects.order_by("number")] == [2, 1]
    said = text(as_editor.post(PAGE, sent(as_editor.get(PAGE), format="joil"), follow=True))
    assert "a file of three columns has no word for changes and removals" in said


@pytest.mark.nightly
def test_what_proves_sensitive_only_when_it_leaves_does_not_stop_the_others(project, as_editor):
    lenient_tiers(project, name="Related")
    health = make_page(project, category=make_category(project, "Health"))
    make_edge(project, health, score=0.7)
    make_edge(project, status=EdgeStatus.ACCEPTED)
    SensitiveRule.objects.create(project=project, category=health.category)

    assert as_editor.post(PAGE, sent(as_editor.get(PAGE))).status_code == 302

    release = Release.objects.get()
    assert (release.links, release.held) == (1, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("links", ["0", "-1", "many", "9" * 40, "\0"])
def test_a_number_that_no_page_showed_exports_nothing(project, as_editor, links):
    make_edge(project, status=EdgeStatus.ACCEPTED)

    assert as_editor.post(PAGE, {"format": "full", "links": links}).status_code == 400
    assert not Release.objects.exists()


def test_reading_writes_nothing(project, as_editor):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)

    as_editor.get(PAGE)
    body(as_editor.get(LINKS, {"status": "all"}))

    edge.refresh_from_db()
    assert (edge.status, Release.objects.count()) == (EdgeStatus.ACCEPTED, 0)


def test_a_new_project_sees_that_nothing_is_there_yet(project, as_editor):
    page = text(as_editor.get(PAGE))

    assert "Nothing is ready to export" in page
    assert "No releases yet" in page
    assert "No suggestion is open" in page


def test_the_page_says_what_leaves_unreviewed_and_what_stays_because_it_is_sensitive(project, as_editor):
    lenient_tiers(project, name="Related")
    make_edge(project, score=0.9, status=EdgeStatus.ACCEPTED)
    make_edge(project, score=0.7)
    health = make_page(project, category=make_category(project, "Health"))
    make_edge(project, health, score=0.7)
    add_sensitive(SensitiveRule(project=project, category=health.category))

    page = text(as_editor.get(PAGE))

    assert "<strong>2 links</strong> would be exported now" in page
    assert "<strong>1</strong> of those to add was not reviewed by an editor." in page
    assert "1 link without a decision is held back" in page
    assert "Sensitive, not reviewed" in page


def test_the_page_says_what_is_held_back_and_what_to_do(project, as_editor):
    make_edge(project, target=make_page(project, indexable=False), status=EdgeStatus.ACCEPTED)

    page = text(as_editor.get(PAGE))

    assert "1 approved link is held back" in page
    assert "Acceptor not indexable" in page
    assert "make it indexable and import a new crawl" in page
    assert "every link that could be exported is held back" in page


@pytest.mark.nightly
def test_links_nobody_decided_on_are_counted_apart_and_have_their_own_advice(project, as_editor):
    lenient_tiers(project, name="Related")
    gone = make_page(project, indexable=False)
    make_edge(project, target=gone, score=0.7)
    page = text(as_editor.get(PAGE))
    assert "1 link without a decision is held back" in page
    assert "Undo the decision" not in page

    make_edge(project, target=gone, status=EdgeStatus.ACCEPTED)
    page = text(as_editor.get(PAGE))
    assert "1 approved link and 1 link without a decision are held back" in page
    assert "Where nobody has decided (1)" in page


def test_what_a_crawl_wrote_is_shown_as_text(project, as_editor):
    make_edge(project, anchor="<script>alert(1)</script>", status=EdgeStatus.ACCEPTED)

    page = as_editor.get(PAGE).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.nightly
def test_the_queues_filter_narrows_the_export_down(project, as_editor):
    tents = make_category(project, "Shop", "Tents")
    wanted = make_edge(project, make_page(project, category=tents), status=EdgeStatus.ACCEPTED)
    rest = make_edge(project, status=EdgeStatus.ACCEPTED)
    query = {"category": tents.pk}

    page = text(as_editor.get(PAGE, query))
    as_editor.post(f"{PAGE}?category={tents.pk}", {"format": "full"})

    rest.refresh_from_db()
    assert "<strong>1 link</strong> would be exported now" in page
    assert wanted.source.url.encode() in body(as_editor.get(FILE))
    assert (rest.status, Release.objects.get().filters) == (EdgeStatus.ACCEPTED, query)


@pytest.fixture
def unlike(project) -> dict[str, CandidateEdge]:
    """A link of every status; the suggestion may leave unreviewed, and the released link waits to be withdrawn."""
    lenient_tiers(project, name="Related")
    return {status: make_edge(project, score=0.7, status=status) for status in EdgeStatus.values}


@pytest.mark.nightly
@pytest.mark.parametrize("status", ["suggested", "accepted"])
def test_what_leaves_keeps_to_the_status_of_the_selection(project, as_editor, unlike, status):
    page = text(as_editor.get(f"{PAGE}?status={status}"))
    as_editor.post(f"{PAGE}?status={status}", {"format": "full"})

    release = Release.objects.get()
    assert "<strong>1 link</strong> would be exported now" in page
    assert list(release.release_links.values_list("edge", flat=True)) == [unlike[status].pk]
    assert release.filters == {"status": status}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("rejected", "rejected links are never exported"),
        ("exported", "these links are already exported"),
        ("withdrawn", "withdrawn links have been removed from the site"),
    ],
)
def test_nothing_leaves_of_what_is_rejected_or_gone_and_the_page_says_why(project, as_editor, unlike, status, said):
    page = text(as_editor.get(f"{PAGE}?status={status}"))
    posted = as_editor.post(f"{PAGE}?status={status}", {"format": "full"})

    assert f"Nothing is ready to export: {said}" in page
    assert (posted.status_code, Release.objects.count()) == (409, 0)


@pytest.mark.nightly
def test_of_released_links_only_what_was_asked_of_them_since_leaves(project, as_editor, editor, unlike):
    released = project.edges.filter(pk=unlike["exported"].pk)
    outgoing.withdraw(project, released, editor, "")

    as_editor.post(f"{PAGE}?status=exported", {"format": "full"})

    release = Release.objects.get()
    assert (release.links, release.removed) == (1, 1)


def test_accepted_links_leave_without_the_changes_that_wait(project, as_editor, editor, unlike):
    outgoing.withdraw(project, project.edges.filter(pk=unlike["exported"].pk), editor, "")

    as_editor.post(f"{PAGE}?status=accepted", {"format": "full"})

    release = Release.objects.get()
    assert (release.links, release.added) == (1, 1)


@pytest.mark.parametrize(
    ("query", "exported"),
    [("", "status=suggested"), ("status=accepted", "status=accepted"), ("status=all&text=boots", "text=boots")],
)
def test_the_queue_leads_to_the_export_of_what_it_shows(project, as_editor, query, exported):
    page = html.unescape(compact(as_editor.get(f"/p/shop/queue/all-filters/?{query}").content.decode()))

    assert f'href="{PAGE}?{exported}"> Export this selection' in page


def test_what_was_accepted_is_exported_when_the_queue_is_empty(project, as_editor):
    make_edge(project, status=EdgeStatus.ACCEPTED)

    page = html.unescape(compact(as_editor.get("/p/shop/queue/").content.decode()))

    assert f'href="{PAGE}?status=accepted"> Export accepted links' in page


def test_the_export_says_how_many_open_suggestions_are_held_back(project, as_editor):
    make_edge(project, score=0.9)
    for score in (0.55, 0.1):
        make_edge(project, score=score)

    page = html.unescape(compact(as_editor.get(PAGE).content.decode()))
    held = '<a href="/p/shop/queue/?held=1">2 held back</a>'

    assert f"3 suggestions are open. 1 in the queue, {held}." in page
    assert 'Held back <span class="num muted" data-count="held">2</span>' in compact(
        as_editor.get("/p/shop/queue/").content.decode()
    )


def test_the_other_files_have_a_status_of_their_own(project, as_editor, unlike):
    page = as_editor.get(f"{PAGE}?status=accepted").content.decode()

    assert "1 suggestion is open" in " ".join(page.split())
    assert '<input type="hidden" name="status"' not in page


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "query", ["category=999", "category=999999", "tier=0", "status=rejected", "donor=99999999999999999999"]
)
def test_a_query_that_fits_nothing_is_answered(project, as_editor, query):
    make_edge(project)

    assert as_editor.get(f"{PAGE}?{query}").status_code == 200
    assert as_editor.get(f"{LINKS}?{query}&format=full").status_code in (200, 400)


def test_a_category_that_is_gone_is_an_empty_file_and_an_empty_release(project, as_editor):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)

    file = body(as_editor.get(f"{LINKS}?category=999999&status=all"))
    response = as_editor.post(f"{PAGE}?category=999999", {"format": "full"})

    edge.refresh_from_db()
    assert file.count(b"\n") == 1
    assert (response.status_code, edge.status) == (409, EdgeStatus.ACCEPTED)
    assert "Only a deleted category" in text(response)
    assert "Nothing is ready to export" in text(response)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "query",
    [
        *("category=abc", "tier=-1", "sensitive=maybe", "donor=1e9", "placement=top", "text=%00", "status=done"),
        *("foo=bar", "categroy=5"),
    ],
)
def test_a_filter_that_is_not_understood_lets_nothing_leave(project, as_editor, query):
    """Left out, it would let everything leave."""
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)

    page, posted = as_editor.get(f"{PAGE}?{query}"), as_editor.post(f"{PAGE}?{query}", {"format": "full"})
    file = as_editor.get(f"{LINKS}?{query}")

    edge.refresh_from_db()
    assert query.split("=")[0] in text(page)
    assert "has an unknown field or value" in text(page)
    assert (posted.status_code, edge.status) == (400, EdgeStatus.ACCEPTED)
    assert "No file was made: the " in text(file)
    held = as_editor.get(f"{PAGE}held/?{query}")
    assert [file.status_code, held.status_code] == [400, 400]
    assert "Nothing was listed: the filter has an unknown field or value" in text(held)
    assert not Release.objects.exists()


NAMES = [
    "category",
    "tier",
    "donor",
    "text",
    "status",
    "sensitive",
    "placement",
    "generator",
    "ranked_by",
    "probability",
]
NAMES += ["order", "held", "stale", "before", "after", "format", "bom", "reason", "state", "rel", "release", "file"]
VALUES = st.one_of(
    st.text(max_size=30),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(str),
    st.sampled_from(["0", "999999", "-1", "\u0660", "\u00b2", "1_0", "%", "%s", "\\", "'", "all", "only", "1~2~3~4"]),
    st.sampled_from(["nan~1~inf~2~3", "1e400~1~0.5~2~3", "\0", "\ud800", str(2**63 - 1), str(2**63)]),
)


@pytest.mark.nightly
@tried(25)
@given(query=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4))
def test_no_query_string_is_an_error_of_the_program(project, as_editor, query):
    if not project.edges.exists():
        make_edge(project, status=EdgeStatus.ACCEPTED)
        make_edge(project)
    asked = urlencode(query, errors="surrogatepass")
    with transaction.atomic():
        for path in (PAGE, LINKS, "/p/shop/queue/", f"{PAGE}held/", f"{PAGE}links/"):
            response = as_editor.get(f"{path}?{asked}")
            assert response.status_code in (200, 302, 400)
            if response.streaming:
                body(response)
        assert as_editor.post(f"{PAGE}?{asked}", {"format": "full"}).status_code in (302, 400, 409)
        transaction.set_rollback(True)


def test_an_unknown_format_exports_nothing(project, as_editor):
    make_edge(project, status=EdgeStatus.ACCEPTED)

    assert as_editor.post(PAGE, {"format": "xls"}).status_code == 400
    assert as_editor.get(LINKS, {"format": "xls"}).status_code == 400
    assert not Release.objects.exists()


@pytest.mark.parametrize(("query", "name"), [("status=foo", "status"), ("format=bogus", "format")])
def test_a_file_that_is_not_known_is_refused_in_one_sentence(project, as_editor, query, name):
    answer = as_editor.get(f"{LINKS}?{query}")

    page = text(answer)
    assert answer.status_code == 400
    assert f"No file was made: the address has an unknown value ({name})." in page
    assert "Select a valid choice" not in page


@pytest.mark.nightly
@pytest.mark.parametrize("path", ["held/", "1/links/"])
def test_a_reason_that_is_not_known_is_named_by_the_list_and_refused_by_the_download(exported, as_editor, path):
    page, file = as_editor.get(f"{PAGE}{path}?reason=foo"), as_editor.get(f"{PAGE}{path}?reason=foo&file")

    assert page.status_code == 200
    assert "because the field or its value is unknown: reason." in text(page)
    assert file.status_code == 400
    assert "No file was made: the address has an unknown value (reason)." in text(file)


@pytest.mark.parametrize("path", ["1/links/", "links/"])
def test_a_field_that_a_list_does_not_know_is_named(exported, as_editor, path):
    page = text(as_editor.get(f"{PAGE}{path}?show=foo"))

    assert "The filter ignores these, because the field or its value is unknown: show." in page


def test_suggestions_download_as_a_file_without_being_marked(project, as_editor):
    edge = make_edge(project, score=0.55)

    response = as_editor.get(LINKS, {"status": "suggested", "format": "full"})

    edge.refresh_from_db()
    assert edge.source.url.encode() in body(response)
    assert response["Content-Disposition"] == 'attachment; filename="anchorline-shop-suggested.csv"'
    assert edge.status == EdgeStatus.SUGGESTED


@pytest.mark.nightly
def test_many_releases_are_listed_page_by_page(project, as_editor, editor):
    Release.objects.bulk_create(
        Release(project=project, number=n, links=1, added=1, bytes=1, sha256="0" * 64, status="accepted")
        for n in range(1, 31)
    )

    first, second = as_editor.get(PAGE), as_editor.get(PAGE, {"before": 6})

    assert [release.number for release in first.context["releases"]] == list(range(30, 5, -1))
    assert first.context["older"] == 6
    assert [release.number for release in second.context["releases"]] == [5, 4, 3, 2, 1]
    assert second.context["older"] is None
