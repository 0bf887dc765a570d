"""What the writes of several subjects share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import Project
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Actor = AbstractBaseUser | AnonymousUser | None


def wait_for_others(project: Project) -> None:
    """Releases, undos and other changes of what is read into the edges wait until this transaction ends.

    "No key": a decision's row names its project, and its editor, who holds the edge that we may want, must not wait.
    """
    lock_project(project.pk)
