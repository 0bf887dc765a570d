"""Whether what tiers read means something else now than when their bounds were last looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.models import Run, RunKind, RunStatus
from linker.reports.ranking import basis_of, finished_matches, newest_match, ranked_by, ranking_of

if TYPE_CHECKING:
    from linker.models import Project


@dataclass(frozen=True)
class TierNotice:
    """That tiers read another thing now than when their bounds were last looked at, in `run` and `before`."""

    run: Run
    before: Run
    said: str


def tier_notice(project: Project) -> TierNotice | None:
    """Whether the newest match run differs, in what its tiers read, from the one that the bounds were last saved for.

    That is the last to have finished before a manager saved tiers, or, where none has, the project's first.
    """
    newest = newest_match(project)
    if newest is None:
        return None
    basis = basis_of(newest).value
    saves = Run.objects.filter(project=project, kind=RunKind.RETIER, status=RunStatus.SUCCEEDED)
    saved_at = saves.filter(params__basis__contains=basis).values_list("finished_at", flat=True).first()
    if saved_at is not None and newest.finished_at is not None and newest.finished_at <= saved_at:
        return None
    matches = finished_matches(project)
    looked_at = matches.filter(finished_at__lte=saved_at).first() if saved_at is not None else None
    before = looked_at or matches.last() or newest
    said = changes(newest, before)
    return TierNotice(newest, before, said) if said else None


def changes(run: Run, before: Run) -> str:
    """What a reader of tiers must know of two runs, in a sentence; empty where nothing of it differs."""
    now, then = [], []
    if ranking_of(run) != ranking_of(before):
        now.append(f"was ranked by {ranked_by(run)}")
        then.append(f"was ranked by {ranked_by(before)}")
    if basis_of(run) != basis_of(before):
        now.append(f"had {basis_of(run).label.lower()} as its tier basis")
        then.append(f"had {basis_of(before).label.lower()} as its tier basis")
    if run.model_id != before.model_id:
        now.append(f"used {run.model or 'an unnamed model'}")
        then.append(f"used {before.model or 'an unnamed model'}")
    if not now:
        return ""
    return f"Run {run.pk} {_joined(now)}; run {before.pk} {_joined(then)}."


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
