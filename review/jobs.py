"""RQ's entry points. Doors, not rooms: the work is in review.export."""

from linker import runs
from review import export


def release(run_id: int) -> None:
    runs.execute(run_id, export.run_release)
