"""A sample of the links that the site's own editors made, ranked as if they were not there.

The queue shows some of them among the suggestions (review.queue.known_cards). A run over the whole site draws them
before it ranks, and keeps those that it would have suggested: what it says of them is what it says of any other pair.
Which links are drawn follows from the ids of their pages, so that most of a sample are those of the run before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db import connection

from linker.engine import worth
from linker.engine.anchors.placement import Place
from linker.engine.candidates.registry import names
from linker.engine.site import Pairs
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic
from linker.matching.anchor_use import use_of
from linker.matching.anchor_variety import MAX_ANCHOR_ALTERNATIVES
from linker.matching.donor_texts import read_donor_texts
from linker.matching.placing import as_alternative, besides
from linker.matching.room import silent_roles
from linker.matching.run_tiers import RunTiers
from linker.matching.target_names import TargetNames
from linker.models import Basis, CandidateEdge, ExistingLink, KnownAnswer, Page
from linker.models.linked import TEXT_LINK
from linker.models.querysets import PROPOSED
from linker.pages.languages import usual_language
from linker.pages.sensitive_marks import why_sensitive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from linker.engine.anchors.choice import AnchorChoice
    from linker.engine.site import Site
    from linker.matching.donor_texts import DonorText
    from linker.matching.needs import Needs
    from linker.models import Project, Run, Tier

MOST = 500  # kept of a project
DRAWN = 2 * MOST  # and ranked: of some the run would not have thought
HIDDEN = 0.1  # of a site's links, at most: the others are what the run goes by
LOOKED_AT = 4 * DRAWN
AT_A_TIME = 500


class LinkedWords(NamedTuple):
    """The words of a link that the site has, and where they stand in the donor's text."""

    anchor: str
    span: tuple[int, int]


@dataclass(frozen=True)
class KnownPairs:
    """What a run says of linked pairs, as if they were not linked: `rows` of FOUND, the words that the engine would
    have chosen for each, and why it would have suggested one of the rows."""

    rows: NDArray[Any]
    choices: Sequence[Sequence[AnchorChoice]]
    why: Callable[[int], tuple[str, dict[str, float]]]


# ------------------------------------------------------------------------------------------------------ drawing


def draw_known(project: Project, site: Site, ids: NDArray[np.int64]) -> Pairs:
    """Linked pairs of a site whose pages have these ids, drawn by chance: one a donor, on words that stand in its text
    and could be suggested. None that was ever a suggestion, which the site may have taken from us, and none with a
    sensitive page."""
    pages = len(site)
    keys = np.unique(site.links.src * pages + site.links.dst)
    source, target = keys // pages, keys % pages
    usable = np.flatnonzero(site.source[source] & site.target[target] & (source != target))
    order = usable[np.argsort(_chance(ids[source[usable]], ids[target[usable]]), kind="stable")]
    _, first = np.unique(source[order], return_index=True)
    order = order[np.sort(first)][:LOOKED_AT]
    most = min(DRAWN, int(len(keys) * HIDDEN))
    drawn: list[int] = []
    for start in range(0, len(order), AT_A_TIME):
        some = order[start : start + AT_A_TIME]
        pairs = list(zip(ids[source[some]].tolist(), ids[target[some]].tolist(), strict=True))
        suited = _suited(project, pairs)
        drawn += [place for place, pair in zip(some.tolist(), pairs, strict=True) if pair in suited]
        if len(drawn) >= most:
            break
    return Pairs(source[drawn[:most]], target[drawn[:most]])


def _chance(source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each pair of pages, the same in every run: the last step of splitmix64 (Steele, Lea, Flood 2014)."""
    mixed = source.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + target.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _suited(project: Project, pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the pairs that can be shown as a suggestion, and are the site's own."""
    donors = [source for source, _ in pairs]
    proposed = set(CandidateEdge.objects.filter(source__in=donors).values_list("source_id", "target_id"))
    sensitive = why_sensitive(project, sorted({page for pair in pairs for page in pair}))
    pairs = [pair for pair in pairs if pair not in proposed and not sensitive.keys() & set(pair)]
    return set(linked_words(project, pairs, _texts(project, [source for source, _ in pairs])))


def _texts(project: Project, donors: Sequence[int]) -> dict[int, DonorText]:
    return read_donor_texts(donors, usual_language(project), silent_roles(project))


def linked_words(
    project: Project, pairs: Sequence[tuple[int, int]], texts: dict[int, DonorText]
) -> dict[tuple[int, int], LinkedWords]:
    """The words on which each pair is linked in the donor's text, where a match run could have chosen them."""
    links = ExistingLink.objects.filter(TEXT_LINK, source__in={source for source, _ in pairs}).exclude(anchor="")
    wanted, found = set(pairs), dict[tuple[int, int], LinkedWords]()
    for source, target, anchor in links.order_by("pk").values_list("source_id", "target_id", "anchor"):
        pair = source, target
        if pair not in wanted or pair in found or source not in texts:
            continue
        donor = texts[source]
        if len(anchor) > project.anchor_max_length or is_generic(anchor, donor.language, project.banned_anchors):
            continue
        spans = [span for span in donor.page.existing if fold(donor.page.text[slice(*span)]) == fold(anchor)]
        if spans and donor.page.suits(spans[0]):
            found[pair] = LinkedWords(donor.page.text[slice(*spans[0])], spans[0])
    return found


# ------------------------------------------------------------------------------------------------------ keeping


def save_known(
    run: Run, known: KnownPairs, ranked_by: str, scores: NDArray[np.float64], tiers: RunTiers, needs: Needs
) -> int:
    """Keeps the linked pairs of a run in place of the sample before, in the caller's transaction; returns how many.

    `scores`: of the links that the run proposes, among which each has its rank.
    """
    KnownAnswer.objects.filter(project=run.project).update(stale=True)
    answers = _Answers(run, known, ranked_by, np.sort(scores), tiers, needs).made()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('linker_candidateedge', 'id')) FROM generate_series(1, %s)",
            [len(answers)],
        )
        for answer, (number,) in zip(answers, cursor.fetchall(), strict=True):
            answer.pk = number
    refreshed = [column.name for column in KnownAnswer._meta.concrete_fields if column.name not in ("id", "project")]
    KnownAnswer.objects.bulk_create(
        answers,
        update_conflicts=True,
        unique_fields=["source", "target"],
        update_fields=[name for name in refreshed if name not in ("source", "target")],
    )
    return len(answers)


class _Answers:
    """The rows to keep, one after the other."""

    def __init__(
        self,
        run: Run,
        known: KnownPairs,
        ranked_by: str,
        scores: NDArray[np.float64],
        tiers: RunTiers,
        needs: Needs,
    ) -> None:
        self.run, self.project, self.known, self.ranked_by = run, run.project, known, ranked_by
        self.scores, self.tiers, self.needs = scores, tiers, needs
        rows = known.rows
        self.cohorts = tiers.cohorts(rows, np.ones(len(rows), dtype=np.bool_)).tolist()
        self.pairs = list(zip(rows["source"].tolist(), rows["target"].tolist(), strict=True))
        self.texts = _texts(self.project, [source for source, _ in self.pairs])
        self.words = linked_words(self.project, self.pairs, self.texts)
        targets = np.unique(rows["target"])
        self.names = TargetNames(self.project, targets)
        self.names.read(targets)
        self.use = use_of(self.project, targets.tolist())
        donors = Page.objects.filter(pk__in=[source for source, _ in self.pairs])
        self.sections = dict(donors.values_list("pk", "category"))

    def made(self) -> list[KnownAnswer]:
        found = [self._answer(place, pair) for place, pair in enumerate(self.pairs) if self._is_usable(pair)]
        order = _chance(*(np.array(side) for side in zip(*((a.source_id, a.target_id) for a in found), strict=True)))
        return [found[place] for place in np.argsort(order, kind="stable")[:MOST]] if found else []

    def _is_usable(self, pair: tuple[int, int]) -> bool:
        """Whether its words would be proposed: not where too many other links to the page say the same."""
        if pair not in self.words:
            return False
        others = self.use.times(pair[1], self.words[pair].anchor) - 1
        return others < self.project.identical_anchor_limit and self.names.may_say(pair[1], self.words[pair].anchor)

    def _answer(self, place: int, pair: tuple[int, int]) -> KnownAnswer:
        row = self.known.rows[place]
        words, donor = self.words[pair], self.texts[pair[0]]
        choices = {fold(choice.text): choice for choice in self.known.choices[place]}
        own = choices.get(fold(words.anchor))
        probability, score = float(row["probability"]), float(row["score"])
        if own is not None:  # as it stands on these words: see linker.matching.new_links
            on_words = round(min(probability, float(row["beside"]) * own.weight), 6)
            score = round(score * on_words / probability, 6) if probability else score
            probability = on_words
        quantile = round(float(np.searchsorted(self.scores, score, side="right")) / max(len(self.scores), 1), 6)
        why, evidence = self.known.why(int(row["place"]))
        answer = KnownAnswer(
            project=self.project,
            source_id=pair[0],
            target_id=pair[1],
            section=self.sections.get(pair[0]) or 0,
            run=self.run,
            generators=names(int(row["found"])),
            ranked_by=self.ranked_by,
            level=int(row["level"]),
            similarity=float(row["similarity"]),
            score=score,
            probability=probability,
            quantile=quantile,
            why=why,
            evidence=evidence,
            anchor=words.anchor,
            anchor_source=own.source if own is not None else "text",
            anchor_alternatives=self._others(donor, words, pair[1], list(choices.values())),
            span_start=words.span[0],
            span_end=words.span[1],
            body_hash=donor.body_hash,
            **self._worth(pair, probability),
        )
        _read_tier(answer, self.tiers, self.cohorts[place])
        return answer

    def _others(
        self, donor: DonorText, words: LinkedWords, target: int, choices: Sequence[AnchorChoice]
    ) -> list[dict[str, Any]]:
        """The other anchors, as of any suggestion: words of the text, then names of the target."""
        donor.page.release(Place(*words.span, words.anchor, "", 0.0))
        places = donor.page.places([(choice.text, choice.source, choice.weight) for choice in choices])
        most = max((place.weight for place in places), default=1.0)
        in_text = [as_alternative(place, most) for place in places if fold(place.anchor) != fold(words.anchor)]
        others = [*in_text, *besides(self.names.of(target), words.anchor)]
        return [json.loads(other) for other in others[:MAX_ANCHOR_ALTERNATIVES]]

    def _worth(self, pair: tuple[int, int], chance: float) -> dict[str, Any]:
        source, target = self.needs.places(np.array(pair)).tolist()
        need = float(self.needs.need[target]) if target >= 0 else 0.0
        authority = float(self.needs.authority[source]) if source >= 0 else np.nan
        weight = float(worth.weight(np.array([need]), np.array([authority]))[0])
        return {
            "need": need,
            "lacks": self.needs.said(target),
            "authority": None if authority != authority else authority,
            "worth": round(chance * weight, 6),
        }


def _read_tier(answer: KnownAnswer, tiers: RunTiers, cohort: int) -> None:
    tier: Tier | None = tiers.read(
        {
            Basis.PROBABILITY: answer.probability or 0.0,
            Basis.QUANTILE: answer.quantile,
            Basis.COSINE: answer.similarity,
        }[tiers.basis],
        cohort,
    )
    answer.tier = tier
    answer.placement = tier.placement if tier else "related"
    answer.rel = tier.rel if tier else "nofollow"


_PAIR = np.dtype([("source", "i8"), ("target", "i8")])


def retier_known(project: Project) -> None:
    """Reads the tiers of the sample again, as those of the suggestions are."""
    answers = list(KnownAnswer.objects.filter(PROPOSED, project=project))
    if not answers:
        return
    tiers = RunTiers(project, np.array([answer.probability for answer in answers], dtype=np.float64))
    pairs = np.array([(answer.source_id, answer.target_id) for answer in answers], dtype=_PAIR)
    cohorts = tiers.cohorts(pairs, np.ones(len(pairs), dtype=np.bool_))  # all are links in the text
    for answer, cohort in zip(answers, cohorts.tolist(), strict=True):
        _read_tier(answer, tiers, cohort)
    KnownAnswer.objects.bulk_update(answers, ["tier", "placement", "rel"])
