"""RQ's entry points. Doors, not rooms: the work is in review.releases.create."""

from linker.runs import lifecycle
from review.releases.create import run_release


def release(run_id: int) -> None:
    lifecycle.execute(run_id, run_release)
