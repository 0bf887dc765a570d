"""The sources of a project: made, changed, removed; each change is written into the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ingest.models import SiteSource
from ingest.sources import secrets
from ingest.sources.connectors import registry
from ingest.sources.outgoing import Rules
from linker import audit
from linker.errors import UserError
from linker.models import ChangeKind, Project, Run, RunKind
from linker.models.run import ACTIVE
from linker.runs.lifecycle import request_cancel

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet

LOGGED = ("kind", "name", "address", "options", "username", "refresh_matches")  # never the secret


def sources_of(project: Project) -> QuerySet[SiteSource]:
    """Those that were not removed."""
    return SiteSource.objects.filter(project=project, removed_at=None)


def create_source(project: Project, user: AbstractBaseUser | None, *, secret: str = "", **values: Any) -> SiteSource:
    """A new source. Raises UserError for an address that may not be asked, options that mean nothing, or a name that
    another source of the project has."""
    source = SiteSource(project=project, created_by_id=user.pk if user is not None else None, **values)
    return _save(source, user, secret, {})


def change_source(source: SiteSource, user: AbstractBaseUser | None, *, secret: str = "", **values: Any) -> SiteSource:
    """Changes what is given; an empty secret leaves the stored one, but not where the address has another host: a
    password is not sent elsewhere without being entered anew. Raises UserError, see create_source."""
    before = audit.values(source, LOGGED)
    _take(source, secret, values)
    return _save(source, user, secret, before)


def consequences(before: SiteSource, now: SiteSource) -> list[str]:
    """What a change of a source means for what is there already, in sentences; none where it means nothing."""
    if before.address == now.address:
        return []
    said = [
        _(
            "The next fetch begins at %(address)s. Pages that this source held and that it does not find there count "
            "as missing then; if that is far more than a few, the import stops and asks."
        )
        % {"address": now.address}
    ]
    if before.secret and not now.secret:
        said.append(_("The stored password was forgotten, since the address has another host. Enter it again."))
    return said


def remove_source(source: SiteSource, user: AbstractBaseUser | None) -> None:
    """Takes a source off the list, forgets its secret, and cancels what it is being fetched by. Its runs and what they
    brought stay."""
    with transaction.atomic():
        if not SiteSource.objects.filter(pk=source.pk, removed_at=None).update(removed_at=timezone.now(), secret=None):
            return
        before = audit.values(source, LOGGED)
        audit.record(source.project, ChangeKind.SOURCES, user=user, subject=source.name, before=before)
    fetches = Run.objects.filter(project=source.project, kind=RunKind.FETCH, params__source=source.pk)
    for run in fetches.filter(status__in=ACTIVE):
        request_cancel(run)


def asked_once(source: SiteSource, *, secret: str = "", **values: Any) -> str:
    """What a source answers, in a sentence; with `values` instead of its own, and nothing is kept. Raises UserError."""
    _take(source, secret, values)
    _check(source)
    if not secret and source.secret:
        secret = secrets.decrypt(bytes(source.secret))
    found = registry.get(source.kind).check(source, Rules.in_force(), secret)
    return found or _("%(address)s may be asked.") % {"address": source.address}


def _take(source: SiteSource, secret: str, values: dict[str, Any]) -> None:
    """Puts values into a source. A stored password goes where the address has another host."""
    if "address" in values and _host(values["address"]) != _host(source.address) and not secret:
        source.secret = None
    for name, value in values.items():
        setattr(source, name, value)


def _check(source: SiteSource) -> None:
    Rules.in_force().check_url(source.address)
    own = _host(source.project.base_url)
    if _host(source.address).removeprefix("www.") != own.removeprefix("www."):
        raise UserError(
            _("%(address)s is not an address of the project’s site, %(site)s. Another site needs a project of its own.")
            % {"address": source.address, "site": source.project.base_url}
        )
    registry.get(source.kind).Options.of(source.options)


def _save(source: SiteSource, user: AbstractBaseUser | None, secret: str, before: dict[str, Any]) -> SiteSource:
    _check(source)
    if secret:
        source.secret = secrets.encrypt(secret)
    after = audit.values(source, LOGGED) | ({"secret": _("entered")} if secret else {})
    try:
        with transaction.atomic():
            source.save()
            audit.record(source.project, ChangeKind.SOURCES, user=user, subject=source.name, before=before, after=after)
    except IntegrityError:
        if not sources_of(source.project).filter(name=source.name).exclude(pk=source.pk).exists():
            raise
        raise UserError(
            _("The project has a source with the name “%(name)s”. Choose another name.") % {"name": source.name}
        ) from None
    return source


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0].casefold()
