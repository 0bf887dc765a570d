"""Anchors and places: what each link says and which words of its donor's text it becomes."""

from __future__ import annotations

import itertools
import json
import math
import operator
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linker.embedding.service import site_template
from linker.engine.anchors.candidates import AnchorCandidate, TargetText, anchor_candidates
from linker.engine.anchors.diversity import AnchorUse, choose, may_replace, word_set
from linker.engine.anchors.placement import Folded, Place, Placement, Words
from linker.engine.anchors.placement import Page as Text
from linker.engine.patterns import compile_pattern
from linker.engine.roles.policy import Receives, role_links
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic, primary_language, stop_words
from linker.engine.text.sentences import reads_as, sentence_and_heading
from linker.matching.anchor_use import carried
from linker.matching.anchor_variety import MOST_ALTERNATIVES
from linker.matching.room import has_prose_sql, silent_roles
from linker.matching.search_queries import target_queries
from linker.matching.spill import Spool
from linker.models.linked import IN_TEXT
from linker.pages.languages import usual_language
from linker.pages.roles import pages_that
from linker.storage.store import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.anchors.search_queries import Query
    from linker.models import Project

    # (phrase as it stands in the text, where it comes from, how well it fits), best first
    Phrase = tuple[str, str, float]

_quoted = json.encoder.encode_basestring
ONLY_PICKED = 0.5  # how well words fit that only an editor may choose: too little for them to take turns
TARGETS_AT_A_TIME = 1000


class Placed(NamedTuple):
    """`anchor`, where it comes from, the other anchors as stored (JSON, an object each), and its place in the donor's
    body, if it has one: with the sentence around it, the heading above and the hash of that body. `fit`: how well these
    words of the text fit, NaN where that is not known."""

    anchor: str
    source: str
    others: list[str]
    span: tuple[int, int] | None
    sentence: str = ""
    heading: str = ""
    body_hash: int | None = None
    fit: float = math.nan


class Phrases(Protocol):
    """Words of a donor's text that may become the link to a target, of the pairs that were read last. Those that fit
    less than `least` are only there to be picked by an editor."""

    least: float

    def read(self, rows: NDArray[Any]) -> None: ...

    def of(self, source: int, target: int) -> Sequence[Phrase]: ...


class Placer:
    """Places links donor by donor; a target's anchors shall not all say the same.

    Anchors that people decided on, or wrote, count towards the project's limit and are not chosen again; those of the
    site's body links count as well.
    """

    def __init__(self, project: Project, targets: NDArray[Any], phrases: Phrases | None = None) -> None:
        """`phrases` knows words that mean a target; without it the target's own names are looked for."""
        self.phrases = phrases
        self.project = project
        self.limit = project.identical_anchor_limit
        self.settled: dict[tuple[int, int], str] = {}
        for source, target, anchor in stream(
            "settled",
            "SELECT source_id, target_id, anchor FROM linker_candidateedge WHERE project_id = %s "
            "AND (status IN ('accepted', 'exported') OR edited) ORDER BY id",
            [project.pk],
        ):
            self.settled[source, target] = anchor
        ids, links = np.unique(targets, return_counts=True)
        self.carried = _Carried(project, ids)
        self.use = AnchorUse(self.carried.of)
        # A target of so few links that none of its anchors can come to the limit needs no counting.
        self.crowded = ids[links + self.carried.links > self.limit]
        self.counted: set[int] = set()
        self.template, self.usual = site_template(project), usual_language(project)
        self.patterns = [compile_pattern(pattern) for pattern in project.title_patterns]
        self.shared = _shared_names(project)
        roles = role_links(project.role_links)
        # Pages that are linked to under their own names alone.
        self.by_name = pages_that(project, [role for role, one in roles.items() if one.receives is Receives.NAME])
        self.spool = Spool(ids)
        self.told: dict[int, list[Any]] = {}
        self.kept: dict[int, tuple[int, int]] = {}
        self.queries: dict[int, list[Query]] = {}
        self.names: dict[int, list[AnchorCandidate]] = {}
        self.languages: dict[int, str] = {}
        self.texts: dict[int, Text] = {}
        self.silent = silent_roles(project)
        self.with_prose: set[int] = set()  # donors whose text could take a sentence for a link
        self.hashes: dict[int, int] = {}
        self.spans: dict[tuple[int, int], tuple[int, int]] = {}
        self.words: dict[int, Words] = {}
        self.allowed: dict[tuple[str, str], bool] = {}

    def _read_names(self, targets: NDArray[Any]) -> None:
        """What the names of the next rows' targets are made of, where they are not known yet."""
        if self.told:
            self.spool.put(
                {
                    page: (self.languages[page], [tuple(name) for name in self.names[page]])
                    for page in self.told.keys() & self.names.keys()
                }
            )
        self.names, self.languages = {}, {}
        self.carried.forget()
        self.counted = set(targets[np.isin(targets, self.crowded)].tolist())
        self.kept = self.spool.where(targets)
        new = [target for target in targets.tolist() if target not in self.kept]
        self.queries = target_queries(new) if new and self.project.query_blend else {}
        self.told = {}
        if new:
            columns = "id, url, title, h1, headings, description, own_language"
            for page, *texts in stream(
                "names", f"SELECT {columns} FROM linker_page WHERE id = ANY(%s)", [new], size=len(new) + 1
            ):
                self.told[page] = texts

    def _names(self, target: int) -> list[AnchorCandidate]:
        """The anchors of a target of these rows: found when it is met first, read again from a file later."""
        if target in self.names:
            return self.names[target]
        if target in self.kept:
            language, known = self.spool.read(self.kept[target])
            names = list(map(AnchorCandidate._make, known))
        else:
            url, title, h1, headings, text, language = self.told[target]
            language = language or self.usual
            # A name that several pages have tells none of them apart.
            if h1 in self.shared and title and title not in self.shared:
                h1 = ""
            elif title in self.shared and h1 and h1 not in self.shared:
                title = ""
            names = anchor_candidates(
                TargetText(url=url, title=title, h1=h1, headings=headings, description=text, language=language),
                template=self.template,
                patterns=self.patterns,
                banned=self.project.banned_anchors,
                max_length=self.project.anchor_max_length,
                queries=self.queries.get(target, ()),
                query_blend=self.project.query_blend,
            )
            if target in self.by_name:
                names = [name for name in names if name.whole] or names[:1]
        self.names[target], self.languages[target] = names, language
        return names

    def read(self, rows: NDArray[Any]) -> None:
        """Reads the texts of the next rows' donors, with the words that are links already or will become those that
        people accepted, and the names of their targets, and forgets those before."""
        donors = np.unique(rows["source"]).tolist()
        self._read_names(np.unique(rows["target"]))
        if self.phrases is not None:
            self.phrases.read(rows)
        self.texts, self.hashes, self.spans, self.words, self.allowed = {}, {}, {}, {}, {}
        self.with_prose = set()
        bodies = list(
            stream(
                "bodies",
                f"SELECT id, body, own_language, body_hash, h1, headings, {has_prose_sql('p', '%s')} "
                "FROM linker_page p WHERE id = ANY(%s) AND body <> ''",
                [self.silent, donors],
                500,
            )
        )
        if not bodies:
            return
        texts = {page: body for page, body, *_ in bodies}
        taken: dict[int, list[tuple[int, int]]] = defaultdict(list)
        accepted: set[tuple[int, int, str]] = set()
        for source, target, start, end, anchor in stream(
            "taken",
            "SELECT source_id, target_id, span_start, span_end, anchor FROM linker_candidateedge "
            "WHERE source_id = ANY(%s) AND status IN ('accepted', 'exported') AND placement = 'inline' "
            "AND span_start IS NOT NULL AND span_end IS NOT NULL ORDER BY id",
            [list(texts)],
        ):
            if reads_as(texts[source], start, end, anchor):
                taken[source].append((start, end))
                self.spans[source, target] = start, end
                accepted.add((source, target, fold(anchor)))
        linked: dict[int, list[str]] = defaultdict(list)
        for source, target, anchor in stream(
            "linked",
            f"SELECT source_id, target_id, anchor FROM linker_existinglink WHERE source_id = ANY(%s) AND {IN_TEXT} "
            "AND missing_since IS NULL AND anchor <> ''",
            [list(texts)],
        ):
            if (source, target, fold(anchor)) not in accepted:  # else it is that link, on the site by now
                linked[source].append(anchor)
        for page, body, language, body_hash, h1, headings, has_prose in bodies:
            if has_prose:
                self.with_prose.add(page)
            self.texts[page] = Text(body, linked[page], taken[page], [h1, *headings])
            self.hashes[page] = body_hash
            self.languages[page] = language or self.usual

    def place(self, source: int, target: int, counts: bool = True, inline: bool = True, least: float = 0.0) -> Placed:
        """The anchor and place of one more link of a donor that was read.

        `counts`: it counts towards the limit of identical anchors; a link that is held back does not. `inline`: it
        belongs into the text, on words that fit at least as well as `least`; one beside it takes a name of the target.
        """
        names, settled = self._names(target), self.settled.get((source, target))
        text = self.texts.get(source)
        if settled is not None:
            besides = _besides(names, settled)
            span = self.spans.get((source, target))
            if span is None and text is not None:
                place = text.take([(settled, "", 1.0)], (settled, "")).place
                span = (place.start, place.end) if place else None
            return self._placed(source, settled, "", besides, span)
        others: list[str] = []
        if text is not None:
            phrases, spare = self._phrases(source, target, names, least if inline else math.inf)
            if counts:
                phrases = self._fresh_first(phrases, self.use.used(target))
            found = text.take(phrases, ("", ""))
            most = 1.0 if self.phrases else max((weight for _, _, weight in phrases), default=0.0)
            picks = [_in_text(place, most) for place in found.others]
            spare = [(phrase, source, min(weight, ONLY_PICKED)) for phrase, source, weight in spare]
            picks += [_in_text(place, 1.0) for place in text.places(spare)]
            if found.place is not None:
                if counts and not inline and self._is_used_up(target, found.anchor):
                    name = choose(_whole(names), self.use.used(target), self.limit)
                    if not self._is_used_up(target, name.text):
                        text.give_back(found.place)
                        self.use.add(target, [name.text])
                        others = [_in_text(found.place, most), *picks, *_besides(names, name.text)]
                        return self._placed(source, name.text, name.source, others, None)
                if counts:
                    self.use.add(target, [found.anchor])
                others = [*picks, *_besides(names, found.anchor)]
                span = found.place.start, found.place.end
                return self._placed(source, found.anchor, found.source, others, span, self._fit(source, target, found))
            others = picks
        best = names[0]
        if counts and target in self.counted:
            best = self.use.take(target, _whole(names), self.limit)
        others += [_stored(name) for name in names if name is not best]
        return Placed(best.text, best.source, others[:MOST_ALTERNATIVES] if text is not None else others, None)

    def _placed(
        self,
        page: int,
        anchor: str,
        source: str,
        others: list[str],
        span: tuple[int, int] | None,
        fit: float = math.nan,
    ) -> Placed:
        if span is None:
            return Placed(anchor, source, others[:MOST_ALTERNATIVES], None)
        around = sentence_and_heading(self.texts[page].text, *span)
        return Placed(anchor, source, others[:MOST_ALTERNATIVES], span, *around, self.hashes[page], fit)

    def _fit(self, source: int, target: int, found: Placement) -> float:
        """How well the words found fit by themselves, whatever queries weigh; NaN where nobody knows."""
        phrases = self.phrases.of(source, target) if self.phrases is not None else ()
        said = fold(found.anchor)
        return next((weight for text, _, weight in phrases if fold(text) == said), math.nan)

    def _is_used_up(self, target: int, anchor: str) -> bool:
        return self.use.times(target, anchor) >= self.limit

    def _fresh_first(self, phrases: Sequence[Phrase], used: Counter[str]) -> Sequence[Phrase]:
        """Phrases that the target carries too often behind others that fit nearly as well."""
        if not phrases:
            return phrases
        best = max(phrases, key=lambda phrase: phrase[2])

        def waits(phrase: Phrase) -> bool:
            text, source, weight = phrase
            if used[word_set(text)] >= self.limit:
                return True
            return phrase is not best and not may_replace(text, source, weight, best[0], best[2])

        return sorted(phrases, key=waits)

    def _phrases(
        self, source: int, target: int, names: list[AnchorCandidate], least: float
    ) -> tuple[Sequence[Phrase], Sequence[Phrase]]:
        """Words of the donor's text that may become the link, best first, and those only there to be picked."""
        if self.phrases is not None:
            found = [phrase for phrase in self.phrases.of(source, target) if self._may_say(phrase[0], source)]
            if target in self.by_name:
                own = {fold(name.text) for name in names}
                found = [phrase for phrase in found if fold(phrase[0]) in own]
            least = max(least, self.phrases.least)
            good = [phrase for phrase in found if phrase[2] >= least]
            queries = [name.text for name in names if name.source == "query"] if least < math.inf else []
            return _blended(good, queries, self.project.query_blend), [p for p in found if p[2] < least]
        found = [(name.text, name.source, 1.0) for name in names]
        stops = stop_words(primary_language(self.languages[target]))
        for name in () if target in self.by_name else names[:1]:
            if source not in self.words:
                self.words[source] = Words(Folded(self.texts[source].text), self.languages[source])
            words = self.words[source]
            span = words.nearest_to(name.text, stops)
            phrase = "" if span is None else words.text.text[span[0] : span[1]]
            if phrase and self._may_say(phrase, source):
                found.append((phrase, "text" if name.source == "query" else name.source, 0.1))
        return found, []

    def _may_say(self, phrase: str, source: int) -> bool:
        """Whether words of a donor's text keep to the project's rules for anchors, as a target's own names do."""
        if len(phrase) > self.project.anchor_max_length:
            return False
        key = phrase, self.languages[source]
        if key not in self.allowed:  # one read's donors say the same words of many targets
            self.allowed[key] = not is_generic(*key, self.project.banned_anchors)
        return self.allowed[key]


def _whole(names: list[AnchorCandidate]) -> list[AnchorCandidate]:
    """The names that may take turns beside the text: the best, and whole titles and first headings. Parts of them,
    phrases of descriptions and queries ("sleeping bags uk") say what a page is about, but do not name it."""
    return [name for place, name in enumerate(names) if name.whole or not place]


def _besides(names: list[AnchorCandidate], anchor: str) -> list[str]:
    """The target's names but the one that reads like the anchor, as alternatives."""
    said = fold(anchor)
    return [_stored(name) for name in names if fold(name.text) != said]


def _shared_names(project: Project) -> frozenset[str]:
    """Titles and first headings that several of the project's pages have."""
    names: set[str] = set()
    for column in ("title", "h1"):
        rows = stream(
            "shared",
            f"SELECT {column} FROM linker_page WHERE project_id = %s AND missing_since IS NULL AND {column} <> '' "
            f"GROUP BY {column} HAVING count(*) > 1",
            [project.pk],
        )
        names.update(name for (name,) in rows)
    return frozenset(names)


def _blended(found: list[Phrase], queries: list[str], blend: float) -> list[Phrase]:
    """Words of the text and search queries, heaviest first, in one order: words weigh what they weigh beside the best
    of them, times 1 - blend, and the n-th query 1/n times blend."""
    if not queries:
        return found
    best = max((weight for _, _, weight in found), default=1.0)
    phrases = [(text, source, (1 - blend) * weight / best) for text, source, weight in found]
    phrases += [(text, "query", blend / place) for place, text in enumerate(queries, 1)]
    return sorted(phrases, key=lambda phrase: -phrase[2])


def _in_text(place: Place, most: float) -> str:
    """Words of the text as an alternative; `fit`: their weight beside the heaviest of the pair's."""
    fit = f', "start": {place.start}, "end": {place.end}, "fit": {round(place.weight / most, 3) if most else 1.0}'
    return _as_json(place.anchor, place.source, place.anchor, fit)


def _stored(candidate: AnchorCandidate) -> str:
    text, source, raw, impressions, whole = candidate
    more = ', "whole": true' if whole else ""
    return _as_json(text, source, raw, more if impressions is None else f'{more}, "impressions": {impressions}')


def _as_json(text: str, source: str, raw: str, more: str) -> str:
    """Several times faster than json.dumps of a dict, for which there are millions."""
    written = _quoted(text)
    return f'{{"text": {written}, "source": "{source}", "raw": {written if raw == text else _quoted(raw)}{more}}}'


class _Carried:
    """What a run's targets carry before it, by `word_set`: in a file, since the links of a site may be millions."""

    def __init__(self, project: Project, targets: NDArray[np.int64]) -> None:
        """`targets` int64 [n], ascending. `links` int64 [n]: how many lead to each."""
        self.links = np.zeros(len(targets), dtype=np.int64)
        self.spool = Spool(targets)
        self.read: dict[int, Counter[str]] = {}
        waiting: dict[int, Counter[str]] = {}
        for target, rows in itertools.groupby(carried(project), key=operator.itemgetter(0)):
            place = int(np.searchsorted(targets, target))
            if place == len(targets) or targets[place] != target:
                continue
            counts = waiting[target] = Counter()
            for _, anchor, links in rows:
                counts[word_set(anchor)] += links
            self.links[place] = counts.total()
            if len(waiting) == TARGETS_AT_A_TIME:
                self.spool.put(waiting)
                waiting = {}
        self.spool.put(waiting)

    def forget(self) -> None:
        """What was read so far leaves the memory."""
        self.read = {}

    def of(self, target: Any) -> Counter[str]:
        if target not in self.read:
            where = self.spool.where(np.array([target]))
            self.read[target] = self.spool.read(where[target]) if where else Counter()
        return self.read[target]
