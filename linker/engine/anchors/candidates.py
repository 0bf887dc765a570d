"""What a link to a page may say, best first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from linker.engine.anchors.fallback import fallback_anchor
from linker.engine.anchors.own_texts import READ, OwnText, OwnTexts, TargetText
from linker.engine.anchors.search_queries import Query, usable_queries
from linker.engine.anchors.shorten import own_part, shorten
from linker.engine.text.clean import has_word, visible
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic
from linker.engine.text.template import Pattern, Template


class AnchorCandidate(NamedTuple):
    """`text` may become an anchor.

    `source` is "h1", "title", "heading", "description", "query" or "url"; `raw` is the crawled text it was made from,
    without characters that cannot be shown or stored; `impressions` are those of a query. `whole`: an H1 or title of
    which only the site's template was left out.
    """

    text: str
    source: str
    raw: str
    impressions: int | None = None
    whole: bool = False


def anchor_candidates(
    target: TargetText,
    *,
    template: Template,
    patterns: Sequence[Pattern] = (),
    banned: Iterable[str] = (),
    max_length: int = 60,
    limit: int = 8,
    taken: Container[str] = frozenset(),
    queries: Sequence[Query] = (),
    query_blend: float = 0.3,
) -> list[AnchorCandidate]:
    """Anchors for links to `target`, best first: at least one, at most `limit`, different when folded.

    H1 and title come first, without the site's template and the project's `patterns`, then their short forms, then
    headings and phrases of the description that share words with them. None is empty, generic in the page's language,
    banned, or longer than `max_length` characters: of a longer text a part that fits is taken, or else it is cut
    between words. Short forms, headings and phrases in `taken`, the folded names of the site's pages, are left out,
    since they would promise another page. An H1 or title that names the site and no page comes last, after the words of
    the address. Where nothing is left, see `linker.engine.anchors.fallback`. An address is never an anchor.

    `queries` are the searches that people found the page by. The usable ones (`linker.engine.anchors.search_queries`)
    and the page's own texts are put in one order, by

        (1 - query_blend) * name_weight + query_blend * query_weight

    where the page's own texts have the name weights 1, 1/2, 1/3 ... in the order above (0 where neither its H1 nor its
    title names it), a query has the query weight weight / largest weight of the page's queries, and a text that is
    both has both and keeps its own wording and source. Ties: own texts first, then as above; queries by weight, then
    by text. So 0 means titles only, and 1 queries first.

    Raises ValueError if `limit` or `max_length` is below 1, `query_blend` is not from 0 to 1 or the address is empty.
    """
    if limit < 1 or max_length < 1:
        raise ValueError(f"limit and max_length must be at least 1, not {limit} and {max_length}")
    if not 0.0 <= query_blend <= 1.0:
        raise ValueError(f"query_blend must be from 0 to 1, not {query_blend}")
    banned = tuple(banned)
    texts = OwnTexts(target, template, patterns)
    found = _from_own_texts(texts, texts.proposals(taken), banned, max_length, limit)
    if queries and query_blend:
        weighed = [
            (candidate, weight)
            for candidate, weight in _from_queries(texts, queries, banned, max_length)
            if fold(candidate.text) in found or fold(candidate.text) not in taken
        ]
        candidates = _blended(list(found.values()), weighed, query_blend, named=bool(texts.own))[:limit]
    else:
        candidates = list(found.values())
    if candidates:
        return candidates
    text, source, raw, _ = fallback_anchor(target, max_length, banned)
    return [AnchorCandidate(text, source, raw)]


def _from_own_texts(
    texts: OwnTexts, proposals: Iterable[OwnText], banned: Sequence[str], max_length: int, limit: int
) -> dict[str, AnchorCandidate]:
    """The first `limit` proposals that may be anchors, made to fit, by their folded text."""
    found: dict[str, AnchorCandidate] = {}
    for proposal in proposals:
        text = shorten(own_part(proposal.text, max_length, texts.template), max_length, texts.stops)
        key = fold(text)
        if key not in found and has_word(text) and not is_generic(text, texts.target.language, banned):
            whole = proposal.whole and text == proposal.text
            found[key] = AnchorCandidate(text, proposal.source, visible(proposal.raw), whole=whole)
        if len(found) == limit:
            break
    return found


def _from_queries(
    texts: OwnTexts, queries: Sequence[Query], banned: Sequence[str], max_length: int
) -> Iterator[tuple[AnchorCandidate, float]]:
    """The usable queries, each with its weight as a share of the largest."""
    usable = usable_queries(
        queries,
        url=texts.target.url,
        names=[name.text for name in texts.own],
        language=texts.target.language,
        template=texts.template,
        banned=banned,
        max_length=max_length,
    )
    heaviest = max(query.weight for query in queries) or 1.0
    for text, query in usable:
        candidate = AnchorCandidate(text, "query", visible(query.text[:READ]), query.impressions)
        yield candidate, query.weight / heaviest


def _blended(
    texts: Sequence[AnchorCandidate],
    queries: Sequence[tuple[AnchorCandidate, float]],
    blend: float,
    *,
    named: bool,
) -> list[AnchorCandidate]:
    """The page's own texts and its weighed queries in the order that `anchor_candidates` states, each once."""
    weights: dict[str, float] = {}
    for query, weight in queries:
        weights.setdefault(fold(query.text), weight)
    own = {fold(text.text) for text in texts}
    scored = [
        ((1 - blend) * (1 / place if named else 0.0) + blend * weights.get(fold(text.text), 0.0), text)
        for place, text in enumerate(texts, start=1)
    ]
    once = {fold(query.text): query for query, _ in reversed(queries)}
    scored += [(blend * weight, once[key]) for key, weight in weights.items() if key not in own]
    return [candidate for _, candidate in sorted(scored, key=lambda entry: -entry[0])]
