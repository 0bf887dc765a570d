"""Samples of links: drawn at random, and given to people who did not decide on them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import BigIntegerField, F, Func, Value

from linker.models import CandidateEdge, Membership, Role
from linker.projects.access import roles_of
from review.models import Decision, SampleLink, Verb

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from linker.models import Project
    from review.models import Drawn, Sample


def at_random(edge: str, seed: int) -> Func:
    """A number that is as good as drawn for each edge, and the same for the same seed: PostgreSQL's own hash of its id.
    The links with the least numbers are a simple random sample."""
    return Func(F(edge), Value(seed), function="hashint8extended", output_field=BigIntegerField())


@dataclass(frozen=True)
class Chosen:
    """An edge that was drawn."""

    edge: int
    drawn_from: Drawn


class Judges:
    """Who judges, in turn: editors, and managers where no editor is left who did not decide."""

    def __init__(self, project: Project) -> None:
        members = Membership.objects.filter(project=project, role__in=roles_of(Role.EDITOR), user__is_active=True)
        found = list(members.order_by("user").values_list("user", "role"))
        editors = [user for user, role in found if role != Role.MANAGER]
        self.pools = (editors, [user for user, role in found if role == Role.MANAGER])
        self.given: Counter[int] = Counter()

    def next(self, without: Collection[int]) -> int | None:
        """The one with the fewest links so far; None where nobody is left."""
        for pool in self.pools:
            free = [user for user in pool if user not in without]
            if free:
                chosen = min(free, key=lambda user: (self.given[user], user))
                self.given[chosen] += 1
                return chosen
        return None


def give(sample: Sample, drawn: Sequence[Chosen], twice: Collection[int] = ()) -> int:
    """Writes the links of a sample in their order, each for somebody who did not decide on it, and those in `twice` for
    a second person too, if there is one. Returns how many links nobody could be given."""
    edges = _edges(drawn)
    deciders, last = _deciders(edges)
    judges = Judges(sample.project)
    rows, for_nobody = [], 0
    for place, chosen in enumerate(drawn):
        edge = edges[chosen.edge]
        without = set(deciders[edge.pk])
        for turn in (0, 1) if edge.pk in twice else (0,):
            reader = judges.next(without)
            if turn and reader is None:
                continue
            for_nobody += reader is None
            rows.append(_row(sample, edge, chosen, place, turn, reader, last.get(edge.pk)))
            without |= {reader} if reader is not None else set()
    SampleLink.objects.bulk_create(rows, batch_size=1000)
    return for_nobody


def _edges(drawn: Iterable[Chosen]) -> dict[int, CandidateEdge]:
    found = CandidateEdge.objects.filter(pk__in=[one.edge for one in drawn]).select_related("tier", "source__category")
    return {edge.pk: edge for edge in found.only("tier__name", "probability", "generators", "source__category__path")}


def _deciders(edges: Collection[int]) -> tuple[dict[int, set[int]], dict[int, int]]:
    """By edge, who has ever decided on it, and who approved it last."""
    said = Decision.objects.filter(edge__in=edges).exclude(verb=Verb.UNDO).order_by("pk")
    deciders: dict[int, set[int]] = defaultdict(set)
    last = {}
    for edge, user, verb in said.values_list("edge", "user", "verb"):
        deciders[edge].add(user)
        if verb in (Verb.ACCEPT, Verb.EDIT):
            last[edge] = user
    return deciders, last


def _row(
    sample: Sample, edge: CandidateEdge, chosen: Chosen, place: int, turn: int, reader: int | None, by: int | None
) -> SampleLink:
    category = edge.source.category
    return SampleLink(
        sample=sample,
        project_id=sample.project_id,
        edge_id=edge.pk,
        place=place,
        turn=turn,
        reader_id=reader,
        drawn_from=chosen.drawn_from,
        decided_by_id=by,
        tier=edge.tier.name if edge.tier else "",
        probability=edge.probability,
        generators=edge.generators,
        section=category.path[0] if category else "",
    )
