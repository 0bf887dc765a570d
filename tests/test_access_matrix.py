"""Every address of a project, for every kind of visitor, by every method: who gets in and who does not.

The addresses come from the resolver. One that NEEDS lacks fails: whoever adds an address says here who may use it.
"""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from ingest.models import SiteSource
from linker.models import ExclusionRule, LinkRule, Membership, RoleRule, SensitiveRule
from review.releases.create import create_release
from tests.examples import EVERYTHING
from tests.factories import make_edge, make_member, make_user
from tests.linker.projects.test_access import PATTERNS, address

pytestmark = pytest.mark.django_db

NEVER = ("put", "patch", "delete", "options")  # methods that no address has
RANK = {"viewer": 0, "editor": 1, "expert": 1, "manager": 2}
# The least role for (reading, writing); None where the address has no such method. An address that is only posted to
# leads every member who reads it to another.
NEEDS = {
    "client_reports": ("viewer", "manager"),
    "client_report": ("viewer", None),
    "kept_runs": ("viewer", None),
    "run_comparison": ("viewer", "manager"),
    "run_pin": ("viewer", "manager"),
    "run_unpin": ("viewer", "manager"),
    "run_take_again": ("viewer", "manager"),
    "bounds_keep": ("viewer", "manager"),
    "import": ("manager", "manager"),
    "import_source": ("viewer", "manager"),
    "import_preview": ("manager", "manager"),
    "import_skipped": ("manager", None),
    "schedules": ("viewer", None),
    "match_schedule": ("viewer", "manager"),
    "sources": ("viewer", None),
    "source_add": ("manager", "manager"),
    "source": ("viewer", None),
    "source_state": ("viewer", None),
    "faulty_links": ("viewer", None),
    "faulty_links_csv": ("viewer", None),
    "source_edit": ("manager", "manager"),
    "source_check": ("viewer", "manager"),
    "source_remove": ("manager", "manager"),
    "source_fetch": ("viewer", "manager"),
    "source_schedule": ("viewer", "manager"),
    "source_go_on": ("viewer", "manager"),
    "source_restore": ("viewer", "manager"),
    "source_cancel": ("viewer", "manager"),
    "queue": ("viewer", None),
    "inbox": ("editor", None),
    "alike_pages": ("editor", None),
    "undo": ("viewer", "editor"),
    "accept_group": ("editor", "editor"),
    "edge": ("viewer", None),
    "deck": ("viewer", None),
    "queue_filters": ("viewer", None),
    "page_text": ("viewer", None),
    "second_person": ("viewer", "editor"),
    "words": ("editor", None),
    "operations": ("viewer", "editor"),
    "set_aside": ("viewer", "editor"),
    "bulk": ("editor", "editor"),
    "save_filter": ("viewer", "editor"),
    "forget_filter": ("viewer", "editor"),
    "team": ("manager", None),
    "suppressed": ("viewer", None),
    "allow_again": ("viewer", "editor"),
    "rule_out_again": ("viewer", "editor"),
    "read_twice": ("viewer", "manager"),
    "known_share": ("viewer", "manager"),
    "assign": ("viewer", "manager"),
    "close_assignment": ("viewer", "editor"),
    "give_on": ("viewer", "manager"),
    "sheet": ("editor", "editor"),
    "sheet_xlsx": ("viewer", None),
    "sheet_csv": ("viewer", None),
    "own_keys": ("viewer", "viewer"),
    "ask": ("viewer", "editor"),
    "comment": ("viewer", "editor"),
    "presence": ("viewer", "editor"),
    "meanwhile": ("editor", None),
    "decide": ("viewer", "editor"),
    "releases": ("viewer", "editor"),
    "suggestions_csv": ("viewer", None),
    "release_download": ("viewer", None),
    "release_as": ("viewer", None),
    "settings_rollout": ("manager", "manager"),
    "rollout_remove": ("viewer", "manager"),
    "next_held": ("viewer", None),
    "release": ("viewer", None),
    "release_withdraw": ("manager", "manager"),
    "left_links": ("viewer", None),
    "left_links_decide": ("viewer", "editor"),
    "live_links": ("viewer", None),
    "live_links_do": ("viewer", "editor"),
    "link_life": ("viewer", None),
    "draft_make": ("viewer", "editor"),
    "draft": ("viewer", None),
    "draft_publish": ("viewer", "editor"),
    "draft_discard": ("viewer", "editor"),
    "draft_pages_back": ("viewer", "editor"),
    "roll_back_make": ("viewer", "manager"),
    "release_diff": ("viewer", None),
    "quality": ("manager", None),
    "audit_now": ("viewer", "manager"),
    "judge": ("editor", None),
    "judge_link": ("viewer", "editor"),
    "judge_undo": ("viewer", "editor"),
    "put_right": ("viewer", "editor"),
    "alerts": ("manager", None),
    "alerts_look": ("viewer", "manager"),
    "alerts_limits": ("viewer", "manager"),
    "alert_close": ("viewer", "manager"),
    "calibrations": ("manager", "manager"),
    "calibration": ("manager", None),
    "calibration_apply": ("viewer", "manager"),
    "project": ("viewer", None),
    "learning": ("viewer", None),
    "learning_choose": ("viewer", "manager"),
    "pages": ("viewer", None),
    "page": ("viewer", None),
    "why_not": ("viewer", None),
    "copies": ("viewer", None),
    "copies_csv": ("viewer", None),
    "copies_apart": ("viewer", "manager"),
    "copies_apart_page": ("viewer", "manager"),
    "copies_take_back": ("viewer", "manager"),
    "runs": ("viewer", None),
    "run": ("viewer", None),
    "run_state": ("viewer", None),
    "run_cancel": ("viewer", "manager"),
    "run_again": ("viewer", "manager"),
    "runs_under_way": ("viewer", None),
    "match": ("manager", "manager"),
    "match_count": ("manager", None),
    "embed": ("viewer", "manager"),
    "match_changes": ("viewer", "manager"),
    "match_whole": ("viewer", "manager"),
    "page_list": ("viewer", None),
    "page_list_add": ("viewer", "manager"),
    "settings": ("manager", "manager"),
    "settings_vectors": ("manager", None),
    "vectors_drop": ("viewer", "manager"),
    "settings_tiers": ("manager", "manager"),
    "settings_cohort": ("manager", "manager"),
    "settings_shown_share": ("manager", "manager"),
    "settings_ranking": ("manager", "manager"),
    "settings_sensitive": ("manager", "manager"),
    "sensitive_remove": ("viewer", "manager"),
    "sensitive_decide": ("viewer", "manager"),
    "sensitive_leave_out": ("viewer", "manager"),
    "sensitive_look": ("viewer", "manager"),
    "settings_exclusions": ("manager", "manager"),
    "exclusion_preview": ("manager", None),
    "exclusion_remove": ("viewer", "manager"),
    "settings_caps": ("manager", "manager"),
    "cap_end": ("viewer", "manager"),
    "settings_safety": ("manager", None),
    "safety_class": ("viewer", "manager"),
    "safety_class_end": ("viewer", "manager"),
    "safety_pair": ("viewer", "manager"),
    "safety_pair_end": ("viewer", "manager"),
    "gate": ("viewer", "manager"),
    "gate_end": ("viewer", "manager"),
    "page_role": ("viewer", "manager"),
    "settings_roles": ("manager", "manager"),
    "role_links": ("viewer", "manager"),
    "roles_find": ("viewer", "manager"),
    "role_rule_remove": ("viewer", "manager"),
    "settings_links": ("manager", "manager"),
    "link_rule_remove": ("viewer", "manager"),
    "settings_members": ("manager", "manager"),
    "member_change": ("viewer", "manager"),
    "member_remove": ("viewer", "manager"),
    "member_sections": ("manager", "manager"),
    "invite": ("viewer", "manager"),
    "revoke": ("viewer", "manager"),
    "settings_log": ("manager", None),
}
PARTS = 4  # of the addresses: several processes share them
OUTSIDE = ("nobody", "outsider", "staff", "superuser", "inactive")


def visitor(kind: str, project, outsider: User) -> Client:
    """A browser in which such a visitor is signed in."""
    client = Client(raise_request_exception=False)
    match kind:
        case "nobody":
            return client
        case "outsider":
            user = outsider
        case "staff" | "superuser":
            user = make_user(kind, is_staff=True, is_superuser=kind == "superuser")
        case "inactive":
            user = make_member(project, "manager")
            User.objects.filter(pk=user.pk).update(is_active=False)
        case _:
            user = make_member(project, kind)
    client.force_login(user)
    return client


@pytest.fixture
def furnished(project):
    """A project that has one of everything that an address can name."""
    make_member(project, "manager", username="the manager")
    make_edge(project, status="accepted")
    create_release(project, project.edges.all())
    make_edge(project)
    SiteSource.objects.create(project=project, kind="crawl", name="Site", address=f"{project.base_url}/")
    ExclusionRule.objects.create(project=project, pattern="/basket")
    SensitiveRule.objects.create(project=project, url_pattern="/health")
    RoleRule.objects.create(project=project, pattern="/lists/", role="hub")
    LinkRule.objects.create(project=project, words="Read more", counts_as="list")
    return project


def is_as_told(kind: str, method: str, needs: str | None, status: int) -> bool:
    """Whether the status is the one for such a visitor, where the method needs a role, or none has it."""
    if status == 405:  # a method that the address never takes is refused before anybody is looked at
        return kind in OUTSIDE or needs is None or method == "head"
    if kind in ("nobody", "inactive"):
        return status == 302
    if kind in OUTSIDE:
        return status == 404
    return needs is not None and status < 500 and (status == 403) == (RANK[kind] < RANK[needs])


def is_telling(kind: str, method: str, needs: str | None, number: int) -> bool:
    """Whether a visitor is one of those whom the suite asks for: two from outside, and the role below the one that may.
    Whoever may is asked for by the tests of each page, and here in make test-all. Methods that no address has are
    refused by one line of its view, all or none: each address is asked by one of them, by turns (`number`)."""
    if method in NEVER and method != NEVER[number % len(NEVER)]:
        return False
    if method == "head":  # Django answers it as a get without its body
        return kind == "outsider"
    if kind in OUTSIDE:
        return kind in ("nobody", "outsider")
    return kind != "expert" and RANK[kind] == RANK[needs or "viewer"] - 1


def test_every_address_says_who_may_use_it():
    assert {pattern.name for pattern in PATTERNS} == NEEDS.keys()


@pytest.mark.parametrize("part", range(PARTS))
def test_who_may_use_an_address(part, furnished, outsider, redis_server):
    """Outsiders learn nothing, not even the project's name; a superuser who is no member is one of them."""
    project = furnished
    visitors = {kind: visitor(kind, project, outsider) for kind in (*OUTSIDE, *RANK)}
    wrong = []
    for number, pattern in enumerate(PATTERNS[part::PARTS]):
        url, (reads, writes) = address(pattern, project), NEEDS[pattern.name]
        for kind, client in visitors.items():
            needs = {"get": reads, "post": writes}
            if kind in ("outsider", "manager"):  # the others are refused in the same place
                needs |= {"head": reads} | dict.fromkeys(NEVER)
            for method, role in needs.items():
                if not (EVERYTHING or is_telling(kind, method, role, number)):
                    continue
                with transaction.atomic() if kind in RANK else nullcontext():
                    response = getattr(client, method)(url)
                    if kind in RANK:  # what a manager changes is there again for the next
                        transaction.set_rollback(True)
                if not is_as_told(kind, method, role, response.status_code):
                    wrong.append(f"{kind} {method} {pattern.name}: {response.status_code}")
                if kind in OUTSIDE and project.name in response.content.decode():
                    wrong.append(f"{kind} {method} {pattern.name}: names the project")
                if response.status_code == 302 and kind == "nobody" and not response.url.startswith(reverse("login")):
                    wrong.append(f"{kind} {method} {pattern.name}: leads to {response.url}")
    assert wrong == []


def test_a_manager_cannot_leave_a_project_without_a_manager(project, client_for):
    """Whatever is asked for last, somebody can still answer for the project."""
    manager = make_member(project, "manager")
    membership = Membership.objects.get(user=manager)
    client = client_for(manager)
    client.post(reverse("member_remove", args=[project.slug, membership.pk]))
    client.post(reverse("member_change", args=[project.slug, membership.pk]), {"role": "viewer"})
    assert Membership.objects.filter(project=project, role="manager").exists()
