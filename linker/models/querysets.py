"""Which rows count as what: the one home of each rule about pages, links and edges.

A rule is a Q. The ORM filters by it; `sql` writes it as text for queries that are written by hand; `holds` asks it of
a row in memory. All three read the same Q, so they cannot disagree.

Two things used to be called live. A page or a link is `PRESENT` where the newest import still held it. A page is `LIVE`
where it is present and was not marked as merged, redirected or removed besides; only such a page takes part in a match,
and counts as a page where pages are counted. The others of the newest import have `LEFT`.
"""

from __future__ import annotations

from typing import Any, cast

from django.db.models import Q

# Pages, and links of the site.
PRESENT = Q(missing_since__isnull=True)
MISSING = Q(missing_since__isnull=False)

# Pages.
LIVE_STATUS = Q(status="live")
LIVE = PRESENT & LIVE_STATUS
LEFT = PRESENT & ~LIVE_STATUS
ANSWERED_200 = Q(status_code__isnull=True) | Q(status_code=200)  # a crawl need not say how a page answered
ANSWERING = ANSWERED_200 & Q(redirect_url="")
EMBEDDABLE = LIVE & ANSWERED_200
# What holds of both pages of a new link. The project's rules and the form of the address come on top, see
# linker.matching.eligibility.
LINKABLE = LIVE & ANSWERING
INDEXABLE = LIVE & Q(indexable=True)
NOT_INDEXABLE = LIVE & Q(indexable=False)
# Which pages may give a link at all, and receive one.
GIVES = LINKABLE
RECEIVES = LINKABLE & Q(indexable=True)
# Readers come to home pages, hubs and utility pages by menus; to all others by links in texts.
FOUND_BY_TEXT = Q(role_in_force__in=("article", "product", "event", "thin"))
# No other page links to it from its text: TEXT_LINK in linker.models.linked, which counts until an import of links no
# longer holds it, also from pages that are not indexable or are missing themselves. An import of links counts them in
# `inlinks`; a match run, which reads them anyway, counts them the same way in linker.matching.needs.
ORPHAN = INDEXABLE & FOUND_BY_TEXT & Q(inlinks=0)

# Edges, by what people have decided: each is undecided, approved or refused.
APPROVED_STATUSES = ("accepted", "exported")
UNDECIDED = Q(status="suggested")
APPROVED = Q(status__in=APPROVED_STATUSES)
ACCEPTED = Q(status="accepted")  # approved, and not exported yet
WAITING = ACCEPTED & Q(waits=True)  # for a second person, see linker.pages.gates
SEEN_ONCE = ACCEPTED & Q(waits=False, second_by_id__isnull=True)  # no second person has approved it, nor has to
REFUSED = Q(status__in=("rejected", "withdrawn"))  # not proposed again, see linker.models.suppression
DECIDED = ~UNDECIDED
ONCE_APPROVED = Q(status__in=(*APPROVED_STATUSES, "withdrawn"))
# Those that a release has put on the site and none has taken off: what has left, and what came back to the queue from
# there. review.models.PublishedLink.is_out says the same of the same edges; this says it where its table is not known,
# and in words of the indexes.
REOPENED = Q(regressed=True)
OUT = Q(status="exported") | REOPENED

# Edges, by whether the newest run still proposes them.
PROPOSED = Q(stale=False)
STALE = Q(stale=True)
OPEN = UNDECIDED & PROPOSED
NOT_OPEN = DECIDED | STALE  # of indexes: a query says that it wants DECIDED ones or STALE ones, or finds none of them
ACTIVE = APPROVED | OPEN  # uses up the caps of both of its pages

# Edges, by how probably readers approve of them: nine in ten from here on (docs/quality.md, bounds in the text and
# beside it). An edge without a probability is not sure.
SURE = 0.86

# Edges, by what the queue shows unasked.
SHOWN = Q(tier__held=False)
HIDDEN = Q(tier__held=True) | Q(tier_id__isnull=True)  # the tier is held back, or the edge scores below every tier
TO_REVIEW = OPEN & SHOWN
HELD = OPEN & HIDDEN


def of(relation: str, rule: Q) -> Q:
    """The rule about a related row: `of("page", PRESENT)` filters vectors by their pages."""
    parts = [
        of(relation, part) if isinstance(part, Q) else (f"{relation}__{part[0]}", part[1]) for part in _parts(rule)
    ]
    return Q(*parts, _connector=rule.connector, _negated=rule.negated)


def sql(rule: Q, row: str = "", **related: str) -> str:
    """The rule as SQL, about the row with the alias `row`; without one, about columns of that name.

    `related` gives the aliases of rows that the rule also looks at: `sql(HELD, "e", tier="t")`.
    """
    parts = [
        sql(part, row, **related) if isinstance(part, Q) else _condition_sql(*part, row, related)
        for part in _parts(rule)
    ]
    text = f" {rule.connector} ".join(parts)
    if rule.negated:
        return f"NOT ({text})"
    return f"({text})" if rule.connector == Q.OR and len(parts) > 1 else text


def _condition_sql(name: str, value: Any, row: str, related: dict[str, str]) -> str:
    path, lookup = _lookup(name)
    alias = related[path[0]] if len(path) > 1 else row
    column = f"{alias}.{path[-1]}" if alias else path[-1]
    if lookup == "isnull":
        return f"{column} IS NULL" if value else f"{column} IS NOT NULL"
    if lookup == "in":
        return f"{column} IN ({', '.join(map(_literal, value))})"
    if isinstance(value, bool):
        return column if value else f"NOT {column}"
    return f"{column} = {_literal(value)}"


def _literal(value: Any) -> str:
    if isinstance(value, int):
        return str(int(value))
    quoted = str(value).replace("'", "''")
    return f"'{quoted}'"


def sure_sql(row: str = "") -> str:
    """Whether an edge is sure, as SQL, about the row with the alias `row`; without one, about columns of that name."""
    return f"({row}{row and '.'}probability >= {SURE}) IS TRUE"


def holds(rule: Q, row: Any) -> bool:
    """Whether the rule holds of a row in memory. As in SQL, a value that is missing equals none."""
    parts = [holds(part, row) if isinstance(part, Q) else _condition_holds(*part, row) for part in _parts(rule)]
    return (all(parts) if rule.connector == Q.AND else any(parts)) != rule.negated


def _condition_holds(name: str, value: Any, row: Any) -> bool:
    path, lookup = _lookup(name)
    found = row
    for attribute in path:
        found = getattr(found, attribute, None)
    if lookup == "isnull":
        return (found is None) == value
    return bool(found in value if lookup == "in" else found == value)


def _parts(rule: Q) -> list[Q | tuple[str, Any]]:
    return cast("list[Q | tuple[str, Any]]", rule.children)


def _lookup(name: str) -> tuple[list[str], str]:
    path = name.split("__")
    return (path[:-1], path[-1]) if path[-1] in ("isnull", "in") else (path, "exact")
