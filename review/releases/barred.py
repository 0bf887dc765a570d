"""Links that were approved and that safety classes bar by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.pages.safety import BARRED, write_barred
from review.models import Held
from review.releases import held_sayings

if TYPE_CHECKING:
    from linker.models import Project

_PAGES = "SELECT unnest(ARRAY[source_id, target_id]) FROM leaving WHERE operation <> 'remove'"
_BARRED = BARRED.format(table="leaving", key="edge", where="l.operation <> 'remove' AND l.reason = ''")
_SAID = held_sayings.BARRED.said_in_sql(source="s.name", target="t.name", reason="p.reason")
_HOLD = f"""
UPDATE leaving SET reason = %s, detail = {_SAID}
FROM ({_BARRED}) found JOIN linker_barredpair p ON p.id = found.pair
JOIN linker_safetyclass s ON s.id = p.source_id JOIN linker_safetyclass t ON t.id = p.target_id
WHERE found.id = leaving.edge
"""


def hold_barred(project: Project) -> None:
    """Writes the reason on the links of `leaving` that may not be made. What is removed may always leave."""
    if write_barred(project, _PAGES):
        with connection.cursor() as cursor:
            cursor.execute(_HOLD, [Held.BARRED])
