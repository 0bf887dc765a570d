"""RQ's entry points. Doors, not rooms: the work is in review.releases.export."""

from linker.runs import lifecycle
from review.releases import export


def release(run_id: int) -> None:
    lifecycle.execute(run_id, export.run_release)
