"""Rolling out in stages: which donors' new links may leave by now.

A pattern goes before a category, of several patterns the first, and of categories the nearest. A page that moved is
where it was: an address that it had is asked where no pattern matches its own. Without a rule links leave. Who is in a
pilot depends on the donor's id alone: a larger share adds donors and drops none.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from django.db import connection

from linker.engine.patterns import compile_pattern
from linker.models import Category
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import stream
from review.models import Held, RolloutRule, Stage
from review.releases.held_sayings import IN_PILOT, NOT_ROLLED_OUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project

_DONORS = """
SELECT p.id, p.url, p.category_id, ARRAY(
    SELECT a.url FROM linker_pageaddress a WHERE a.page_id = p.id ORDER BY a.until DESC, a.id
) FROM linker_page p
WHERE p.id IN (SELECT l.source_id FROM leaving l WHERE l.operation = 'add' AND l.reason = '')
"""


class Rollout:
    """The rules of a project, asked about donor after donor."""

    def __init__(self, project: Project, rules: Sequence[RolloutRule]) -> None:
        self.patterns = [(compile_pattern(rule.pattern), rule) for rule in rules if rule.pattern]
        by_path = {tuple(rule.category.path): rule for rule in rules if rule.category is not None}
        paths = Category.objects.filter(project=project).values_list("pk", "path") if by_path else []
        self.categories = {pk: rule for pk, path in paths if (rule := _nearest(by_path, path)) is not None}

    def keeps(self, donor: int, url: str, category: int | None, former: Sequence[str] = ()) -> RolloutRule | None:
        """The rule by which the donor's new links stay; None where they leave. `former`: addresses that it had, the
        last first."""
        found = (rule for address in (url, *former) for pattern, rule in self.patterns if pattern.search(address))
        rule = next(found, self.categories.get(category) if category is not None else None)
        if rule is None or rule.stage == Stage.ON or (rule.stage == Stage.PILOT and in_share(donor, rule.share)):
            return None
        return rule


def _nearest(by_path: dict[tuple[str, ...], RolloutRule], path: list[str]) -> RolloutRule | None:
    above = (tuple(path[:depth]) for depth in range(len(path), 0, -1))
    return next((by_path[one] for one in above if one in by_path), None)


def in_share(donor: int, share: int) -> bool:
    """Whether the donor is among so many percent of all: always the same for the same donor."""
    return int(sha256(str(donor).encode()).hexdigest()[:8], 16) % 100 < share


def rules_of(project: Project) -> list[RolloutRule]:
    return list(RolloutRule.objects.filter(project=project).select_related("category").order_by("pk"))


def hold_for_rollout(project: Project) -> None:
    """Writes the reason on the links of `leaving` that come in addition and whose donors' turn has not come."""
    rules = rules_of(project)
    if not rules:
        return
    rollout = Rollout(project, rules)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS waiting")
        cursor.execute("CREATE TEMP TABLE waiting (page bigint, rule text, stage text, share int) ON COMMIT DROP")
    # The donors that stay are gathered first, because the connection either reads or writes: a few bytes each.
    kept = [
        (donor, str(rule), rule.stage, rule.share)
        for donor, url, category, former in stream("rolled_out", _DONORS, [])
        if (rule := rollout.keeps(donor, url, category, former)) is not None
    ]
    copy_rows_in("waiting", ["page", "rule", "stage", "share"], kept)
    analyze("waiting")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE leaving SET reason = %s, detail = CASE w.stage WHEN 'off' "
            f"THEN {NOT_ROLLED_OUT.said_in_sql(rule='w.rule')} "
            f"ELSE {IN_PILOT.said_in_sql(rule='w.rule', share='w.share::text')} END "
            "FROM waiting w WHERE w.page = leaving.source_id AND leaving.operation = 'add' AND leaving.reason = ''",
            [Held.ROLLOUT],
        )
