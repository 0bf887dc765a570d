"""What every page of a project hands to its template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linker.models import Membership


def shell(membership: Membership, section: str, **context: Any) -> dict[str, Any]:
    """`section` is the entry of the navigation that is current."""
    return {"project": membership.project, "membership": membership, "section": section, **context}
