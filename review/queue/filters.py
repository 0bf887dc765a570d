"""QueueFilter: query string <-> queryset. The queue and the export share it, so that what is seen is what leaves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from django.db.models import BooleanField, Q, QuerySet, TextChoices
from django.db.models.expressions import RawSQL

from linker.engine.candidates import registry as generators
from linker.models import Basis, CandidateEdge, EdgeCount, EdgeStatus, Pilot, Placement, Project, RankedBy, Tier
from linker.models import QueueOrder as Order
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import DECIDED, OPEN, PROPOSED, SHOWN, UNDECIDED
from linker.models.subtrees import categories_below
from linker.query_strings import MAX_ID, is_id, unknown_fields
from review.queue.search import Search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_TEXT = 200
ALL = "all"
# What the pages that read a filter know besides its fields: where a list goes on, and what is wanted of it.
BESIDE = frozenset({"after", "at", "before", "bom", "file", "format", "reason"})
GAP = "gap"  # a placement to filter by: wanted in the text, which has no words for it
_IN_PILOT = "~pilot"  # at the end of a cursor


class Sensitive(TextChoices):
    ANY = "", "Any"
    ONLY = "only", "Sensitive only"
    NOT = "not", "Not sensitive"


class OfPilot(TextChoices):
    ANY = "", "Any"
    ONLY = "only", "Of pilots only"
    NOT = "not", "Not of pilots"


@dataclass(frozen=True)
class Cursor:
    """Where a list goes on: the sort values of the last edge shown, and its place in the list, from 1."""

    values: tuple[float | int, ...]
    position: int
    in_pilot: bool = False  # among the suggestions of an open pilot, which come first

    @classmethod
    def of(cls, edge: CandidateEdge, order: Order, position: int, *, in_pilot: bool = False) -> Self:
        return cls(tuple(getattr(edge, name.lstrip("-")) for name in order.fields), position, in_pilot)

    @classmethod
    def parse(cls, text: str, order: Order) -> Self | None:
        """The inverse of str(); None where the text is not a cursor of this order."""
        in_pilot = text.endswith(_IN_PILOT)
        parts = text.removesuffix(_IN_PILOT).split("~")
        if len(parts) != len(order.fields) + 1:
            return None
        try:
            values = tuple(
                float(part) if name.startswith("-") else int(part)
                for name, part in zip(order.fields, parts, strict=False)
            )
            position = int(parts[-1])
        except ValueError:
            return None
        whole = [position, *(value for value in values if isinstance(value, int))]
        return cls(values, position, in_pilot) if all(0 <= number <= MAX_ID for number in whole) else None

    def __str__(self) -> str:
        return "~".join(map(repr, (*self.values, self.position))) + (_IN_PILOT if self.in_pilot else "")


@dataclass(frozen=True)
class QueueFilter:
    """Which edges of a project are listed, and in which order. Empty fields do not restrict.

    `status` is a value of EdgeStatus or "all". `category` is the donor's, with its subtree. Suggestions that
    are held back (their tier is, or they score below every tier), and those the newest run no longer proposes, are
    left out unless `held` or `stale` asks for them (a tier that is asked for by name is shown, held back or not);
    decided edges are never left out for that.

    `tier` stands for all tiers of its name, whatever they read. `placement` is a value of Placement or GAP; gaps are
    "related" as well, since that is where they go as they are. `pilot` says whether the run that proposed the link last
    was a pilot. `later` lists what the reader has set aside, which is left out otherwise. `probability` is the lowest,
    in percent: links without one are left out. `usual` is the order of the project, which holds unless the query string
    says another.
    """

    tier: int | None = None
    status: str = EdgeStatus.SUGGESTED.value
    category: int | None = None
    sensitive: Sensitive = Sensitive.ANY
    text: str = ""
    donor: int | None = None
    acceptor: int | None = None
    placement: str = ""
    generator: str = ""
    ranked_by: str = ""
    probability: int | None = None
    pilot: OfPilot = OfPilot.ANY
    order: Order = Order.DONOR
    held: bool = False
    stale: bool = False
    later: bool = False
    ignored: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    usual: Order = dataclasses.field(default=Order.DONOR, compare=False)

    @classmethod
    def from_query(cls, query: Mapping[str, str], usual: str = Order.DONOR) -> Self:
        """Reads a QueryDict; `usual` is the project's order. A field that is not known and a value of the wrong form
        are left out, and the name is in `ignored`."""
        fields = {field.name for field in dataclasses.fields(cls) if field.compare}
        ignored: list[str] = []

        def identity(name: str) -> int | None:
            text = query.get(name, "").strip()
            if not text:
                return None
            if is_id(text):
                return int(text)
            ignored.append(name)
            return None

        def percent(name: str) -> int | None:
            number = identity(name)
            if number is not None and number > 100:
                ignored.append(name)
                return None
            return number or None

        def choice(name: str, known: list[str], default: str) -> str:
            text = query.get(name, default)
            if text in known:
                return text
            ignored.append(name)
            return default

        def words(name: str) -> str:
            text = query.get(name, "")
            if "\0" in text:  # no text that the database holds has one
                ignored.append(name)
                return ""
            return text.strip()[:MAX_TEXT]

        return cls(
            tier=identity("tier"),
            status=choice("status", [*EdgeStatus.values, ALL], cls.status),
            category=identity("category"),
            sensitive=Sensitive(choice("sensitive", Sensitive.values, Sensitive.ANY)),
            text=words("text"),
            donor=identity("donor"),
            acceptor=identity("acceptor"),
            placement=choice("placement", ["", *Placement.values, GAP], ""),
            generator=choice("generator", ["", *generators.GENERATORS], ""),
            ranked_by=choice("ranked_by", ["", *RankedBy.values], ""),
            probability=percent("probability"),
            pilot=OfPilot(choice("pilot", OfPilot.values, OfPilot.ANY)),
            order=Order(choice("order", Order.values, usual)),
            usual=Order(usual),
            held=choice("held", ["", "1"], "") == "1",
            stale=choice("stale", ["", "1"], "") == "1",
            later=choice("later", ["", "1"], "") == "1",
            ignored=(*ignored, *unknown_fields(query, fields | BESIDE)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as JSON values."""
        usual = {field.name: field.default for field in dataclasses.fields(self)} | {"order": self.usual}
        return {
            field.name: str(value) if isinstance(value, TextChoices) else value
            for field in dataclasses.fields(self)
            if field.compare and (value := getattr(self, field.name)) != usual[field.name]
        }

    @property
    def by_donor(self) -> bool:
        """Whether a donor's suggestions stand together."""
        return self.order != Order.SCORE

    def to_query(self) -> str:
        """The inverse of from_query, without the defaults."""
        return _encoded(self.to_dict())

    def export_query(self) -> str:
        """The query string that narrows an export down to what this filter lists."""
        values = self.to_dict() | {"status": self.status}
        return _encoded({name: value for name, value in values.items() if (name, value) != ("status", ALL)})

    def scope(self, project: Project, counted: Search | None = None) -> QuerySet[CandidateEdge]:
        """The project's edges under every field but `status`, `held` and `stale`, unsorted: what the counters count.

        `counted`: the search for `text`, of which the edges that it counts are wanted.
        """
        edges = CandidateEdge.objects.filter(project=project)
        if self.tier is not None:
            edges = edges.filter(tier__in=self._tiers(project))
        if self.category is not None:
            edges = edges.filter(source__category__in=categories_below(project, [self.category]))
        if self.sensitive == Sensitive.ONLY:
            edges = edges.exclude(sensitive="")
        if self.sensitive == Sensitive.NOT:
            edges = edges.filter(sensitive="")
        edges = edges.filter(self._placed())
        if self.ranked_by:
            edges = edges.filter(ranked_by=self.ranked_by)
        if self.text:
            search = Search(project, self.text) if counted is None else counted
            edges = edges.filter(search.holds() if counted is None else search.counted())
        if self.donor is not None:
            edges = edges.filter(source_id=self.donor)
        if self.acceptor is not None:
            edges = edges.filter(target_id=self.acceptor)
        if self.generator:
            edges = edges.filter(generators__contains=[self.generator])
        if self.probability is not None:
            edges = edges.filter(probability__gte=self.probability / 100)
        if self.pilot:
            pilots = list(Pilot.objects.filter(run__project=project).values_list("run", flat=True))
            edges = edges.filter(of_runs(pilots)) if self.pilot == OfPilot.ONLY else edges.exclude(run__in=pilots)
        return edges

    def counts(self, project: Project) -> QuerySet[EdgeCount] | None:
        """The counts that are kept of what `scope` holds; None where a field asks for what no count is kept of."""
        pages = self.text or self.donor is not None or self.acceptor is not None
        if pages or self.generator or self.probability is not None or self.pilot:
            return None
        return self._counts_of_kinds(project)

    def _counts_of_kinds(self, project: Project) -> QuerySet[EdgeCount]:
        """The counts under those of the fields that counts are kept by."""
        counts = kept_counts(project).filter(self._placed())
        if self.tier is not None:
            counts = counts.filter(tier__in=self._tiers(project))
        if self.category is not None:
            counts = counts.filter(category__in=categories_below(project, [self.category]))
        if self.sensitive:
            counts = counts.filter(is_sensitive=self.sensitive == Sensitive.ONLY)
        if self.ranked_by:
            counts = counts.filter(ranked_by=self.ranked_by)
        return counts

    def _tiers(self, project: Project) -> list[int]:
        """All tiers of the name of the one asked for."""
        named = Tier.objects.filter(project=project, pk=self.tier or 0).values("name")
        return list(Tier.objects.filter(project=project, name__in=named).values_list("pk", flat=True))

    def _placed(self) -> Q:
        """Of an edge as of a count of edges."""
        if self.placement == GAP:
            return Q(content_gap=True)
        return Q(placement=self.placement) if self.placement else Q()

    def queryset(self, project: Project) -> QuerySet[CandidateEdge]:
        """The edges asked for, in the order asked for."""
        edges = self.scope(project).filter(self.hidden_left_out())
        if self.status != ALL:
            edges = edges.filter(status=self.status)
        return edges.order_by(*self.order.fields)

    def parts(self, project: Project) -> list[QuerySet[CandidateEdge]]:
        """The same edges in parts that share none, each a range of one index in the order asked for: an index is
        ordered within a status, and that of the open suggestions within a tier. What is held back, however much it is,
        is not walked through."""
        edges = self.scope(project)
        parts = [
            edges.filter(status=status)
            for status in ([self.status] if self.status != ALL else EdgeStatus.values)
            if status != EdgeStatus.SUGGESTED
        ]
        if self.status in (EdgeStatus.SUGGESTED, ALL):
            parts += self._undecided_parts(edges, project)
        return [part.order_by(*self.order.fields) for part in parts]

    def _undecided_parts(self, edges: QuerySet[CandidateEdge], project: Project) -> list[QuerySet[CandidateEdge]]:
        if self.held and self.tier is None:
            return [edges.filter(UNDECIDED if self.stale else OPEN)]
        if self.stale:
            return [
                edges.filter(UNDECIDED, tier__in=_shown_tiers(project) if self.tier is None else self._tiers(project))
            ]
        kinds = self._counts_of_kinds(project)
        if self.tier is None:
            kinds = kinds.filter(SHOWN)
        # Not those that have none of the kind asked for: all of theirs would be looked at in vain.
        found = kinds.filter(OPEN).values_list("tier").annotate(edges=total()).order_by("tier")
        return [edges.filter(OPEN, tier=tier) for tier, number in found if number]

    def hidden_left_out(self) -> Q:
        """The condition that keeps back what the queue does not show unasked."""
        condition = Q()
        if not self.held and self.tier is None:
            condition &= DECIDED | SHOWN
        if not self.stale:
            condition &= DECIDED | PROPOSED
        return condition

    def after(self, cursor: Cursor) -> Q:
        """The condition for the edges that follow `cursor` in this order."""
        first, *_ = names = [name.lstrip("-") for name in self.order.fields]
        steps = [f"{name.lstrip('-')}__{'lt' if name.startswith('-') else 'gt'}" for name in self.order.fields]
        following = Q()
        for place, step in enumerate(steps):
            same = Q(*zip(names[:place], cursor.values[:place], strict=True))
            following |= same & Q((step, cursor.values[place]))
        # Implied by the rest, and what lets the index start at the cursor.
        return Q((f"{first}__lte", cursor.values[0])) & following


def _shown_tiers(project: Project) -> list[int]:
    return list(Tier.objects.filter(project=project, held=False).values_list("pk", flat=True))


@dataclass(frozen=True)
class ExportFilter(QueueFilter):
    """Which edges of a project an export is narrowed down to; without a status, those of every status.

    Which of them may leave, review.releases.checks says. `order`, `held`, `stale` and `later` do not apply.
    """

    status: str = ALL

    @classmethod
    def from_query(cls, query: Mapping[str, str], usual: str = Order.DONOR) -> Self:
        """As the queue reads it, without what does not apply."""
        asked = super().from_query(query, usual)
        ignored = tuple(name for name in asked.ignored if name not in ("order", "held", "stale", "later"))
        return dataclasses.replace(
            asked, order=cls.order, usual=cls.order, held=False, stale=False, later=False, ignored=ignored
        )

    def edges(self, project: Project) -> QuerySet[CandidateEdge]:
        """The edges asked for, unsorted."""
        edges = self.scope(project)
        return edges if self.status == ALL else edges.filter(status=self.status)


def _encoded(values: Mapping[str, Any]) -> str:
    return urlencode({name: 1 if value is True else value for name, value in values.items()})


def of_runs(runs: Sequence[int]) -> RawSQL:
    """The condition for the edges that these runs proposed last, by the index of runs.

    They are few of many: asked to list some in order, the planner would walk through all edges of the project until it
    has met enough of them.
    """
    return RawSQL(
        "linker_candidateedge.id = ANY(ARRAY(SELECT e.id FROM linker_candidateedge e WHERE e.run_id = ANY(%s)))",
        [list(runs)],
        output_field=BooleanField(),
    )


def generator_choices() -> list[tuple[str, str]]:
    """Who may have proposed a pair, by name and in words."""
    return generators.choices()


def generator_label(name: str) -> str:
    """Who proposed a pair, in words."""
    return generators.label_of(name)


def tier_choices(project: Project) -> list[Tier]:
    """The tiers that edges are read by, one of each name: those of the project's basis, and where that is the
    probability those of the similarity, by which edges without a probability are read."""
    bases = dict.fromkeys(
        [project.tier_basis, Basis.COSINE] if project.tier_basis == Basis.PROBABILITY else [project.tier_basis]
    )
    known: dict[str, Tier] = {}
    for basis in bases:
        for tier in Tier.objects.filter(project=project, basis=basis):
            known.setdefault(tier.name, tier)
    return list(known.values())
