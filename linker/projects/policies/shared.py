"""What the writes of several subjects share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import Project
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Actor = AbstractBaseUser | AnonymousUser | None


# What suggestions are read by.
_READ_BY = ("tier_basis", "expected_share", "role_links", "is_shop")


def wait_for_others(project: Project) -> None:
    """Releases, undos and other changes of what is read into the edges wait until this transaction ends. What they
    changed of how suggestions are read while we waited holds for `project`, which was read before.

    "No key": a decision's row names its project, and its editor, who holds the edge that we may want, must not wait.
    """
    held = lock_project(project.pk)
    for name in _READ_BY:
        setattr(project, name, getattr(held, name))
