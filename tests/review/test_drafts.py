"""A release is looked through as a draft, and rolled back by a draft of what undoes it."""

from __future__ import annotations

import csv
import io
import re
from importlib import import_module

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from hypothesis import Phase, given
from hypothesis import strategies as st

from linker.models import Change, ChangeKind, EdgeStatus, ExistingLink, Page, Rel, ReplacementEnd, RunKind
from linker.models.querysets import OUT
from linker.storage import slices
from linker.storage.references import may_skip_checks
from review import decisions
from review.live import seeing
from review.live.verify import verify
from review.models import (
    Decision,
    DraftLink,
    Grade,
    Held,
    HeldBack,
    Operation,
    Pending,
    PublishedLink,
    Release,
    ReleaseFormat,
    ReleaseLink,
    Sample,
    SampleLink,
    Verb,
)
from review.queue.notes import note_of
from review.releases import create, draft_rows, drafts, outgoing
from review.releases.create import NothingToExport
from review.releases.drafts import NoOpenDraft
from tests.examples import tried
from tests.factories import lenient_tiers, make_edge, make_link, make_replacement, make_run
from tests.markup import compact
from tests.review.test_release import release_of

draft_keys = import_module("review.migrations.0022_draft_keys")


def draft_of(project, user=None, **how):
    draft = drafts.make_draft(project, user, {}, ReleaseFormat.FULL, **how)
    drafts.fill(draft)
    draft.refresh_from_db()
    return draft


def back_to(release, user):
    draft = drafts.make_roll_back(release, user)
    drafts.fill(draft)
    draft.refresh_from_db()
    return draft


def listed(draft, behind=None, **chosen) -> list[draft_rows.Row]:
    return draft_rows.page(draft, chosen, 0, 50, behind or {})[0]


def rows(release: Release) -> list[tuple[str, str, str]]:
    """Operation, anchor and rel of each row of the file."""
    text = b"".join(create.release_pieces(release)).decode()
    return [(row["operation"], row["anchor_text"], row["rel"]) for row in csv.DictReader(io.StringIO(text))]


def out(project) -> dict[int, tuple[str, str]]:
    links = PublishedLink.objects.filter(project=project, is_out=True)
    return {link.edge_id: (link.anchor, link.rel) for link in links}


@pytest.fixture
def accepted(project):
    return make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", anchor="warm socks", reviewed=True)


def test_a_draft_shows_what_would_leave_and_changes_nothing(project, accepted, editor):
    held = make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    Page.objects.filter(pk=held.target_id).update(missing_since=timezone.now())

    draft = draft_of(project, editor)

    accepted.refresh_from_db()
    assert (draft.added, draft.changed, draft.removed, draft.held) == (1, 0, 0, 1)
    assert [(row.edge, row.link.operation, row.link.anchor) for row in listed(draft)] == [
        (accepted, Operation.ADD, "warm socks")
    ]
    assert accepted.status == EdgeStatus.ACCEPTED
    assert not Release.objects.exists()


def test_a_draft_locks_none_of_its_links(project, accepted, editor):
    with transaction.atomic(), connection.cursor() as cursor:
        draft_of(project, editor)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SELECT count(*) FROM linker_candidateedge WHERE xmax::text = pg_current_xact_id()::text")
        assert cursor.fetchone() == (0,)


def test_what_is_accepted_after_the_draft_waits_for_the_next_one(project, accepted, editor):
    draft = draft_of(project, editor)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)

    release = create.publish(draft, editor)

    late.refresh_from_db()
    draft.refresh_from_db()
    assert set(out(project)) == {accepted.pk}
    assert (late.status, draft.release, draft.is_open) == (EdgeStatus.ACCEPTED, release, False)
    assert not DraftLink.objects.exists()


@pytest.mark.nightly
def test_what_was_changed_since_the_draft_stays_behind_and_is_written_down(project, accepted, editor):
    same = make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    draft = draft_of(project, editor)
    accepted.anchor = "thick socks"
    accepted.save()

    release = create.publish(draft, editor)

    assert set(out(project)) == {same.pk}
    assert [(row.edge, row.reason) for row in HeldBack.objects.filter(release=release)] == [(accepted, Held.CHANGED)]


@pytest.mark.nightly
def test_a_draft_knows_which_of_its_links_publishing_would_leave_behind(project, accepted, editor):
    other, same = (make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True) for _ in range(2))
    draft = draft_of(project, editor)
    before = drafts.left_behind(draft)
    accepted.anchor = "thick socks"
    accepted.save()
    decisions.decide_edges(project, [other.pk], Verb.REJECT, editor, shown=decisions.Shown(EdgeStatus.ACCEPTED))

    changed = drafts.left_behind(draft)
    named = listed(draft, changed, reason=Held.CHANGED)
    create.publish(draft, editor)

    assert (before, changed) == ({}, dict.fromkeys([accepted.pk, other.pk], Held.CHANGED))
    assert {row.edge.pk for row in named} == changed.keys()
    assert set(out(project)) == {same.pk}


@pytest.mark.nightly
def test_a_roll_back_knows_which_of_its_links_were_released_since(project, accepted, editor):
    first = release_of(project)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True)
    release_of(project)
    draft = back_to(first, editor)
    outgoing.confirm(project, project.edges.filter(pk=late.pk), editor, Rel.UGC)
    release_of(project)

    assert drafts.left_behind(draft) == {late.pk: Held.CHANGED}


@pytest.mark.nightly
def test_a_draft_knows_which_of_its_links_something_holds_back_by_now(project, accepted, editor):
    first = release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    roll_back = back_to(first, editor)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True)
    draft = draft_of(project, editor)
    for page in (accepted.target_id, late.target_id):
        Page.objects.filter(pk=page).update(missing_since=timezone.now())

    assert drafts.left_behind(draft) == {late.pk: Held.GONE}
    assert drafts.left_behind(roll_back) == {accepted.pk: Held.GONE}


def test_the_release_of_a_draft_keeps_the_list_of_what_the_draft_held_back(project, accepted, editor):
    held = make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    Page.objects.filter(pk=held.target_id).update(missing_since=timezone.now())
    draft = draft_of(project, editor)
    Page.objects.filter(pk=held.target_id).update(missing_since=None)

    release = create.publish(draft, editor)

    held.refresh_from_db()
    assert (release.links, release.held, held.status) == (1, 1, EdgeStatus.ACCEPTED)
    assert [(row.edge, row.reason) for row in HeldBack.objects.filter(release=release)] == [(held, Held.GONE)]
    assert release.held_for == {Held.GONE: [1, 0, 0]}


@pytest.mark.nightly
def test_the_release_of_a_roll_back_keeps_that_list_as_well(project, accepted, editor):
    other = make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True)
    first = release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    Page.objects.filter(pk=accepted.target_id).update(missing_since=timezone.now())
    draft = back_to(first, editor)
    Page.objects.filter(pk=accepted.target_id).update(missing_since=None)

    release = create.publish(draft, editor)

    assert set(out(project)) == {other.pk}
    assert [(row.edge, row.reason) for row in HeldBack.objects.filter(release=release)] == [(accepted, Held.GONE)]


def test_a_draft_names_who_accepted_and_the_second_person(project, accepted, editor, manager):
    decisions.decide_edges(project, [accepted.pk], Verb.REJECT, editor, shown=decisions.Shown(EdgeStatus.ACCEPTED))
    decisions.decide_edges(project, [accepted.pk], Verb.ACCEPT, editor, shown=decisions.Shown(EdgeStatus.REJECTED))
    accepted.refresh_from_db()
    decisions.write_decisions([decisions.with_outcome(decisions.decision_on(accepted, Verb.APPROVE, manager))])

    [row] = listed(draft_of(project, editor))

    assert (row.approval.decision.user, row.approval.decision.verb) == (editor, Verb.ACCEPT)
    assert row.approval.second.user == manager


@pytest.mark.nightly
def test_who_rolls_back_a_roll_back_is_not_named_as_who_approved(project, editor, manager):
    edge = make_edge(project)
    decisions.decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    first = Release.objects.get()
    late = make_edge(project)
    decisions.decide_edges(project, [late.pk], Verb.ACCEPT, editor)
    second = release_of(project)
    create.publish(back_to(first, manager), manager)

    [row] = listed(back_to(second, manager))

    assert (row.link.operation, row.approval.decision.user) == (Operation.ADD, editor)


@pytest.mark.nightly
def test_a_draft_says_what_a_person_has_to_know_before_it_leaves(project, accepted, manager, client_for):
    Page.objects.filter(pk=accepted.source_id).update(
        title="Winter walks", body="Dress well. Take warm socks, and a map.\nThe end."
    )
    Page.objects.filter(pk=accepted.target_id).update(title="All about socks")
    make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    run = make_run(project, RunKind.AUDIT)
    audit = Sample.objects.create(project=project, kind="audit", run=run, seed=1, until=timezone.now())
    link = SampleLink.objects.create(
        sample=audit, project=project, edge=accepted, place=1, drawn_from="approved", generators=[], grade=Grade.BAD
    )
    link.judgements.create(judge=manager, grade=Grade.BAD, reason="bad_anchor", note="Socks are socks.")
    draft = draft_of(project, manager)
    address = f"/p/{project.slug}/export/drafts/{draft.pk}/"

    page = client_for(manager).get(address).text
    judged = client_for(manager).get(f"{address}?judged=1").text

    assert all(said in page for said in ("Winter walks", "All about socks", "Poor anchor", "Socks are socks."))
    assert "Take <mark>warm socks</mark>, and a map." in page
    assert "Dress well" not in page
    assert (page.count('<th scope="row"'), judged.count('<th scope="row"')) == (2, 1)


def test_the_sentence_of_a_link_that_a_draft_removes_stands_under_what_is_out_before(
    project, accepted, manager, client_for
):
    Page.objects.filter(pk=accepted.source_id).update(body="Dress well. Take warm socks, and a map.")
    release_of(project)
    outgoing.withdraw(project, project.edges.all(), manager)
    page = compact(client_for(manager).get(f"/p/{project.slug}/export/drafts/{draft_of(project, manager).pk}/").text)
    before, after = (re.search(rf'<td data-label="{side}"[^>]*>(.*?)</td>', page)[1] for side in ("Before", "After"))
    assert ("<mark>" in before, after.strip()) == (True, "–")


def test_unreviewed_links_of_a_draft_are_listed_alone(project, accepted, editor):
    lenient_tiers(project)
    unread = make_edge(project, tier=project.tiers.first())
    draft = draft_of(project, editor)
    assert [row.edge for row in listed(draft, unreviewed=True)] == [unread]


@pytest.mark.nightly
def test_a_draft_is_read_with_as_many_queries_however_long_it_is(project, accepted, editor):
    few = draft_of(project, editor)
    for _ in range(4):
        make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    counts = []
    for draft in (few, draft_of(project, editor)):
        with CaptureQueriesContext(connection) as queries:
            listed(draft)
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.nightly
def test_a_draft_of_which_everything_was_taken_back_is_not_published(project, accepted, editor):
    draft = draft_of(project, editor)
    decisions.decide_edges(project, [accepted.pk], Verb.REJECT, editor, shown=decisions.Shown(EdgeStatus.ACCEPTED))

    with pytest.raises(NothingToExport):
        create.publish(draft, editor)

    draft.refresh_from_db()
    assert draft.is_open


def test_a_draft_is_published_once(project, accepted, editor):
    draft = draft_of(project, editor)
    create.publish(draft, editor)

    with pytest.raises(NoOpenDraft):
        create.publish(draft, editor)

    assert Release.objects.count() == 1


def test_a_discarded_draft_is_never_published_and_the_log_has_it(project, accepted, editor):
    draft = draft_of(project, editor)
    drafts.discard(draft, editor)

    change = Change.objects.get(project=project, kind=ChangeKind.RELEASE)
    assert (change.user, change.subject) == (editor, f"Draft {draft.pk} discarded")

    with pytest.raises(NoOpenDraft):
        create.publish(draft, editor)

    accepted.refresh_from_db()
    assert accepted.status == EdgeStatus.ACCEPTED
    assert not DraftLink.objects.exists()


@pytest.mark.nightly
def test_a_draft_of_three_columns_has_additions_alone(project, accepted, editor):
    release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    draft = drafts.make_draft(project, editor, {}, ReleaseFormat.JOIL)
    drafts.fill(draft)

    create.publish(draft, editor)

    assert Pending.objects.count() == 1


def test_a_draft_holds_no_link_without_a_suggestion_or_a_draft(project, accepted, editor):
    draft = draft_of(project, editor)
    connection.check_constraints()
    for missing in ({"edge": 0}, {"draft": 0}):
        with pytest.raises(IntegrityError, match="foreign key"), transaction.atomic():
            _refer(DraftLink.objects.filter(draft=draft), **missing)


def _refer(links, **to) -> None:
    assert links.update(**to) == 1
    connection.check_constraints()


def drafted(project, editor) -> list[list[tuple]]:
    """The links of a draft, and of a roll-back that holds some of them back; nothing of it stays."""
    with transaction.atomic():
        first = release_of(project)
        late = [make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"late {n}", reviewed=True) for n in range(3)]
        drafts_made = [draft_of(project, editor)]
        release_of(project)
        outgoing.withdraw(project, project.edges.exclude(pk__in=[edge.pk for edge in late]), editor)
        release_of(project)
        Page.objects.filter(pk=project.edges.order_by("pk")[0].target_id).update(missing_since=timezone.now())
        drafts_made.append(back_to(first, editor))
        connection.check_constraints()
        links = [
            list(DraftLink.objects.filter(draft=draft).order_by("pk").values_list("anchor", "operation", "reason"))
            for draft in drafts_made
        ]
        transaction.set_rollback(True)
    return links


@pytest.mark.nightly
def test_a_role_that_must_check_each_row_drafts_the_same(project, accepted, editor):
    expected = drafted(project, editor)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE ROLE plain; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain; "
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO plain; SET LOCAL ROLE plain"
        )
    assert not may_skip_checks()
    assert drafted(project, editor) == expected
    assert [(len(links), {reason for *_, reason in links}) for links in expected] == [(3, {""}), (4, {"", "gone"})]


def test_checks_are_on_again_after_a_draft(project, accepted, editor):
    draft_of(project, editor)
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_no_suggestion_goes_while_a_draft_of_it_is_filled(project, accepted, editor):
    first = release_of(project)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    filled = [drafts.make_draft(project, editor, {}, ReleaseFormat.FULL)]
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SET lock_timeout = '200ms'")
        with transaction.atomic():
            drafts.fill(filled[0])
            assert DraftLink.objects.filter(edge=late).exists()
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute("DELETE FROM linker_candidateedge WHERE id = %s", [late.pk])
        release_of(project)
        with transaction.atomic():
            back_to(first, editor)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute("DELETE FROM linker_candidateedge WHERE id = %s", [late.pk])


def test_rows_of_drafts_that_refer_to_nothing_go_before_their_keys_come_back(project, accepted, editor):
    draft = draft_of(project, editor)
    kept = DraftLink.objects.get()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL session_replication_role = replica")
        for missing in ({"draft": draft, "edge_id": 0}, {"draft_id": 0, "edge": accepted}):
            DraftLink.objects.create(**missing, operation=Operation.ADD, anchor="socks", rel=Rel.FOLLOW)
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute(draft_keys.OF_NOTHING)
    assert DraftLink.objects.get() == kept


@pytest.mark.nightly
def test_rolling_back_takes_off_what_was_added_since(project, accepted, editor):
    first = release_of(project)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, anchor="late", rel="follow", reviewed=True)
    release_of(project)

    release = create.publish(back_to(first, editor), editor)

    late.refresh_from_db()
    decision = Decision.objects.get()
    assert rows(release) == [("remove", "late", "follow")]
    assert (late.status, decision.verb, decision.user) == (EdgeStatus.WITHDRAWN, Verb.ROLL_BACK, editor)
    assert release.back_to == first


@pytest.mark.nightly
def test_rolling_back_brings_back_what_was_removed_and_the_rel_that_was_changed(project, accepted, editor):
    other = make_edge(project, status=EdgeStatus.ACCEPTED, anchor="other", rel="follow", reviewed=True)
    first = release_of(project)
    outgoing.withdraw(project, project.edges.filter(pk=accepted.pk), editor)
    outgoing.confirm(project, project.edges.filter(pk=other.pk), editor, Rel.NOFOLLOW)
    release_of(project)

    release = create.publish(back_to(first, editor), editor)

    accepted.refresh_from_db()
    assert sorted(rows(release)) == [("add", "warm socks", "follow"), ("change", "other", "follow")]
    assert accepted.status == EdgeStatus.EXPORTED


@pytest.mark.nightly
def test_links_that_come_back_with_their_words_take_the_same_few_statements_however_many_there_are(
    project, editor, monkeypatch
):
    """Their donors' texts are not read."""
    monkeypatch.setattr("review.releases.roll_backs.make_accepted", None)

    def asked(links: int) -> int:
        edges = [make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True) for _ in range(links)]
        first = release_of(project)
        outgoing.withdraw(project, project.edges.filter(pk__in=[edge.pk for edge in edges]), editor)
        release_of(project)
        draft = back_to(first, editor)
        with CaptureQueriesContext(connection) as queries:
            release = create.publish(draft, editor)
        assert release.added == links
        made = Decision.objects.filter(verb=Verb.ROLL_BACK, edge__in=edges)
        assert {(one.status_before, one.status_after, one.rel_after) for one in made} == {
            ("withdrawn", "exported", "follow")
        }
        return len(queries)

    assert asked(9) == asked(2)


@pytest.mark.nightly
def test_links_that_come_back_with_other_words_read_all_texts_at_once(project, editor):
    def asked(links: int) -> int:
        edges = [make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True) for _ in range(links)]
        first = release_of(project)
        outgoing.withdraw(project, project.edges.filter(pk__in=[edge.pk for edge in edges]), editor)
        release_of(project)
        project.edges.filter(pk__in=[edge.pk for edge in edges]).update(anchor="what a match run said since")
        draft = back_to(first, editor)
        with CaptureQueriesContext(connection) as queries:
            create.publish(draft, editor)
        assert set(project.edges.filter(pk__in=[edge.pk for edge in edges]).values_list("anchor", flat=True)) == {
            edge.anchor for edge in edges
        }
        return len(queries)

    assert asked(9) == asked(2)


@pytest.mark.nightly
def test_what_left_unreviewed_and_comes_back_was_read_by_whoever_rolled_back(project, editor):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=False)
    first = release_of(project)
    outgoing.confirm(project, project.edges.all(), editor, Rel.NOFOLLOW)
    release_of(project)
    project.edges.update(reviewed=False)

    create.publish(back_to(first, editor), editor)

    edge.refresh_from_db()
    assert (edge.reviewed, edge.rel, edge.status) == (True, "follow", EdgeStatus.EXPORTED)


@pytest.mark.nightly
def test_a_release_in_many_slices_is_the_same_as_in_one(project, editor, monkeypatch):
    monkeypatch.setattr(slices, "ROWS", 2)
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {n}", reviewed=True) for n in range(5)]
    Page.objects.filter(pk=edges[3].target_id).update(missing_since=timezone.now())
    draft = draft_of(project, editor)
    release = create.publish(draft, editor)
    verify(project)

    named = list(ReleaseLink.objects.filter(release=release).order_by("pk").values_list("edge", flat=True))
    assert named == [edge.pk for edge in edges if edge != edges[3]]
    assert set(out(project)) == set(named)
    assert (draft.held_for, release.held) == ({"gone": 1}, 1)
    assert not project.edges.filter(pk__in=named).exclude(status=EdgeStatus.EXPORTED).exists()


@pytest.mark.nightly
def test_rolling_back_a_roll_back_is_what_it_was(project, accepted, editor):
    first = release_of(project)
    make_edge(project, status=EdgeStatus.ACCEPTED, anchor="late", reviewed=True)
    second = release_of(project)
    before = out(project)
    create.publish(back_to(first, editor), editor)

    create.publish(back_to(second, editor), editor)

    assert out(project) == before


@pytest.mark.nightly
def test_rolling_back_leaves_out_what_can_no_longer_be_added(project, accepted, editor):
    first = release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    Page.objects.filter(pk=accepted.target_id).update(missing_since=timezone.now())

    draft = back_to(first, editor)

    assert (draft.links, draft.held) == (0, 1)
    with pytest.raises(NothingToExport):
        create.publish(draft, editor)


@pytest.mark.nightly
def test_a_change_that_was_asked_for_is_taken_back_with_the_roll_back(project, accepted, editor):
    first = release_of(project)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True)
    release_of(project)
    outgoing.confirm(project, project.edges.filter(pk=late.pk), editor, Rel.UGC)

    release = create.publish(back_to(first, editor), editor)

    assert [row[::2] for row in rows(release)] == [("remove", "follow")]
    assert not Pending.objects.exists()


@pytest.mark.nightly
def test_a_roll_back_that_a_release_has_overtaken_is_not_published(project, accepted, editor, manager, client_for):
    first = release_of(project)
    late = make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", reviewed=True)
    release_of(project)
    draft = back_to(first, editor)
    outgoing.confirm(project, project.edges.filter(pk=late.pk), editor, Rel.UGC)
    release_of(project)

    with pytest.raises(create.OvertakenDraft, match="release 3 was published since this draft was made"):
        create.publish(draft, editor)

    page = client_for(manager).get(f"/p/{project.slug}/export/drafts/{draft.pk}/").content.decode()
    assert "Release 3 was published since this draft was made" in page
    assert "Publish" not in page
    assert out(project)[late.pk] == (late.anchor, "ugc")
    create.publish(back_to(first, editor), editor)
    assert late.pk not in out(project), "made anew, it undoes both"


def test_a_roll_back_with_nothing_to_do_says_so(project, accepted, editor, manager, client_for):
    draft = back_to(release_of(project), editor)
    page = " ".join(client_for(manager).get(f"/p/{project.slug}/export/drafts/{draft.pk}/").content.decode().split())
    assert "All links that were released are as they were after release 1." in page


def test_a_roll_back_that_is_held_back_does_not_say_that_all_is_as_it_was(
    project, accepted, editor, manager, client_for
):
    first = release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    Page.objects.filter(pk=accepted.target_id).update(missing_since=timezone.now())
    draft = back_to(first, editor)
    assert (draft.links, draft.held) == (0, 1)
    page = " ".join(client_for(manager).get(f"/p/{project.slug}/export/drafts/{draft.pk}/").content.decode().split())
    assert "All links that were released" not in page
    assert "1 link would have to change to be as it was after release 1, but is held back." in page


# What happens to a site over the weeks; each step acts on some of five links.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["accept", "reject", "nofollow", "follow", "withdraw", "keep", "release", "back", "import", "reopen"]
        ),
        st.integers(min_value=0, max_value=31),
    ),
    max_size=14,
)


@pytest.mark.nightly
@given(steps=STEPS)
@tried(60, phases=[Phase.explicit, Phase.generate])
def test_what_is_out_is_the_sum_of_what_was_published_whatever_happens(project, editor, steps):
    with transaction.atomic():
        edges = [make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True) for _ in range(4)]
        edges.append(make_edge(project, edges[0].source))
        pair = make_replacement(edges[4], edges[0])
        after: list[dict[int, tuple[str, str]]] = []  # what was out after each release
        for step, number in [("release", 31), *steps, ("release", 31)]:
            chosen = project.edges.filter(pk__in=[edge.pk for n, edge in enumerate(edges) if number & 1 << n])
            _act(project, editor, step, chosen, number, after)
            assert out(project) == _sum(project)
            _both_or_neither(project, pair)
            assert set(project.edges.filter(OUT).values_list("pk", flat=True)) == set(out(project))
        transaction.set_rollback(True)  # the next example begins with an empty project


def _both_or_neither(project, pair) -> None:
    """Once a link has left in place of another, one release added it and removed the other."""
    pair.refresh_from_db()
    halves = ReleaseLink.objects.filter(release__project=project, release__back_to=None)
    added = set(halves.filter(edge=pair.edge_id, operation=Operation.ADD).values_list("release", flat=True))
    removed = set(halves.filter(edge=pair.replaced_id, operation=Operation.REMOVE).values_list("release", flat=True))
    assert (pair.end == ReplacementEnd.RELEASED) <= bool(added & removed)


def _act(project, editor, step, chosen, number, after) -> None:
    if step == "release":
        _publish(project, after, lambda: create.create_release(project, chosen, user=editor))
    elif step == "back" and after:
        place = number % len(after)
        draft = back_to(Release.objects.get(project=project, number=place + 1), editor)
        _publish(project, after, lambda: create.publish(draft, editor))
        assert out(project) == after[place]
    elif step in ("nofollow", "follow"):
        outgoing.confirm(project, chosen, editor, Rel(step))
    elif step == "withdraw":
        outgoing.withdraw(project, chosen, editor)
    elif step == "keep":
        outgoing.take_back(project, chosen, editor)
    elif step == "reopen":
        seeing.reopen(project, list(chosen.values_list("pk", flat=True)), editor, "")
    elif step == "import":
        _crawl(project, chosen)
    elif step in ("accept", "reject"):
        for status in (EdgeStatus.SUGGESTED, EdgeStatus.WITHDRAWN):
            ids = list(chosen.filter(status=status).values_list("pk", flat=True))
            if ids and (step == "accept" or status == EdgeStatus.SUGGESTED):
                decisions.decide_edges(project, ids, Verb(step), editor, shown=decisions.Shown(status))


def _publish(project, after, make) -> None:
    try:
        with transaction.atomic():
            make()
    except NothingToExport:
        return
    after.append(out(project))


def _crawl(project, shown) -> None:
    """The site has put in the links of `shown`, and no others, and is looked at."""
    ExistingLink.objects.filter(project=project).delete()
    for edge in shown:
        make_link(edge.source, edge.target, edge.anchor)
    verify(project)


def _sum(project) -> dict[int, tuple[str, str]]:
    """The operations of all releases, one after the other."""
    there: dict[int, tuple[str, str]] = {}
    for link in ReleaseLink.objects.filter(release__project=project).order_by("release__number", "pk"):
        if link.operation == Operation.REMOVE:
            del there[link.edge_id]
        else:
            there[link.edge_id] = (link.anchor, link.rel)
    return there


@pytest.mark.nightly
def test_the_note_of_a_roll_back_is_in_the_language_of_who_reads_it(project, accepted, editor):
    first = release_of(project)
    make_edge(project, status=EdgeStatus.ACCEPTED, anchor="late", reviewed=True)
    release_of(project)
    draft = back_to(first, editor)
    with translation.override("de"):
        create.publish(draft, editor)
    decision = Decision.objects.filter(verb=Verb.ROLL_BACK).latest("pk")
    assert decision.note == f"Rolled back to release {first.number}"
    with translation.override("de"):
        assert note_of(decision) == f"Zurückgesetzt auf Auslieferung {first.number}"
