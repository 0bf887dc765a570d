"""QueueFilter: query string <-> queryset. The queue and the export share it, so that what is seen is what leaves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from django.db.models import BooleanField, Q, QuerySet, TextChoices
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from linker.engine.candidates import registry as generators
from linker.models import CandidateEdge, EdgeCount, EdgeStatus, Pilot, Placement, Project, RankedBy, Tier
from linker.models import QueueOrder as Order
from linker.models.edge_bands import open_at_least
from linker.models.edge_counts import kept_counts, total
from linker.models.placements import Stands, standing
from linker.models.querysets import DECIDED, OPEN, PROPOSED, SHOWN, STALE, UNDECIDED, WAITING
from linker.models.subtrees import categories_below
from linker.query_strings import day_of, is_id, unknown_fields
from review.queue.few import FEW, count_new, likely_ones, new_ones
from review.queue.search import Search, search_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from review.queue.cursor import Cursor

MAX_TEXT = 200
ALL = "all"
# What the pages that read a filter know besides its fields: where a list goes on, and what is wanted of it.
BESIDE = frozenset({"after", "at", "before", "bom", "file", "format", "look", "reason"})
GAP = "gap"  # a placement to filter by: wanted in the text, which has no words for it that are sure enough
# The placements to filter by. The first four share out all suggestions; the others hold several of them.
PLACEMENTS = {
    **{place.value: place.label for place in Stands},
    Placement.RELATED.value: _("Beside the text"),
    GAP: _("Without sure words in the text, wherever they go"),
}


class Sensitive(TextChoices):
    ANY = "", _("Any")
    ONLY = "only", _("Sensitive only")
    NOT = "not", _("Not sensitive")


class OfPilot(TextChoices):
    ANY = "", _("Any")
    ONLY = "only", _("Of pilots only")
    NOT = "not", _("Not of pilots")


@dataclass(frozen=True)
class QueueFilter:
    """Which edges of a project are listed, and in which order. Empty fields do not restrict.

    `status` is a value of EdgeStatus or "all". `category` is the donor's, with its subtree. Suggestions that
    are held back (their tier is, or they score below every tier), and those the newest run no longer proposes, are
    left out unless `held` or `stale` asks for them (a tier that is asked for by name is shown, held back or not);
    decided edges are never left out for that.

    `tier` stands for all tiers of its name, whatever they read. `placement` is one of PLACEMENTS. `pilot` says whether
    the run that proposed the link last was a pilot. `since` is the day, on the project's clock, from which on the link
    was first proposed. `regressed` lists what was live on the site and has gone, of every tier; `second` accepted links
    that wait for a second person. `later` lists what the reader has set aside and `waiting` what the reader waits for
    an opinion on, both left out otherwise; `asked` what others have asked the reader's opinion on. `probability` is the
    lowest, in percent: links without one are left out. `usual` is the order of the project, which holds unless the
    query string says another.
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
    since: date | None = None
    order: Order = Order.DONOR
    held: bool = False
    stale: bool = False
    regressed: bool = False
    second: bool = False
    later: bool = False
    asked: bool = False
    waiting: bool = False
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

        def day(name: str) -> date | None:
            text = query.get(name, "").strip()
            found = day_of(text)
            if text and found is None:
                ignored.append(name)
            return found

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
            placement=choice("placement", ["", *PLACEMENTS], ""),
            generator=choice("generator", ["", *generators.GENERATORS], ""),
            ranked_by=choice("ranked_by", ["", *RankedBy.values], ""),
            probability=percent("probability"),
            pilot=OfPilot(choice("pilot", OfPilot.values, OfPilot.ANY)),
            since=day("since"),
            order=Order(choice("order", Order.values, usual)),
            usual=Order(usual),
            held=choice("held", ["", "1"], "") == "1",
            stale=choice("stale", ["", "1"], "") == "1",
            regressed=choice("regressed", ["", "1"], "") == "1",
            second=choice("second", ["", "1"], "") == "1",
            later=choice("later", ["", "1"], "") == "1",
            asked=choice("asked", ["", "1"], "") == "1",
            waiting=choice("waiting", ["", "1"], "") == "1",
            ignored=(*ignored, *unknown_fields(query, fields | BESIDE)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as JSON values."""
        usual = {field.name: field.default for field in dataclasses.fields(self)} | {"order": self.usual}
        return {
            field.name: str(value) if isinstance(value, TextChoices | date) else value
            for field in dataclasses.fields(self)
            if field.compare and (value := getattr(self, field.name)) != usual[field.name]
        }

    @property
    def is_personal(self) -> bool:
        """Whether the list is the reader's own: nobody else would find the same in it."""
        return self.later or self.asked or self.waiting

    @property
    def side(self) -> str:
        """What the suggestions of a group have in common: "acceptor", "category" or else "donor"."""
        return {Order.TARGET: "acceptor", Order.CATEGORY: "category"}.get(self.order, "donor")

    def group_of(self, edge: CandidateEdge) -> int:
        """The id of that."""
        return {"acceptor": edge.target_id, "category": edge.section, "donor": edge.source_id}[self.side]

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
        edges = CandidateEdge.objects.filter(self.of_columns(project), project=project)
        if self.sensitive == Sensitive.ONLY:
            edges = edges.exclude(sensitive="")
        if self.sensitive == Sensitive.NOT:
            edges = edges.filter(sensitive="")
        if self.text:
            edges = edges.filter(search_of(project, self.text).holds() if counted is None else counted.counted())
        if self.regressed:
            edges = edges.filter(regressed=True)
        if self.second:
            edges = edges.filter(WAITING)
        if self.pilot:
            pilots = list(Pilot.objects.filter(run__project=project).values_list("run", flat=True))
            edges = edges.filter(of_runs(pilots)) if self.pilot == OfPilot.ONLY else edges.exclude(run__in=pilots)
        if self.since is not None:
            start = project.begin_of(self.since)
            edges = edges.filter(new_ones(project, start, count_new(project, start)))
        return edges

    def of_columns(self, project: Project) -> Q:
        """The condition under those of the fields that ask for one value of an edge, or of a known answer."""
        asked = {
            "ranked_by": self.ranked_by or None,
            "source_id": _led_to(project, self.donor),
            "target_id": _led_to(project, self.acceptor),
            "generators__contains": [self.generator] if self.generator else None,
            "probability__gte": None if self.probability is None else self.probability / 100,
        }
        condition = self._placed(project) & Q(**{name: value for name, value in asked.items() if value is not None})
        if self.tier is not None:
            condition &= Q(tier__in=self._tiers(project))
        if self.category is not None:
            condition &= Q(section__in=categories_below(project, [self.category]))
        return condition

    def counts(self, project: Project) -> QuerySet[EdgeCount] | None:
        """The counts that are kept of what `scope` holds; None where a field asks for what no count is kept of."""
        return self._counts_of_kinds(project) if self.is_counted else None

    @property
    def is_counted(self) -> bool:
        """Whether counts are kept of what `scope` holds."""
        pages = self.text or self.donor is not None or self.acceptor is not None
        numbers = self.probability is not None or self.since is not None
        return not (pages or numbers or self.generator or self.pilot or self.regressed or self.second)

    def _counts_of_kinds(self, project: Project) -> QuerySet[EdgeCount]:
        """The counts under those of the fields that counts are kept by."""
        return kept_counts(project).filter(self.kinds(project))

    def kinds(self, project: Project) -> Q:
        """The condition for the counts under those of the fields that counts are kept by."""
        kinds = self._placed(project, counted=True)
        if self.tier is not None:
            kinds &= Q(tier__in=self._tiers(project))
        if self.category is not None:
            kinds &= Q(category__in=categories_below(project, [self.category]))
        if self.sensitive:
            kinds &= Q(is_sensitive=self.sensitive == Sensitive.ONLY)
        if self.ranked_by:
            kinds &= Q(ranked_by=self.ranked_by)
        return kinds

    def _tiers(self, project: Project) -> list[int]:
        """All tiers of the name of the one asked for."""
        named = Tier.objects.filter(project=project, pk=self.tier or 0).values("name")
        return list(Tier.objects.filter(project=project, name__in=named).values_list("pk", flat=True))

    def _placed(self, project: Project, *, counted: bool = False) -> Q:
        if self.placement == GAP:
            return Q(content_gap=True)
        if self.placement in (Stands.LINE, Stands.LIST, Stands.SENTENCE):
            return standing(project, self.placement, counted=counted)
        return Q(placement=self.placement) if self.placement else Q()

    def queryset(self, project: Project) -> QuerySet[CandidateEdge]:
        """The edges asked for, in the order asked for. Only `parts` finds the first of many by an index."""
        edges = self.scope(project).filter(self.hidden_left_out())
        if self.status != ALL:
            edges = edges.filter(status=self.status)
        return edges.order_by(*self.order.fields)

    def parts(self, project: Project) -> list[QuerySet[CandidateEdge]]:
        """The same edges in parts that share none, each a range of one index in the order asked for: what is open is
        in order within a tier, and what is decided or stale within a status. What is held back, however much it is, is
        not walked through."""
        edges = self.scope(project)
        parts = [
            edges.filter(status=status)
            for status in ([self.status] if self.status != ALL else EdgeStatus.values)
            if status != EdgeStatus.SUGGESTED
        ]
        if self.status in (EdgeStatus.SUGGESTED, ALL):
            # Each part has a tier of its own: asked for twice, it would seem rarer than it is to the planner.
            edges = dataclasses.replace(self, tier=None, since=None).scope(project)
            parts += self._open_parts(edges, project) if self.since is None else self._new_parts(edges, project)
            if self.stale and self.since is None:
                parts += self._stale_parts(edges, project)
        return [part.order_by(*part.query.order_by, *self.order.fields) for part in parts]  # _in_tier begins some

    def undecided_parts(self, project: Project) -> list[QuerySet[CandidateEdge]]:
        """Those parts without what is decided."""
        if self.status not in (EdgeStatus.SUGGESTED, ALL):
            return []
        return dataclasses.replace(self, status=EdgeStatus.SUGGESTED.value).parts(project)

    @property
    def _every_tier(self) -> bool:
        """Whether no tier is kept back, nor what scores below every tier."""
        return (self.held or self.regressed) and self.tier is None

    def _open_parts(self, edges: QuerySet[CandidateEdge], project: Project) -> list[QuerySet[CandidateEdge]]:
        if self.regressed and self.tier is None:
            return [edges.filter(OPEN)]  # few of many, by an index of their own
        kinds = self._counts_of_kinds(project)
        if self.tier is None and not self.held:
            kinds = kinds.filter(SHOWN)
        # Not those that have none of the kind asked for: all of theirs would be looked at in vain.
        found = kinds.filter(OPEN).values_list("tier").annotate(edges=total()).order_by("tier")
        tiers = [tier for tier, number in found if number]
        if self.probability is None:
            return [_in_tier(edges.filter(OPEN), tier) for tier in tiers]
        likely = open_at_least(project, self.probability)
        return [
            _in_tier(
                edges.filter(OPEN, Q() if likely[tier] > FEW else Q(likely_ones(project, tier, self.probability))), tier
            )
            for tier in tiers
            if likely[tier]
        ]

    def _stale_parts(self, edges: QuerySet[CandidateEdge], project: Project) -> list[QuerySet[CandidateEdge]]:
        if self._every_tier:
            return [edges.filter(UNDECIDED, STALE)]
        return [
            edges.filter(
                UNDECIDED, STALE, tier__in=_shown_tiers(project) if self.tier is None else self._tiers(project)
            )
        ]

    def _new_parts(self, edges: QuerySet[CandidateEdge], project: Project) -> list[QuerySet[CandidateEdge]]:
        """Of each tier that has new ones."""
        assert self.since is not None
        start = project.begin_of(self.since)
        new = count_new(project, start)
        if not self._every_tier:
            asked = _shown_tiers(project) if self.tier is None else self._tiers(project)
            new = {tier: number for tier, number in new.items() if tier in asked}
        parts = []
        for tier, number in new.items():
            some = edges.filter(new_ones(project, start, {tier: number}))
            parts.append(_in_tier(some.filter(OPEN), tier))
            if self.stale:
                parts.append(some.filter(UNDECIDED, STALE, tier=tier))
        return parts

    def hidden_left_out(self) -> Q:
        """The condition that keeps back what the queue does not show unasked."""
        condition = Q()
        if not (self.held or self.regressed) and self.tier is None:
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
        bound = "lte" if self.order.fields[0].startswith("-") else "gte"
        return Q((f"{first}__{bound}", cursor.values[0])) & following


def _in_tier(edges: QuerySet[CandidateEdge], tier: int | None) -> QuerySet[CandidateEdge]:
    """Open ones of a tier, or those that score below every tier. These are sorted by it besides: unlike a number, a
    null that is asked for does not tell the planner that the rest of the index is in order."""
    return edges.filter(tier=tier) if tier is not None else edges.filter(tier=None).order_by("tier_id")


def _shown_tiers(project: Project) -> list[int]:
    return list(Tier.objects.filter(project=project, held=False).values_list("pk", flat=True))


@dataclass(frozen=True)
class ExportFilter(QueueFilter):
    """Which edges of a project an export is narrowed down to; without a status, those of every status.

    Which of them may leave, review.releases.checks says. `order`, `held`, `stale` and what is the reader's own do not
    apply.
    """

    status: str = ALL

    @classmethod
    def from_query(cls, query: Mapping[str, str], usual: str = Order.DONOR) -> Self:
        """As the queue reads it, without what does not apply."""
        asked = super().from_query(query, usual)
        switches = ("held", "stale", "later", "asked", "waiting")
        ignored = tuple(name for name in asked.ignored if name not in ("order", *switches))
        off: dict[str, Any] = dict.fromkeys(switches, False)
        return dataclasses.replace(asked, order=cls.order, usual=cls.order, ignored=ignored, **off)

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


def _led_to(project: Project, page: int | None) -> int | None:
    """The page itself, or the one that it leads to by now, which has its suggestions."""
    if page is None:
        return None
    successors = project.pages.filter(pk=page, successor__isnull=False).values_list("successor", flat=True)
    return successors.first() or page
