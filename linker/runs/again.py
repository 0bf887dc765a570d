"""A run that failed, or was cancelled, tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Run, RunStatus
from linker.runs.kinds import AGAIN, IMPORT_AGAIN, OVERTAKEN_BY, job_type
from linker.runs.lifecycle import start_run

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


def may_be_tried_again(run: Run) -> bool:
    """Whether a button offers it: what was done within a request is done there again."""
    if run.status not in (RunStatus.FAILED, RunStatus.CANCELLED):
        return False
    try:
        return bool(job_type(run.kind))
    except KeyError:
        return False


def try_again(run: Run, user: AbstractBaseUser | AnonymousUser) -> Run:
    """Starts a new run with the same parameters. Raises UserError where that makes no sense, RunIsActive where one of
    the kind is under way."""
    if not may_be_tried_again(run):
        raise UserError(_("Run %(run)d has not failed, so there is nothing to try again.") % {"run": run.pk})
    if (later := _overtaken_by(run)) is not None:
        said = _("Run %(later)d has changed the same since. Make the change of run %(run)d anew if you still want it.")
        raise UserError(said % {"later": later.pk, "run": run.pk})
    path = IMPORT_AGAIN if run.is_import else AGAIN.get(run.kind)
    if path is not None:
        return import_string(path)(run, user)
    return start_run(run.project, run.kind, run.params, user, follows=run.follows)


def _overtaken_by(run: Run) -> Run | None:
    """The newest run that has changed since what this one would change."""
    later = Run.objects.filter(project=run.project_id, kind__in=OVERTAKEN_BY.get(run.kind, ()), pk__gt=run.pk)
    return later.filter(status=RunStatus.SUCCEEDED).order_by("-pk").first()
