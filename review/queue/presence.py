"""Who looks at a suggestion right now: a row for each editor, which counts for a short time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from review.models import Presence

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import CandidateEdge

COUNTS_FOR = timedelta(seconds=40)


def look(user: User, edge: CandidateEdge) -> list[str]:
    """Notes that a user looks at an edge, and at no other of the project; returns the names of the others who do."""
    now = timezone.now()
    Presence.objects.bulk_create(
        [Presence(project_id=edge.project_id, user=user, edge=edge, at=now)],
        update_conflicts=True, unique_fields=["project", "user"], update_fields=["edge", "at"],
    )  # fmt: skip
    others = Presence.objects.filter(edge=edge, at__gt=now - COUNTS_FOR).exclude(user=user)
    return list(others.order_by("user__username").values_list("user__username", flat=True))
