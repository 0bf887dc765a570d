"""Writes: what pages are for, by rules and by hand, and what each role gives and receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from linker import audit
from linker.engine.roles.policy import LABELS, differing, usual_links
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.models import ChangeKind, Page, Project, RoleRule, RunKind
from linker.pages.list_links import listing_roles, settle_list_links
from linker.pages.roles import apply_role_rules, links_by_role
from linker.projects.policies.shared import wait_for_others
from linker.runs import lifecycle
from linker.storage.locks import lock_project, try_lock_pages
from linker.storage.site_figures import keep_figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.engine.roles.policy import PageRole, RoleLinks
    from linker.models import Run
    from linker.projects.policies.shared import Actor


ROLE_FIELDS = ("pattern", "role", "note")
ROLES_AT_ONCE = 5_000  # pages whose addresses are looked through while somebody waits; of more, by a run


@transaction.atomic
def add_role_rule(rule: RoleRule, user: Actor) -> Run | None:
    """Saves a new rule, or a changed one, and gives the pages their roles: at once, or by the run that is returned."""
    wait_for_others(rule.project)
    before = audit.values(RoleRule.objects.get(pk=rule.pk), ROLE_FIELDS) if rule.pk else {}
    rule.save()
    after = audit.values(rule, ROLE_FIELDS)
    audit.record(rule.project, ChangeKind.ROLES, user=user, subject=rule.pattern, before=before, after=after)
    return _apply_role_rules(rule.project, user)


@transaction.atomic
def remove_role_rule(project: Project, rule_id: int, user: Actor) -> Run | bool:
    """Removes a rule; its pages have the roles again that were found: at once, or by the run that is returned. False
    where the rule is gone already."""
    wait_for_others(project)
    rule = RoleRule.objects.filter(project=project, pk=rule_id).first()
    if rule is None:
        return False
    before = audit.values(rule, ROLE_FIELDS)
    audit.record(project, ChangeKind.ROLES, user=user, subject=rule.pattern, before=before)
    rule.delete()
    return _apply_role_rules(project, user) or True


def _apply_role_rules(project: Project, user: Actor) -> Run | None:
    if not _may_be_done_at_once(project):
        return _find_roles(project, user)
    apply_role_rules(project)
    settle_list_links(project)
    keep_figures(project)
    follow_up.start(project, [Piece.TIERS], user=user)
    return None


def _may_be_done_at_once(project: Project) -> bool:
    is_large = Page.objects.filter(project=project)[ROLES_AT_ONCE : ROLES_AT_ONCE + 1].exists()
    # An import that writes pages goes on to wait for the project's row, which is held here.
    return not is_large and try_lock_pages(project.pk)


def _find_roles(project: Project, user: Actor) -> Run:
    try:
        return lifecycle.start_run(project, RunKind.ROLES, {}, user)
    except lifecycle.RunIsActive as active:
        return active.run  # which reads the rules once it has the project's row, so these too


@transaction.atomic
def set_page_role(page: Page, role: PageRole | None, user: Actor) -> None:
    """Gives a page a role by hand; None takes it back, so that rules and what was found count again."""
    Page.objects.select_for_update(no_key=True).only("pk").get(pk=page.pk)
    before = Page.objects.values_list("role_by_hand", flat=True).get(pk=page.pk)
    chosen = role.value if role is not None else ""
    Page.objects.filter(pk=page.pk).update(role_by_hand=chosen)
    audit.record(
        page.project,
        ChangeKind.ROLES,
        user=user,
        subject=page.url,
        before={"role by hand": before},
        after={"role by hand": chosen},
    )
    if try_lock_pages(page.project_id):
        settle_list_links(page.project, page=page.pk)
    else:
        _find_roles(page.project, user)
    follow_up.start(page.project, [Piece.TIERS], user=user, target=page.pk)


@transaction.atomic
def set_role_links(project: Project, chosen: Mapping[PageRole, RoleLinks], user: Actor) -> Run | None:
    """What pages of each role give and receive, from the next match run on; what was suggested stays. Which links count
    as an editor's follows at once, or by the run that is returned."""
    held = lock_project(project.pk)
    before, links_before = held.role_links, links_by_role(held)
    project.is_shop = held.is_shop
    project.role_links = differing(chosen, in_shop=held.is_shop)
    project.save(update_fields=["role_links"])
    audit.record(
        project,
        ChangeKind.ROLES,
        user=user,
        subject="What roles give and receive",
        before=_links_for_log(links_before),
        after=_links_for_log(chosen),
    )
    if listing_roles(before) == listing_roles(project.role_links):
        return None
    if not _may_be_done_at_once(project):
        return _find_roles(project, user)
    settle_list_links(project)
    keep_figures(project)
    return None


def reset_role_links(project: Project, user: Actor) -> Run | None:
    """Pages of each role give and receive again what they usually do."""
    return set_role_links(project, usual_links(in_shop=project.is_shop), user)


def _links_for_log(links: Mapping[PageRole, RoleLinks]) -> dict[str, Any]:
    return {
        f"{LABELS[role]} {name}": str(value) for role, one in links.items() for name, value in one._asdict().items()
    }
