"""What links count as by a project's rules: applied to all links that are kept, by imports and by runs of their own.

A rule is a bit. A page's bits are the rules whose patterns match its address, as a donor and as an acceptor, an
anchor's those whose words it is, and a block's those that ask for it or for none: the rules that match a link are those
in all four, and the first is the lowest bit.
So PostgreSQL reads the links of a project once, however many rules there are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.db import connection

from linker.engine.patterns import compile_pattern
from linker.models import Block, CountsAs, CountsBy, LinkRule, Project, ReadAs
from linker.models.linked import read_block_sql, seen_sql
from linker.models.querysets import PRESENT, sql
from linker.pages.link_words import WordsOfRules
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import batches, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

AT_A_TIME = 5000  # pages, or anchors
MOST_RULES = 60  # bits of PostgreSQL's bigint
REACHED = (Block.CONTENT, Block.ASIDE, Block.LIST)  # of links that are kept with their words
EXAMPLES = 10

_REACHED = ", ".join(str(block.value) for block in REACHED)
_BITS_OF_BLOCKS = " ".join(f"WHEN {block.value} THEN %(read_{block.value})s::bigint" for block in REACHED)
# Every link that a rule may take, with the bits of the rules that match it; `link_rule_page` and `link_rule_words` hold
# the bits of rules that have a pattern, or words, and the parameters those of rules that have none.
MATCHED = f"""
SELECT l.id, l.block, {read_block_sql("l")} AS read, l.counts_by, l.missing_since, l.source_id,
    (%(any_source)s | coalesce(s.as_source, 0)) & (%(any_target)s | coalesce(t.as_target, 0))
    & (%(any_words)s | coalesce(w.rules, 0))
    & CASE {read_block_sql("l")} {_BITS_OF_BLOCKS} END AS rules
FROM linker_existinglink l
LEFT JOIN link_rule_page s ON s.id = l.source_id
LEFT JOIN link_rule_page t ON t.id = l.target_id
LEFT JOIN link_rule_words w ON w.anchor = l.anchor
WHERE l.project_id = %(project)s AND {read_block_sql("l")} IN ({_REACHED})
"""
_RULED = f"""
CREATE TEMP TABLE link_ruled ON COMMIT DROP AS
SELECT id, rules & -rules AS first, read, block, wanted, counts_by, {sql(PRESENT, "matched")} AS present, source_id
FROM (
    SELECT m.*, CASE WHEN rules & -rules & %(text)s <> 0 THEN {Block.CONTENT.value}
        WHEN rules <> 0 THEN {Block.LIST.value} ELSE read END AS wanted
    FROM ({MATCHED}) m
) matched WHERE rules <> 0 OR counts_by = {CountsBy.RULE.value}
"""
_WRITE = f"""
UPDATE linker_existinglink l SET block = r.wanted, read_block = nullif(r.read, r.wanted),
    counts_by = CASE WHEN r.first <> 0 THEN {CountsBy.RULE.value} END
FROM link_ruled r
WHERE l.id = r.id
    AND (r.block <> r.wanted OR (r.first <> 0) <> (r.counts_by IS NOT DISTINCT FROM {CountsBy.RULE.value}))
"""


@dataclass(frozen=True)
class Example:
    """A link that counts otherwise, by addresses."""

    source: str
    words: str
    target: str
    was: Block
    now: Block


@dataclass(frozen=True)
class Applied:
    """What rules did, of links that are not missing. `taken` and `changed`: by the number of the rule, links that it
    takes and those of them that counted otherwise before; `back` count again as they were read. `otherwise`: how many
    count otherwise than they were read. `moved` has the changed ones by what they were and are. `written`: links of
    which something was written, if only that a rule decides of them no longer."""

    taken: dict[int, int] = field(default_factory=dict)
    changed: dict[int, int] = field(default_factory=dict)
    back: int = 0
    otherwise: int = 0
    moved: Counter[tuple[Block, Block]] = field(default_factory=Counter)
    examples: tuple[Example, ...] = ()
    written: int = 0


def rules_of(project: Project) -> list[LinkRule]:
    """The first that matches counts."""
    return list(LinkRule.objects.filter(project=project).order_by("pk")[:MOST_RULES])


def apply_link_rules(project: Project, *, in_part: bool = False) -> Applied:
    """Writes on all links of the project what they count as. `in_part`: of what is returned, `otherwise` and `moved`
    are of the links alone that the import saw, see seen_sql().

    Belongs into a transaction that holds `lock_pages`. It reads each link once and writes those that change: twice the
    same writes nothing.
    """
    rules = rules_of(project)
    write_bits(project, rules)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS link_ruled")
        cursor.execute(_RULED, bits(project, rules))
        cursor.execute("ANALYZE link_ruled")
        applied = _counted(rules, in_part=in_part)
        cursor.execute(_WRITE)
        written = cursor.rowcount
        cursor.execute("DROP TABLE link_ruled")
    return replace(applied, written=written)


def note_taken(applied: Applied) -> None:
    """Writes with each rule how many links it takes. Wants the project's row locked: whoever adds or removes a rule
    holds it."""
    for rule in LinkRule.objects.filter(pk__in=applied.taken):
        if rule.links != applied.taken[rule.pk]:
            LinkRule.objects.filter(pk=rule.pk).update(links=applied.taken[rule.pk])


def _counted(rules: Sequence[LinkRule], *, in_part: bool) -> Applied:
    taken, changed = {rule.pk: 0 for rule in rules}, Counter[int]()
    moved, otherwise, back = Counter[tuple[Block, Block]](), 0, 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT first, read, block, wanted, count(*), "
            f"count(*) FILTER (WHERE {seen_sql('l', in_part=in_part)}) "
            "FROM link_ruled l WHERE present GROUP BY 1, 2, 3, 4"
        )
        for first, read, was, now, links, seen in cursor.fetchall():
            rule = rules[first.bit_length() - 1].pk if first else None
            otherwise += seen if now != read else 0
            if rule is not None:
                taken[rule] += links
            if was == now:
                continue
            if seen:
                moved[Block(was), Block(now)] += seen
            if rule is None:
                back += links
            else:
                changed[rule] += links
    return Applied(taken, dict(changed), back, otherwise, moved, _examples())


def _examples() -> tuple[Example, ...]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.url, l.anchor, t.url, r.block, r.wanted FROM "
            "(SELECT * FROM link_ruled WHERE present AND block <> wanted ORDER BY id LIMIT %s) r "
            "JOIN linker_existinglink l ON l.id = r.id JOIN linker_page s ON s.id = l.source_id "
            "JOIN linker_page t ON t.id = l.target_id ORDER BY r.id",
            [EXAMPLES],
        )
        return tuple(
            Example(source, words, target, Block(was), Block(now))
            for source, words, target, was, now in cursor.fetchall()
        )


# ------------------------------------------------------------------------------------------------------------- bits


def bits(project: Project, rules: Sequence[LinkRule]) -> dict[str, Any]:
    """The parameters of MATCHED: the rules that ask nothing of a donor, an acceptor or an anchor; those that take links
    of each block; and those that make links of the text."""
    return {
        f"read_{block.value}": _bits(not rule.read_as or ReadAs(rule.read_as).block is block for rule in rules)
        for block in REACHED
    } | {
        "project": project.pk,
        "any_source": _bits(not rule.source_pattern for rule in rules),
        "any_target": _bits(not rule.target_pattern for rule in rules),
        "any_words": _bits(not rule.words for rule in rules),
        "text": _bits(rule.counts_as == CountsAs.TEXT for rule in rules),
    }


def write_bits(project: Project, rules: Sequence[LinkRule]) -> None:
    """Fills the temporary tables that MATCHED reads."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS link_rule_page, link_rule_words")
        cursor.execute(
            "CREATE TEMP TABLE link_rule_page (id bigint, as_source bigint, as_target bigint) ON COMMIT DROP"
        )
        cursor.execute("CREATE TEMP TABLE link_rule_words (anchor text, rules bigint) ON COMMIT DROP")
    for pages in batches(_pages(project, rules), AT_A_TIME):
        copy_rows_in("link_rule_page", ("id", "as_source", "as_target"), pages)
    for anchors in batches(_anchors(project, rules), AT_A_TIME):
        copy_rows_in("link_rule_words", ("anchor", "rules"), anchors)
    analyze("link_rule_page", "link_rule_words")


def _bits(are: Iterable[bool]) -> int:
    return sum(1 << place for place, is_one in enumerate(are) if is_one)


def _pages(project: Project, rules: Sequence[LinkRule]) -> Iterator[tuple[int, int, int]]:
    """Pages whose addresses a pattern finds, with the bits of the rules whose it is."""
    as_source, as_target = (
        _finder([getattr(rule, name) for rule in rules]) for name in ("source_pattern", "target_pattern")
    )
    if as_source is None and as_target is None:
        return
    rows = stream("rule_pages", "SELECT id, url FROM linker_page WHERE project_id = %s", [project.pk], AT_A_TIME)
    for page, url in rows:
        found = as_source(url) if as_source else 0, as_target(url) if as_target else 0
        if any(found):
            yield page, *found


def _finder(patterns: Sequence[str]) -> Callable[[str], int] | None:
    """What gives the bits of the patterns that find an address; None where all are empty."""
    places: dict[str, int] = {}
    for place, pattern in enumerate(patterns):
        if pattern:
            places[pattern] = places.get(pattern, 0) | 1 << place
    if not places:
        return None
    compiled = [(compile_pattern(pattern), those) for pattern, those in places.items()]
    return lambda url: sum(those for pattern, those in compiled if pattern.search(url))


def _anchors(project: Project, rules: Sequence[LinkRule]) -> Iterator[tuple[str, int]]:
    """Anchors, as they are kept, that are the words of rules, with the bits of these."""
    words = WordsOfRules([rule.words for rule in rules])
    if not words:
        return
    # Anchors are kept without spaces that are too many.
    rows = stream(
        "rule_words",
        f"SELECT DISTINCT l.anchor FROM linker_existinglink l WHERE l.project_id = %s "
        f"AND {read_block_sql('l')} IN ({_REACHED}) "
        "AND (char_length(l.anchor) = ANY(%s::integer[]) OR char_length(l.anchor) >= %s)",
        [project.pk, words.lengths(), words.least()],
        AT_A_TIME,
    )
    for (anchor,) in rows:
        if found := words.of(anchor):
            yield anchor, found
