"""The log of changes calls fields and values what their pages call them, in the reader's language."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import get_type_hints

import pytest
from django.utils import translation

from ingest.fetching import manage as sources
from ingest.kinds.registry import KINDS
from ingest.schedules.manage import LOGGED as SCHEDULED
from ingest.schedules.manage import OF_THE_MATCH
from linker.engine.roles.policy import USUAL
from linker.matching.section_caps import CAPS
from linker.models import BarredPair, Change, ChangeKind, SafetyClass, SectionCap
from linker.projects.create import SETTINGS
from linker.projects.policies import exclusions, gates, links, roles, safety, sensitive, tiers
from linker.projects.policies.caps import set_cap
from linker.projects.policies.safety import bar_pair
from linker.projects.policies.tiers import change_tiers
from linker.runs.lifecycle import _IMPORTED
from linker.templatetags.anchorline import differences
from linker.web.forms.change_log import form_labels, value_label
from review.models import RolloutRule, Stage
from review.quality.limits import Limits
from review.releases import rollout_rules
from review.releases.create import create_release
from review.releases.rollout_rules import set_rule
from tests.factories import make_edge

pytestmark = pytest.mark.django_db


def counted() -> set[str]:
    """What the log says of imports: their numbers, and what they were read from."""
    hints = [get_type_hints(kind.report.type) | {"": None} for kind in KINDS]
    return {name for one in hints for name, hint in one.items() if hint == int | None} | set(_IMPORTED)


LOGGED = {
    ChangeKind.PROJECT: {*SETTINGS, "manager"},
    ChangeKind.SETTINGS: {*SETTINGS, *asdict(Limits()), "percent", "cards", "name", "query", "note", "due"},
    ChangeKind.TIERS: {*tiers.TIER_FIELDS, "read by", "bounds hold for run"},
    ChangeKind.SENSITIVE: {*sensitive.SENSITIVE_FIELDS},
    ChangeKind.EXCLUSIONS: {*exclusions.EXCLUSION_FIELDS},
    ChangeKind.SAFETY: {*safety.CLASS_FIELDS, "links", "reason"},
    ChangeKind.GATES: {*gates.GATE_FIELDS},
    ChangeKind.CAPS: {*CAPS},
    ChangeKind.ROLES: {*roles.ROLE_FIELDS, *roles._links_for_log(USUAL), "role by hand"},
    ChangeKind.LINKS: {*links.LINK_RULE_FIELDS},
    ChangeKind.SOURCES: {*sources.LOGGED, "secret", *SCHEDULED, *OF_THE_MATCH},
    ChangeKind.RELEASE: {*rollout_rules.FIELDS, "links", "changed", "removed", "held", "format", "filters", "sha256"},
    ChangeKind.RUNS: {"pinned", "name", "standing run"},
}


@pytest.mark.parametrize("kind", LOGGED)
def test_whatever_a_change_writes_down_is_called_something(kind):
    assert LOGGED[kind] - form_labels(kind).keys() == set()


def test_the_counts_of_imports_are_called_what_their_reports_call_them():
    shown = {name for kind in KINDS for name in (field.name for field in fields(kind.report.type))}
    assert (counted() & shown) - form_labels(ChangeKind.IMPORT).keys() == set()
    assert value_label(ChangeKind.IMPORT, "query_source", "search_console") == "Search Console"
    with translation.override("de"):
        assert form_labels(ChangeKind.IMPORT)["html"] == "HTML-Seiten"


def shown(project) -> list[tuple[str, str, str]]:
    return differences(Change.objects.filter(project=project).first())


def test_a_german_reads_german(project, manager, redis_server):
    set_rule(RolloutRule(project=project, pattern="^/shop/", stage=Stage.OFF), manager)
    with translation.override("de"):
        assert ("Neue Links", "", "Aus") in shown(project)
    set_cap(SectionCap(project=project, inline_in_all=7), manager)
    with translation.override("de"):
        assert shown(project) == [("Höchstens Links im Text einer Seite", "", "7")]
    first, second = (SafetyClass.objects.create(project=project, name=name) for name in ("Kinder", "Geister"))
    bar_pair(BarredPair(project=project, source=first, target=second, reason="from A to B"), manager)
    with translation.override("de"):
        assert ("Links, die nicht gesetzt werden dürfen", "", "von Kinder zu Geister") in shown(project)
        assert "from A to B" in {after for _name, _before, after in shown(project)}
    tier = project.tiers.filter(basis=project.tier_basis).order_by("-lower_bound").first()
    tier.lower_bound = 0.95
    change_tiers(project, [tier], user=manager)
    with translation.override("de"):
        [(name, before, after)] = shown(project)
    assert (name, before, after) == ("Wahrscheinlichkeit, Likely: Untere Grenze", "0,75", "0,95")
    make_edge(project, status="accepted", rel="follow", reviewed=True)
    create_release(project, project.edges.filter(status="accepted"), user=manager)
    with translation.override("de"):
        names = {name for name, _before, _after in shown(project)}
    assert {"Links", "Format", "SHA-256 der Datei"} <= names
