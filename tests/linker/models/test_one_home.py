"""No rule is written a second time: a copy would be right until somebody changes the other one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HOMES = {
    "linker/models/querysets.py",
    "linker/models/linked.py",
    "linker/models/subtrees.py",
    "linker/storage/locks.py",
}
SOURCES = [
    path
    for app in ("linker", "ingest", "review")
    for path in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in path.parts and str(path.relative_to(ROOT)) not in HOMES
]
# How a rule looks where somebody wrote it out, in SQL, for the ORM or in Python; and what to write instead.
COPIES = {
    "PRESENT, MISSING": r"missing_since IS (NOT )?NULL|missing_since(__isnull)?=(None|True|False)"
    r"|missing_since is (not )?None",
    "LIVE": r"status (=|<>) 'live'|status ?=?= ?['\"]live['\"]|status ?=?= ?PageStatus\.LIVE",
    "ANSWERED_200, LINKABLE": r"status_code, 200\) (=|<>) 200|status_code (=|<>) 200 OR|status_code=(None|200)",
    "UNDECIDED, DECIDED": r"status (=|<>) 'suggested'|edge\.status (==|!=) EdgeStatus\.SUGGESTED"
    r"|status=(EdgeStatus\.SUGGESTED|.suggested.)\)",
    "ACCEPTED": r"(Q|filter|exclude)\(status=EdgeStatus\.ACCEPTED\)|status (=|<>) 'accepted'",
    "APPROVED": r"['\"]accepted['\"], ['\"]exported['\"]|EdgeStatus\.ACCEPTED, EdgeStatus\.EXPORTED",
    "REFUSED": r"['\"]rejected['\"], ['\"]withdrawn['\"]|EdgeStatus\.REJECTED, EdgeStatus\.WITHDRAWN",
    "OPEN, PROPOSED": r"NOT (\w+\.)?stale\b|(Q|filter|exclude)\([^()]*\bstale=",
    "SHOWN, HIDDEN": r"tier__held|NOT t\.held|edge\.tier\.held|tier__isnull",
    # What is written, and the block that was read, are no rules.
    "TEXT_LINK, BESIDE_LINK, ASIDE_LINK": r"(?<!read_)block=Block\.(CONTENT|ASIDE)|block__in=LINKED_IN"
    r"|(?<!read_)(?<!SET )block = \{Block\.(CONTENT|ASIDE)",
    "subtree, tree_sql": r"path__0_|parent_id = \w+\.category",
    "lock_project": r"Project\.objects\.select_for_update|FROM linker_project .*FOR (NO KEY )?UPDATE",
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("rule", COPIES)
def test_a_rule_is_written_in_its_home_alone(rule):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(COPIES[rule], line)
    ]
    assert not found, f"Use {rule} of its home, rules on rows by the ORM or through sql():\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("PRESENT, MISSING", 'f"WHERE project_id = %s AND p.missing_since IS NULL"'),
        ("PRESENT, MISSING", "Page.objects.filter(project=project, missing_since=None)"),
        ("LIVE", "\"AND status = 'live'\""),
        ("LIVE", 'Page.objects.filter(status="live")'),
        ("ANSWERED_200, LINKABLE", '"AND coalesce(status_code, 200) = 200"'),
        ("ANSWERED_200, LINKABLE", "Q(status_code=None) | Q(status_code=200)"),
        ("UNDECIDED, DECIDED", "e.status <> 'suggested'"),
        ("UNDECIDED, DECIDED", "if edge.status == EdgeStatus.SUGGESTED"),
        ("UNDECIDED, DECIDED", "edges.filter(status=EdgeStatus.SUGGESTED)"),
        ("ACCEPTED", "Q(status=EdgeStatus.ACCEPTED)"),
        ("APPROVED", "status IN ('accepted', 'exported')"),
        ("REFUSED", "(EdgeStatus.REJECTED, EdgeStatus.WITHDRAWN)"),
        ("OPEN, PROPOSED", "e.status = 'suggested' AND NOT e.stale"),
        ("OPEN, PROPOSED", "filter(project=project, stale=False)"),
        ("SHOWN, HIDDEN", "coalesce(NOT t.held, false)"),
        ("TEXT_LINK, BESIDE_LINK, ASIDE_LINK", "filter(target=target, block=Block.CONTENT)"),
        ("lock_project", "Project.objects.select_for_update().get(pk=project.pk)"),
        ("subtree, tree_sql", "UNION SELECT c.id FROM tree JOIN linker_category c ON c.parent_id = tree.category"),
    ],
)
def test_a_copy_would_be_seen(rule, line):
    assert re.search(COPIES[rule], line)
