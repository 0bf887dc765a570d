"""Which roles in which projects the groups of the sign-in give, as the environment says it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured

ROLES = ("viewer", "editor", "expert", "manager")  # of linker.models.Role, from the least to the most
EXAMPLE = '{"link-editors": {"shop": "editor"}}'


def group_roles(found: Any) -> dict[str, dict[str, str]]:
    """`{group: {slug of a project: role}}`. Raises ImproperlyConfigured where it is anything else."""
    if not isinstance(found, dict):
        raise ImproperlyConfigured(f"OIDC_GROUPS must name groups, as in {EXAMPLE}")
    for group, projects in found.items():
        if not isinstance(projects, dict) or not all(role in ROLES for role in projects.values()):
            raise ImproperlyConfigured(
                f"OIDC_GROUPS must give the group {group!r} projects with one of the roles {', '.join(ROLES)}, as in "
                f"{EXAMPLE}"
            )
    return found
