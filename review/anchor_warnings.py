"""What is to be said against the words of a link before an editor accepts it.

Words that an editor wrote are looked at as a run looks at those it proposes; words that a run proposed were, and are
only counted, but for addresses, which earlier runs proposed where they knew nothing better. Nothing here
forbids: an editor may overrule each warning, and the decision keeps what was overruled. That words are used too often
is only said, unless the project asks for more (Project.anchor_repeats).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from django.conf import settings
from django.db import connection
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from linker.engine.text.fold import fold
from linker.engine.text.generic import bare, is_address, is_generic, stop_words
from linker.engine.text.names import page_name
from linker.engine.text.stems import stem
from linker.matching.anchor_use import may_repeat, use_of
from linker.models import AnchorRepeats, ExistingLink, Page, SearchQuery
from linker.models.linked import TEXT_LINK
from linker.models.querysets import LIVE, sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from linker.matching.anchor_use import WordsInUse
    from linker.models import CandidateEdge, Project

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u9fff\uf900-\ufaff]")
_READ = 200_000  # characters of a body
_ANCHORS_IN_USE = 500


_SAID = ngettext_lazy(
    "%(times)d other link to “%(page)s” says “%(anchor)s”. This project allows %(limit)d in all.",
    "%(times)d other links to “%(page)s” say “%(anchor)s”. This project allows %(limit)d in all.",
    "times",
)
_SAID_BY_THE_WAY = ngettext_lazy(
    "%(times)d other link to “%(page)s” says “%(anchor)s”. This project would rather have %(limit)d in all.",
    "%(times)d other links to “%(page)s” say “%(anchor)s”. This project would rather have %(limit)d in all.",
    "times",
)
_SAID_OTHERWISE = ngettext_lazy(
    "%(times)d other link to “%(page)s” says “%(other)s”, which is the same as “%(anchor)s” but for small words or the "
    "order. This project allows %(limit)d in all.",
    "%(times)d other links to “%(page)s” say “%(other)s”, which is the same as “%(anchor)s” but for small words or the "
    "order. This project allows %(limit)d in all.",
    "times",
)
CODES = frozenset(
    {"address", "banned", "generic", "misleading", "unrelated", "too_long", "identical", "donor_full", "acceptor_full"}
)


@dataclass(frozen=True)
class AnchorWarning:
    """`code` names the check; `sentence`, with `values` filled in, says what it found. `stops`: an accept asks; else it
    is only said."""

    code: str
    sentence: Any
    values: dict[str, str | int] = field(default_factory=dict)
    stops: bool = True

    @property
    def text(self) -> str:
        """In the reader's language."""
        said: str = self.sentence % self.values
        return said


def warnings_about(
    edge: CandidateEdge,
    anchor: str,
    use: WordsInUse,
    *,
    written: bool,
    placement: Callable[[], str] | None = None,
) -> list[AnchorWarning]:
    """What is to be said against `anchor` on this edge, the gravest first.

    `use`: what the target carries apart from this edge. `written`: an editor wrote it, so that all is looked at.
    `placement`: that of the link once it is accepted, if it may be another than the edge's; asked where it matters.
    """
    proposed = {fold(str(other["text"])) for other in edge.anchor_alternatives} | {fold(edge.anchor)}
    is_new = written and fold(anchor) not in proposed
    found = _about_words(edge, anchor) if is_new else _about_address(anchor)
    number = list(_about_number(edge, anchor, use))
    if number and _may_repeat(edge, anchor, placement):
        number = []
    return [*found, *number]


def stopping(warnings: Iterable[AnchorWarning]) -> tuple[AnchorWarning, ...]:
    """Those that an accept asks about."""
    return tuple(warning for warning in warnings if warning.stops)


def _may_repeat(edge: CandidateEdge, anchor: str, placement: Callable[[], str] | None) -> bool:
    where = placement() if placement else edge.placement
    return may_repeat(edge.project, anchor, where, edge.target.title, edge.target.h1)


def beforehand(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, list[AnchorWarning]]:
    """What an accept of each open edge, by itself and with the words it has, would be asked about, by edge; without
    those that nothing is to be said against. The targets' words are counted for all edges at once."""
    if not edges:
        return {}
    use = use_of(project, sorted({edge.target_id for edge in edges}))
    found = {}
    for edge in edges:
        # An open edge with an editor's words counts among its target's, and not as another link than itself; so does
        # a link of the site that is shown as if it were not there.
        own = [edge.anchor] if edge.edited or edge.is_known else []
        use.add(edge.target_id, own, -1)
        if warnings := warnings_about(edge, edge.anchor, use, written=False):
            found[edge.pk] = warnings
        use.add(edge.target_id, own)
    return found


def _about_number(edge: CandidateEdge, anchor: str, use: WordsInUse) -> Iterator[AnchorWarning]:
    times, limit = use.times(edge.target_id, anchor), edge.project.identical_anchor_limit
    if times < limit:
        return
    page = page_name(edge.target.title, edge.target.h1) or edge.target.url
    values: dict[str, str | int] = {"times": times, "limit": limit, "page": page, "anchor": anchor}
    other = use.said_otherwise(edge.target_id, anchor)
    stops = edge.project.anchor_repeats != AnchorRepeats.SAY
    if not stops:
        yield AnchorWarning("identical", _SAID_BY_THE_WAY, values | {"anchor": other or anchor}, stops=False)
    elif other:
        yield AnchorWarning("identical", _SAID_OTHERWISE, values | {"other": other})
    else:
        yield AnchorWarning("identical", _SAID, values)


def _about_address(anchor: str) -> Iterator[AnchorWarning]:
    if is_address(anchor):
        sentence = _("“%(anchor)s” is an address. Readers cannot tell from it what the page is about.")
        yield AnchorWarning("address", sentence, {"anchor": anchor})


def _about_words(edge: CandidateEdge, anchor: str) -> Iterator[AnchorWarning]:
    project, target = edge.project, edge.target
    if is_address(anchor):
        yield from _about_address(anchor)
    elif any(bare(anchor) == bare(banned) for banned in project.banned_anchors):
        yield AnchorWarning("banned", _("“%(anchor)s” is an anchor that this project bans."), {"anchor": anchor})
    elif is_generic(anchor, edge.source.own_language):
        sentence = _("“%(anchor)s” says nothing about the page it leads to.")
        yield AnchorWarning("generic", sentence, {"anchor": anchor})
    else:
        other = _page_called(project, anchor, target)
        if other is not None:
            sentence = _("“%(anchor)s” is the name of another page: %(other)s")
            yield AnchorWarning("misleading", sentence, {"anchor": anchor, "other": other})
        if not _is_related(anchor, target):
            yield AnchorWarning(
                "unrelated",
                _("None of these words is in the name of the page it leads to, and its text lacks most of them."),
            )
    if len(anchor) > project.anchor_max_length:
        sentence = _("The anchor has %(length)d characters; this project allows %(limit)d.")
        yield AnchorWarning("too_long", sentence, {"length": len(anchor), "limit": project.anchor_max_length})


def _page_called(project: Project, words: str, target: Page) -> str | None:
    """The address of another live page whose H1, or else title, is these words; None where the target's is, too."""
    if fold(words) in {fold(target.h1), fold(target.title)}:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT url FROM linker_page WHERE project_id = %s "
            "AND hashtextextended(lower(coalesce(nullif(h1, ''), title)), 0) = hashtextextended(lower(%s), 0) "
            f"AND id <> %s AND {sql(LIVE)} ORDER BY id LIMIT 1",
            [project.pk, words, target.pk],
        )
        row = cursor.fetchone()
    return row[0] if row else None


def _is_related(anchor: str, target: Page) -> bool:
    """Whether a word of the anchor is among what the page is called or found by, or most are in its text.

    A page of which nothing is known is related to everything.
    """
    language = target.own_language
    stops = stop_words(language)
    words = {word for word in _WORD.findall(bare(anchor)) if word not in stops}
    names = bare(" ".join(_names_of(target)))
    body = fold(target.body[:_READ])
    if not words or not (names or body):
        return True
    if any(_holding(words, names, language)):
        return True
    return 2 * sum(_holding(words, body, language)) > len(words)


def _names_of(target: Page) -> Iterator[str]:
    yield from (target.title, target.h1, target.description, *target.headings)
    yield re.sub(r"[^\w]+|_", " ", unquote(target.url.split("//", 1)[-1].partition("/")[2]))
    yield from SearchQuery.objects.filter(page=target).values_list("query", flat=True)[:_ANCHORS_IN_USE]
    links = ExistingLink.objects.filter(TEXT_LINK, target=target).exclude(anchor="")
    yield from links.values_list("anchor", flat=True)[:_ANCHORS_IN_USE]


def _holding(words: Iterable[str], text: str, language: str) -> Iterator[bool]:
    """Of each folded word, whether a folded text holds it, or a form of it; its characters where none are words."""
    stems = {stem(word, language) for word in _WORD.findall(text)}
    for word in words:
        yield stem(word, language) in stems or (_UNSPACED.search(word) is not None and word in text)


def overruled(warnings: Iterable[AnchorWarning]) -> list[dict[str, str]]:
    """Those that an accept asks about, as a decision keeps them: in English, whoever decides."""
    with translation.override(settings.LANGUAGE_CODE):
        return [{"code": warning.code, "text": warning.text} for warning in stopping(warnings)]
