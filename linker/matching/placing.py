"""Anchors and places: what each link says and which words of its donor's text it becomes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linker.engine.anchors.placement import NOWHERE
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic, primary_language, stop_words
from linker.engine.text.sentences import sentence_and_heading
from linker.matching.anchor_limit import AnchorLimit
from linker.matching.anchor_variety import MAX_ANCHOR_ALTERNATIVES
from linker.matching.donor_texts import DonorText, read_donor_texts
from linker.matching.room import silent_roles
from linker.matching.target_names import TargetNames
from linker.models.querysets import APPROVED, sql
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from linker.engine.anchors.candidates import AnchorCandidate
    from linker.engine.anchors.placement import Place
    from linker.engine.text.template import Template
    from linker.models import Project

    # (phrase as written in the text, where it comes from, how well it fits), the best first
    Phrase = tuple[str, str, float]

_quoted = json.encoder.encode_basestring
ONLY_PICKED = 0.5  # how well words fit that only an editor may choose: too little for them to take turns


class Placed(NamedTuple):
    """`anchor`, where it comes from, the other anchors as stored (JSON, an object each), and its place in the donor's
    body, if it has one: with the sentence around it, the heading above and the hash of that body. `fit`: how well these
    words of the text fit, NaN where that is not known; `traits`: theirs, 0 where they are not known."""

    anchor: str
    source: str
    others: list[str]
    span: tuple[int, int] | None
    sentence: str = ""
    heading: str = ""
    body_hash: int | None = None
    fit: float = math.nan
    traits: int = 0


class Phrases(Protocol):
    """Words of a donor's text that may become the link to a target, of the pairs that were read last. Those that fit
    less than `least` are only there to be picked by an editor. `template`: what the titles of their site share.
    `starts`: where the words would best become the link, and `traits`: those of words, both by words."""

    least: float
    template: Template

    def read(self, rows: NDArray[Any]) -> None: ...

    def of(self, source: int, target: int) -> Sequence[Phrase]: ...

    def starts(self, source: int, target: int) -> Mapping[str, int]: ...

    def traits(self, source: int, target: int) -> Mapping[str, int]: ...


class Placer:
    """Places links donor by donor; a target's anchors shall not all say the same.

    Anchors that people decided on, or wrote, count towards the project's limit and are not chosen again; those of the
    site's body links count as well.
    """

    def __init__(
        self, project: Project, sources: NDArray[Any], targets: NDArray[Any], phrases: Phrases | None = None
    ) -> None:
        """`sources`, `targets` [n]: of each link that will be placed. `phrases` knows words that mean a target; without
        it the target's own names are looked for."""
        self.project, self.phrases = project, phrases
        self.human_anchors = _human_anchors(project, np.unique(sources))
        self.limit = AnchorLimit(project, targets)
        self.names = TargetNames(project, np.unique(targets), phrases.template if phrases else None)
        self.silent_roles = silent_roles(project)
        self.donors: dict[int, DonorText] = {}
        self._allowed: dict[tuple[str, str], bool] = {}

    def read(self, rows: NDArray[Any]) -> None:
        """Reads the texts of the next rows' donors and the names of their targets, and forgets those before."""
        targets = np.unique(rows["target"])
        self.names.read(targets)
        self.limit.read(targets)
        if self.phrases is not None:
            self.phrases.read(rows)
        self._allowed, self.donors = {}, {}
        donors = np.unique(rows["source"]).tolist()
        self.donors = read_donor_texts(donors, self.names.usual_language, self.silent_roles)

    def has_prose(self, source: int) -> bool:
        """Whether an editor could add a sentence for a link to the text of a donor that was read."""
        return source in self.donors and self.donors[source].has_prose

    def place(self, source: int, target: int, counts: bool = True, inline: bool = True, least: float = 0.0) -> Placed:
        """The anchor and place of one more link of a donor that was read.

        `counts`: it counts towards the limit of identical anchors; a link that is held back does not. `inline`: it
        belongs into the text, on words that fit at least as well as `least`; one beside it takes a name of the target.
        """
        names, donor = self.names.of(target), self.donors.get(source)
        human_anchor = self.human_anchors.get((source, target))
        if human_anchor is not None:
            return _with_human_anchor(donor, target, human_anchor, names)
        if donor is None:
            return self._beside_the_text(target, names, counts)
        phrases, spare = self._words_for(source, target, names, least if inline else math.inf)
        if counts:
            phrases = self.limit.fresh_first(target, phrases)
        best = NOWHERE if self.phrases is None else self.phrases.starts(source, target)
        found = donor.page.take(phrases, ("", ""), best=best)
        heaviest = 1.0 if self.phrases else max((weight for _, _, weight in phrases), default=0.0)
        picks = [as_alternative(place, heaviest) for place in found.others]
        spare = [(phrase, origin, min(weight, ONLY_PICKED)) for phrase, origin, weight in spare]
        picks += [as_alternative(place, 1.0) for place in donor.page.places(spare, best)]
        if found.place is None:
            beside = self._beside_the_text(target, names, counts)
            return beside._replace(others=[*picks, *beside.others][:MAX_ANCHOR_ALTERNATIVES])
        if counts and not inline and self.limit.is_reached(target, found.anchor):
            name = self.limit.best_name(target, _whole(names))
            if not self.limit.is_reached(target, name.text):
                donor.page.release(found.place)
                self.limit.add(target, name.text)
                picks.insert(0, as_alternative(found.place, heaviest))
                return _placed(donor, name.text, name.source, [*picks, *besides(names, name.text)], None)
        if counts:
            self.limit.add(target, found.anchor)
        span, fit = (found.place.start, found.place.end), self._fit(source, target, found.anchor)
        placed = _placed(donor, found.anchor, found.source, [*picks, *besides(names, found.anchor)], span, fit)
        return placed._replace(traits=self._traits(source, target, found.anchor))

    def _beside_the_text(self, target: int, names: list[AnchorCandidate], counts: bool) -> Placed:
        """A link without a place, under a name of the target, with all its other names."""
        taken = self.limit.take_name(target, _whole(names)) if counts else None
        best = names[0] if taken is None else taken
        return Placed(best.text, best.source, [_stored(name) for name in names if name is not best], None)

    def _fit(self, source: int, target: int, anchor: str) -> float:
        """How well words of the text fit by themselves, whatever queries weigh; NaN where that is not known."""
        phrases = self.phrases.of(source, target) if self.phrases is not None else ()
        folded = fold(anchor)
        return next((weight for text, _, weight in phrases if fold(text) == folded), math.nan)

    def _traits(self, source: int, target: int, anchor: str) -> int:
        """The traits of words of the text; 0 where they are not known."""
        known = self.phrases.traits(source, target) if self.phrases is not None else {}
        folded = fold(anchor)
        return next((traits for text, traits in known.items() if fold(text) == folded), 0)

    def _words_for(
        self, source: int, target: int, names: list[AnchorCandidate], least: float
    ) -> tuple[Sequence[Phrase], Sequence[Phrase]]:
        """Words of the donor's text that may become the link, the best first, and those that can only be picked."""
        if self.phrases is None:
            return self._names_in_text(source, target, names), []
        found = [
            phrase
            for phrase in self.phrases.of(source, target)
            if self._is_allowed(phrase[0], source) and self.names.may_say(target, phrase[0])
        ]
        if target in self.names.by_name:
            own = {fold(name.text) for name in names}
            found = [phrase for phrase in found if fold(phrase[0]) in own]
        least = max(least, self.phrases.least)
        good = [phrase for phrase in found if phrase[2] >= least]
        queries = [name.text for name in names if name.source == "query"] if least < math.inf else []
        return _blended(good, queries, self.project.query_blend), [p for p in found if p[2] < least]

    def _names_in_text(self, source: int, target: int, names: list[AnchorCandidate]) -> list[Phrase]:
        """The target's names, and the words of the text that come nearest to the best of them."""
        found = [(name.text, name.source, 1.0) for name in names]
        if target not in self.names.by_name:
            best, words = names[0], self.donors[source].words
            span = words.nearest_to(best.text, stop_words(primary_language(self.names.language_of(target))))
            phrase = "" if span is None else words.text.text[span[0] : span[1]]
            if phrase and self._is_allowed(phrase, source) and self.names.may_say(target, phrase):
                found.append((phrase, "text" if best.source == "query" else best.source, 0.1))
        return found

    def _is_allowed(self, phrase: str, source: int) -> bool:
        """Whether words of a donor's text keep to the project's rules for anchors, as a target's own names do."""
        if len(phrase) > self.project.anchor_max_length:
            return False
        key = phrase, self.donors[source].language
        if key not in self._allowed:  # one read's donors say the same words of many targets
            self._allowed[key] = not is_generic(*key, self.project.banned_anchors)
        return self._allowed[key]


def _human_anchors(project: Project, donors: NDArray[Any]) -> dict[tuple[int, int], str]:
    """The anchors of these donors that people decided on, or wrote, by donor and target."""
    rows = stream(
        "human_anchors",
        "SELECT source_id, target_id, anchor FROM linker_candidateedge WHERE project_id = %s "
        f"AND source_id = ANY(%s) AND ({sql(APPROVED)} OR edited) ORDER BY id",
        [project.pk, donors.tolist()],
    )
    return {(source, target): anchor for source, target, anchor in rows}


def _with_human_anchor(donor: DonorText | None, target: int, anchor: str, names: list[AnchorCandidate]) -> Placed:
    """A link whose anchor a person decided on, where it is in the text, or may be."""
    span = None
    if donor is not None:
        span = donor.accepted.get(target)
        if span is None:
            place = donor.page.take([(anchor, "", 1.0)], (anchor, "")).place
            span = (place.start, place.end) if place else None
    return _placed(donor, anchor, "", besides(names, anchor), span)


def _placed(
    donor: DonorText | None,
    anchor: str,
    source: str,
    others: list[str],
    span: tuple[int, int] | None,
    fit: float = math.nan,
) -> Placed:
    if span is None or donor is None:
        return Placed(anchor, source, others[:MAX_ANCHOR_ALTERNATIVES], None)
    around = sentence_and_heading(donor.page.text, *span, donor.page.headings)
    return Placed(anchor, source, others[:MAX_ANCHOR_ALTERNATIVES], span, *around, donor.body_hash, fit)


def _whole(names: list[AnchorCandidate]) -> list[AnchorCandidate]:
    """The names that may take turns beside the text: the best, and whole titles and first headings. Parts of them,
    phrases of descriptions and queries ("sleeping bags uk") say what a page is about, but do not name it."""
    return [name for place, name in enumerate(names) if name.whole or not place]


def besides(names: list[AnchorCandidate], anchor: str) -> list[str]:
    """The target's names but the one that reads like the anchor, as alternatives."""
    folded = fold(anchor)
    return [_stored(name) for name in names if fold(name.text) != folded]


def _blended(found: list[Phrase], queries: list[str], blend: float) -> list[Phrase]:
    """Words of the text and search queries in one order, the heaviest first: words weigh their weight relative to the
    best of them, times 1 - blend, and the n-th query 1/n times blend."""
    if not queries:
        return found
    best = max((weight for _, _, weight in found), default=1.0)
    phrases = [(text, source, (1 - blend) * weight / best) for text, source, weight in found]
    phrases += [(text, "query", blend / place) for place, text in enumerate(queries, 1)]
    return sorted(phrases, key=lambda phrase: -phrase[2])


def as_alternative(place: Place, most: float) -> str:
    """Words of the text as an alternative; `fit`: their weight relative to the heaviest of the pair's."""
    fit = min(round(place.weight / most, 3), 1.0) if most else 1.0
    where = f', "start": {place.start}, "end": {place.end}, "fit": {fit}'
    return _as_json(place.anchor, place.source, place.anchor, where)


def _stored(candidate: AnchorCandidate) -> str:
    text, source, raw, impressions, whole = candidate
    more = ', "whole": true' if whole else ""
    return _as_json(text, source, raw, more if impressions is None else f'{more}, "impressions": {impressions}')


def _as_json(text: str, source: str, raw: str, more: str) -> str:
    """Several times faster than json.dumps of a dict, for which there are millions."""
    written = _quoted(text)
    return f'{{"text": {written}, "source": "{source}", "raw": {written if raw == text else _quoted(raw)}{more}}}'
