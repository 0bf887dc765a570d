"""What will become of the rows of a spreadsheet that came back, said before anything is saved, and once more before
each is carried out. Writes and locks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import CandidateEdge
from linker.pages.safety import barring
from linker.wording import number
from review.allowed import barred_in_words
from review.anchor_warnings import stopping
from review.decisions import accepted_with, against, counted_of, newest_decisions, words_and_warnings
from review.models import Verb
from review.overlap import due_to
from review.queue.bulk import AT_ONCE
from review.rulings import AnchorError, Conflict, clean_anchor, gone_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from django.contrib.auth.models import User

    from linker.models import Project
    from review.models import Decision
    from review.queue.sheet_in import Wish

NOT_HERE = gettext_lazy("This suggestion is not in this project.")
BY_YOURSELF = gettext_lazy("You are to decide on this suggestion by yourself. Do so in the queue.")
MAX_SHOWN = 80  # characters of a cell, in a sentence
MAX_ADDRESS = 200


@dataclass(frozen=True)
class Checked:
    """By row, why it is `refused`, and in `standing` the rows that say what their editor has decided already. The other
    `wishes` can be carried out, each on its suggestion in `edges`."""

    wishes: tuple[Wish, ...]
    edges: Mapping[int, CandidateEdge]
    refused: Mapping[int, str]
    standing: frozenset[int]


def check(project: Project, user: User, wishes: Sequence[Wish]) -> Checked:
    """Compares each row with its suggestion as it is now."""
    edges = _edges(project, wishes)
    refused = {wish.row: text for wish in wishes if (text := _about_link(wish, edges.get(wish.edge)))}
    first = {wish.edge: wish.row for wish in reversed(wishes) if wish.row not in refused}
    for wish in wishes:
        if first.get(wish.edge, wish.row) != wish.row:
            refused.setdefault(
                wish.row, _("Row %(row)s decides on the same suggestion.") % {"row": number(first[wish.edge])}
            )
    said, standing = _already_decided(project, user, [wish for wish in wishes if wish.row not in refused], edges)
    refused |= said
    left = [wish for wish in wishes if wish.row not in refused and wish.row not in standing]
    refused |= {wish.row: text for wish in left if (text := _about_words(wish, edges[wish.edge]))}
    refused |= _barred(project, [wish for wish in left if wish.row not in refused], edges)
    return Checked(tuple(wish for wish in left if wish.row not in refused), edges, refused, frozenset(standing))


def _edges(project: Project, wishes: Sequence[Wish]) -> dict[int, CandidateEdge]:
    asked = CandidateEdge.objects.filter(project=project, pk__in=[wish.edge for wish in wishes])
    edges = asked.select_related("tier", "source", "target").defer("source__body", "target__body").in_bulk()
    for edge in edges.values():
        edge.project = project
    return edges


def _about_link(wish: Wish, edge: CandidateEdge | None) -> str:
    """Why the row is not about its suggestion: the cells of a column were moved, or typed over."""
    if edge is None:
        return str(NOT_HERE)
    if (wish.donor, wish.acceptor) == (edge.source.url, edge.target.url):
        return ""
    return _(
        "The row names the link from %(donor)s to %(acceptor)s, and suggestion %(suggestion)s is the link from "
        "%(source)s to %(target)s. Cells have been moved or changed: download the list again."
    ) % {
        "donor": wish.donor[:MAX_ADDRESS],
        "acceptor": wish.acceptor[:MAX_ADDRESS],
        "suggestion": wish.edge,
        "source": edge.source.url[:MAX_ADDRESS],
        "target": edge.target.url[:MAX_ADDRESS],
    }


def _already_decided(
    project: Project, user: User, wishes: Sequence[Wish], edges: Mapping[int, CandidateEdge]
) -> tuple[dict[int, str], set[int]]:
    """Rows whose suggestions are not what they were when the list was made: why they are refused, and those that stand
    as they are."""
    changed = [wish for wish in wishes if _has_changed(wish, edges[wish.edge])]
    last = newest_decisions([edges[wish.edge] for wish in changed])
    own_reading = set(due_to(project, user).filter(edge__in=list(last)).values_list("edge", flat=True))
    refused: dict[int, str] = {}
    standing: set[int] = set()
    for wish in changed:
        conflict = _conflict_with(wish, edges[wish.edge], last.get(wish.edge), user)
        if wish.edge in own_reading:
            refused[wish.row] = str(BY_YOURSELF)
        elif stands(wish, conflict):
            standing.add(wish.row)
        else:
            refused[wish.row] = conflict.message
    return refused, standing


def _has_changed(wish: Wish, edge: CandidateEdge) -> bool:
    return not wish.what_was_shown.is_same(edge) or bool(gone_in_words(edge))


def _conflict_with(wish: Wish, edge: CandidateEdge, last: Decision | None, user: User) -> Conflict:
    """What came before the row; `last` is the newest decision on its suggestion."""
    shown = wish.what_was_shown
    by = None if edge.status == shown.status else last
    return against(Conflict(edge, by), wish.verb, user, wish.ruling, shown)


def stands(wish: Wish, conflict: Conflict) -> bool:
    """Whether the row says what its editor has decided before, and nothing more."""
    return conflict.is_saved and conflict.by is not None and wish.note in ("", conflict.by.note)


def _about_words(wish: Wish, edge: CandidateEdge) -> str:
    if wish.verb == Verb.EDIT:
        try:
            clean_anchor(wish.anchor)
        except AnchorError as error:
            return str(error)
    if wish.verb != Verb.REJECT and not wish.what_was_shown.reads_same(edge):
        return _(
            "The column “anchor” says “%(shown)s”, and the suggestion says “%(anchor)s”: somebody has changed the "
            "column, or the suggestion has other words by now. Words of your own go into “new_anchor”."
        ) % {"shown": wish.shown[:MAX_SHOWN], "anchor": edge.anchor}
    return ""


def _barred(project: Project, wishes: Sequence[Wish], edges: Mapping[int, CandidateEdge]) -> dict[int, str]:
    """By row, why no such link may be made, of rows that accept one."""
    accepting = {wish.row: edges[wish.edge] for wish in wishes if wish.verb != Verb.REJECT}
    pairs = barring(project, ((edge.source, edge.target) for edge in accepting.values()))
    return {
        row: barred_in_words(pairs[edge.source_id, edge.target_id])
        for row, edge in accepting.items()
        if (edge.source_id, edge.target_id) in pairs
    }


# ------------------------------------------------------------------------------------------- in the order of deciding


def parts(wishes: Iterable[Wish]) -> Iterator[list[Wish]]:
    """Rows that say the same of their suggestions, some at a time; one that writes an anchor is by itself. The order is
    the same whichever of them are left out."""
    by_ruling: dict[tuple[str, str, str, str, int], list[Wish]] = {}
    for wish in wishes:
        own = wish.row if wish.verb == Verb.EDIT else 0
        by_ruling.setdefault((wish.verb, wish.reason, wish.reach, wish.note, own), []).append(wish)
    for _ruling, same in sorted(by_ruling.items()):
        same.sort(key=lambda wish: wish.edge)
        for start in range(0, len(same), AT_ONCE):
            yield same[start : start + AT_ONCE]


def doubted(project: Project, user: User, checked: Checked) -> dict[int, str]:
    """By row, what an accept would be asked about, and so refused, if all rows were carried out in their order."""
    found: dict[int, str] = {}
    while True:
        more = _doubted(project, user, [wish for wish in checked.wishes if wish.row not in found], checked.edges)
        found |= more
        # Words that an editor wrote on what stays open count for the others.
        if not any(checked.edges[wish.edge].edited for wish in checked.wishes if wish.row in more):
            return found


def _doubted(
    project: Project, user: User, wishes: Sequence[Wish], edges: Mapping[int, CandidateEdge]
) -> dict[int, str]:
    counted = counted_of(project, [edges[wish.edge] for wish in wishes])
    found = {}
    for part in parts(wish for wish in wishes if wish.verb != Verb.REJECT):
        for wish in part:
            edge = edges[wish.edge]
            _anchor, warnings = words_and_warnings(edge, wish.verb, wish.ruling, counted, user)
            if asked := stopping(warnings):
                found[wish.row] = " ".join(warning.text for warning in asked)
            else:
                counted.add(accepted_with(edge, wish.ruling, user))
    return found
