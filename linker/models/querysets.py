"""Which pages count as what: conditions that every query shares."""

from __future__ import annotations

from django.db.models import Q

LIVE = Q(missing_since__isnull=True)
ORPHAN = LIVE & Q(indexable=True, inlinks=0)
