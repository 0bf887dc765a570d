"""Deciding on all that a filter lists: what it would be, shown first, and the decision, which one undo takes back."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import CandidateEdge
from linker.wording import number
from review.decisions import decide_edges
from review.models import Verb
from review.queue.cards import Card
from review.queue.selectors import cards_of, first_ids, of_user
from review.rulings import Outcome, Ruling, Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User

    from linker.models import Project
    from review.queue.filters import QueueFilter

MAX_AT_ONCE = 1000
EXAMPLES = 10
AT_ONCE = 200  # decided in one transaction, so that other editors never wait long


@dataclass(frozen=True)
class BulkPreview:
    """What a decision on all would be about. `runs`: the run of each suggestion, by its id, in the order of the list;
    none where there are more than MAX_AT_ONCE. `pages`: the ids of their donors and acceptors. `examples` are drawn by
    chance. `sensitive` ones are not among them.
    """

    runs: Mapping[int, int]
    pages: Mapping[int, tuple[int, int]]
    examples: list[Card]
    sensitive: int
    is_too_many: bool

    @property
    def seen(self) -> str:
        """What the form sends of what was shown: "edge:run:donor-acceptor" of each."""
        pages = self.pages
        return " ".join(f"{edge}:{run}:{pages[edge][0]}-{pages[edge][1]}" for edge, run in self.runs.items())


def bulk_preview(project: Project, chosen: QueueFilter, user: User) -> BulkPreview:
    """The open suggestions under a filter, without those that the user has set aside."""
    parts = [of_user(project, part, chosen, user) for part in chosen.undecided_parts(project)]
    ids = first_ids([part.filter(sensitive="") for part in parts], chosen.order.fields, MAX_AT_ONCE + 1)
    sensitive = sum(part.exclude(sensitive="").order_by()[: MAX_AT_ONCE + 1].count() for part in parts)
    examples = random.sample(ids, min(EXAMPLES, len(ids)))
    is_too_many = len(ids) > MAX_AT_ONCE
    kept = [] if is_too_many else ids
    rows = CandidateEdge.objects.filter(pk__in=kept).values_list("pk", "run_id", "source_id", "target_id")
    found = {edge: (run, (source, target)) for edge, run, source, target in rows}
    runs = {edge: found[edge][0] for edge in kept if edge in found}
    pages = {edge: found[edge][1] for edge in runs}
    return BulkPreview(runs, pages, cards_of(project, examples), sensitive, is_too_many)


def decide_all(project: Project, user: User, seen: Shown, verb: Verb, ruling: Ruling) -> Outcome:
    """Accepts the suggestions that were seen, with the words they have, or rejects them; what has changed since, or is
    of other pages, is left as it is. All decisions share a batch. Raises UserError for more than MAX_AT_ONCE, and for
    sensitive ones."""
    runs = seen.runs
    if len(runs) > MAX_AT_ONCE:
        most = {"most": number(MAX_AT_ONCE)}
        raise UserError(_("No more than %(most)s suggestions can be decided at once. Narrow the filter.") % most)
    if project.edges.filter(pk__in=list(runs)).exclude(sensitive="").exists():
        raise UserError(_("Some of these suggestions have become sensitive. Each of those needs a look of its own."))
    batch, ids = uuid4(), list(runs)
    whole = Outcome((), ())
    for start in range(0, len(ids), AT_ONCE):
        part = ids[start : start + AT_ONCE]
        pages = {pk: seen.pages[pk] for pk in part if pk in seen.pages}
        shown = Shown(runs={pk: runs[pk] for pk in part}, pages=pages)
        done = decide_edges(project, part, verb, user, ruling, shown, batch=batch)
        whole = Outcome(whole.decided + done.decided, whole.conflicts + done.conflicts, whole.doubts + done.doubts)
    return whole
