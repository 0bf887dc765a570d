"""Judging the links of a sample: which one is next for somebody, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus, Membership, Reach, Role
from linker.models.querysets import APPROVED, of
from linker.projects.access import roles_of
from review.decisions import decide_edges
from review.models import UNDONE, Decision, Grade, Judgement, Reason, SampleKind, SampleLink, Verb
from review.queue.cards import JOINED, LONG, Card, cards_for
from review.releases.outgoing import withdraw
from review.rulings import Ruling, Shown

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Project
    from review.models import Sample

MOST_COUNTED = 500  # links that wait, as far as a page counts them


def audits(project: Project, most: int) -> list[Sample]:
    """The newest audits, each with how many links were `drawn`, whoever judges them."""
    found = list(project.samples.filter(kind=SampleKind.AUDIT).select_related("run")[:most])
    drawn = SampleLink.objects.filter(sample__in=found, turn=0).values_list("sample").annotate(Count("pk"))
    links = dict(drawn)
    for audit in found:
        audit.drawn = links.get(audit.pk, 0)  # type: ignore[attr-defined]
    return found


def waiting_for(project: Project, user: User) -> QuerySet[SampleLink]:
    """What a person can judge now, the oldest sample first: what was given to them, and what was given to nobody, or to
    somebody who cannot judge it any more. Never what they have decided on, or have judged as the other of two."""
    decided = Decision.objects.filter(edge=OuterRef("edge")).exclude(verb=Verb.UNDO)
    members = Membership.objects.filter(project=project, role__in=roles_of(Role.EDITOR), user__is_active=True)
    is_stuck = (
        Q(reader=None)
        | ~Exists(members.filter(user=OuterRef("reader")))
        | Exists(decided.filter(user=OuterRef("reader")))
    )
    other = SampleLink.objects.filter(sample=OuterRef("sample"), edge=OuterRef("edge"), reader=user)
    links = SampleLink.objects.filter(project=project, grade="").filter(Q(reader=user) | is_stuck)
    links = links.exclude(Exists(decided.filter(user=user)))
    return links.exclude(Exists(other.exclude(pk=OuterRef("pk")))).order_by("sample_id", "place", "turn")


_WAITING = """
SELECT coalesce(judge.name, '') AS name, count(*) FROM review_samplelink s LEFT JOIN LATERAL (
    SELECT u.username AS name FROM linker_membership m JOIN auth_user u ON u.id = m.user_id AND u.is_active
    WHERE m.project_id = s.project_id AND m.user_id = s.reader_id AND m.role = ANY(%(roles)s) AND NOT EXISTS (
        SELECT FROM review_decision d WHERE d.edge_id = s.edge_id AND d.user_id = s.reader_id AND d.verb <> %(undo)s)
) judge ON true
WHERE s.project_id = %(project)s AND s.grade = '' GROUP BY 1 ORDER BY 2 DESC, 1
"""


def waiting_by_reader(project: Project) -> list[tuple[str, int]]:
    """How many links wait, by the name of who has them, most first; "" for those that are anybody's to judge: given to
    nobody, or to somebody who cannot judge them any more."""
    values: dict[str, Any] = {
        "project": project.pk,
        "roles": [str(role) for role in roles_of(Role.EDITOR)],
        "undo": Verb.UNDO.value,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, values)
        return cursor.fetchall()


def card_of(link: SampleLink) -> Card:
    """The link as an open suggestion: nothing on the card tells what was decided or said of it, or how sure the run
    was."""
    edge = CandidateEdge.objects.select_related("project", *JOINED).defer(*LONG).get(pk=link.edge_id)
    edge.status, edge.stale, edge.reviewed, edge.regressed = EdgeStatus.SUGGESTED, False, False, False
    edge.rel = edge.tier.rel if edge.tier else edge.rel
    edge.tier = None
    [card] = cards_for([edge], [None])
    return Card(
        edge=edge,
        level=card.level,
        excerpt=card.excerpt,
        alternatives=(),
        decision=None,
        rels=(),
        paragraph=card.paragraph,
        opening=card.opening,
    )


@transaction.atomic
def judge(project: Project, user: User, link_id: int, grade: Grade, reason: str = "", note: str = "") -> Judgement:
    """Keeps what somebody says of a link. Raises UserError where they cannot judge it, or it was judged already."""
    link = SampleLink.objects.select_for_update().filter(project=project, pk=link_id).first()
    if link is None or not waiting_for(project, user).filter(pk=link_id).exists():
        raise UserError(_("Nothing was saved: this link was judged already, or is not yours to judge."))
    judgement = Judgement.objects.create(link=link, judge=user, grade=grade, reason=reason, note=note)
    link.grade, link.reader = grade, user
    link.save(update_fields=["grade", "reader"])
    return judgement


@transaction.atomic
def take_back(project: Project, user: User, judgement_id: int) -> bool:
    """Takes back what the user said; the link waits again. False where it was taken back already, or is not theirs."""
    own = Judgement.objects.select_for_update(of=("link",)).select_related("link")
    said = own.filter(pk=judgement_id, judge=user, link__project=project, undone_by=None).exclude(grade=UNDONE).first()
    if said is None:
        return False
    Judgement.objects.create(link=said.link, judge=user, grade=UNDONE, undoes=said)
    said.link.grade = ""
    said.link.save(update_fields=["grade"])
    return True


def last_of(project: Project, user: User) -> Judgement | None:
    """What the user said last, if it still holds."""
    said = Judgement.objects.filter(judge=user).exclude(grade=UNDONE).order_by("-pk")
    joined = ("link__edge__source", "link__edge__target", "link__sample")
    texts = [f"link__edge__{page}__{name}" for page in ("source", "target") for name in ("body", "headings")]
    found = said.filter(link__project=project, undone_by=None).select_related(*joined).defer(*texts)
    return found.first()


def bad_links(project: Project, most: int) -> list[SampleLink]:
    """What audits found bad and is still approved, the newest first."""
    rows = SampleLink.objects.filter(
        of("edge", APPROVED), project=project, grade=Grade.BAD, sample__kind=SampleKind.AUDIT
    )
    rows = rows.exclude(edge__pending__operation="remove")
    joined = rows.select_related("edge__source", "edge__target", "reader", "decided_by", "sample")
    texts = [f"edge__{page}__{name}" for page in ("source", "target") for name in ("body", "headings")]
    return list(joined.defer(*texts).prefetch_related("judgements").order_by("-sample_id", "place", "turn")[:most])


def put_right(project: Project, user: User, link_id: int) -> EdgeStatus | None:
    """Rejects a link that was judged bad, or withdraws it where it was released, in one step. Returns what it was, None
    where it is no longer approved."""
    link = SampleLink.objects.filter(project=project, pk=link_id, grade=Grade.BAD).select_related("edge").first()
    if link is None:
        return None
    note = _("Judged bad in an audit.")
    if link.edge.status == EdgeStatus.EXPORTED:
        done = withdraw(project, CandidateEdge.objects.filter(pk=link.edge_id), user, note)
        return EdgeStatus.EXPORTED if done else None
    said = link.judgements.exclude(reason="").order_by("pk").last()
    ruling = Ruling(reason=said.reason if said else Reason.OTHER, note=note, reach=Reach.GOOD)
    shown = Shown(status=EdgeStatus.ACCEPTED)
    outcome = decide_edges(project, [link.edge_id], Verb.REJECT, user, ruling, shown)
    return EdgeStatus.ACCEPTED if outcome.decided else None
