"""Reads: which links a rule would make count otherwise, before it is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection, transaction

from linker.models import CountsAs, ExistingLink
from linker.models.querysets import PRESENT, sql
from linker.pages.link_rules import EXAMPLES, MATCHED, bits, rules_of, write_bits
from linker.wording import AtLeast

if TYPE_CHECKING:
    from linker.models import LinkRule

MOST = 100_000  # links that are counted


@dataclass(frozen=True)
class LinksChanged:
    """Links that would count otherwise: how many, and some of them. `takes_some`: the rule takes links at all, if only
    such as count so already."""

    number: int
    takes_some: bool
    examples: list[ExistingLink]


@transaction.atomic
def links_changed(rule: LinkRule) -> LinksChanged:
    """What a rule would change that is not saved, behind all others of its project; links that earlier ones take stay
    with them. Reads the addresses of the project and the bits of its links once, and stops at MOST."""
    rules = [*rules_of(rule.project), rule]
    write_bits(rule.project, rules)
    mine = 1 << (len(rules) - 1)
    # What the rule asks for leads PostgreSQL to few links by their indexes.
    asks = {"s.as_source": rule.source_pattern, "t.as_target": rule.target_pattern, "w.rules": rule.words}
    where = "".join(f" AND {column} & %(mine)s <> 0" for column, asked in asks.items() if asked)
    taken = f"SELECT id FROM ({MATCHED}{where} AND {sql(PRESENT, 'l')}) m WHERE rules & -rules = %(mine)s"
    params = {**bits(rule.project, rules), "mine": mine, "block": CountsAs(rule.counts_as).block.value}
    with connection.cursor() as cursor:
        cursor.execute(f"{taken} AND block <> %(block)s LIMIT {MOST + 1}", params)
        changed = sorted(link for (link,) in cursor.fetchall())
        takes_some = bool(changed)
        if not takes_some:
            cursor.execute(f"{taken} LIMIT 1", params)
            takes_some = cursor.fetchone() is not None
    shown = ExistingLink.objects.select_related("source", "target").defer("source__body", "target__body")
    found = shown.in_bulk(changed[:EXAMPLES])
    number = AtLeast(MOST) if len(changed) > MOST else len(changed)
    return LinksChanged(number, takes_some, [found[link] for link in changed[:EXAMPLES]])
