"""Alerts: raised once a cause by a run, closed by a manager with a word why."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.errors import UserError
from linker.models import Membership, Project, Role
from linker.notifications import Kind, notify, readers_words
from linker.runs import lifecycle
from linker.storage.locks import lock_project
from linker.wording import decimal, number, percent
from review.models import Alert, AlertClosing, AlertKind
from review.quality.limits import Limits
from review.quality.report import AlertsReport
from review.quality.watch import watch

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import Run
    from linker.runs.lifecycle import Progress

_OF_A_RUN = (AlertKind.HISTOGRAM, AlertKind.SHRUNK)  # raised once of it, however often it was closed
QUIET = timedelta(days=7)  # after an alert was closed, its cause is not raised again so soon


def run_alerts(run: Run, progress: Progress = lifecycle.no_progress) -> AlertsReport:
    """Raises what is beyond its limit and not known yet. A second time it changes nothing."""
    progress(0, 1, "Looking for alerts")
    with transaction.atomic():
        project = lock_project(run.project_id)
        found = list(watch(project, Limits.of(project)))
        new = _raise(project, found)
        _count(project)
        if new:
            _tell(project, new)
        return AlertsReport(found=len(found), raised=len(new))


def _raise(project: Project, found: list[tuple[AlertKind, str, dict[str, Any]]]) -> list[Alert]:
    known = Alert.objects.filter(project=project).exclude(closed_at__lt=timezone.now() - QUIET)
    there = set(known.values_list("kind", "cause"))
    there |= set(Alert.objects.filter(project=project, kind__in=_OF_A_RUN).values_list("kind", "cause"))
    new = [
        Alert(project=project, kind=kind, cause=cause, found=numbers)
        for kind, cause, numbers in found
        if (kind, cause) not in there
    ]
    return Alert.objects.bulk_create(new)


def _count(project: Project) -> None:
    """Keeps how many are open on the project, for the navigation of every page."""
    still_open = Alert.objects.filter(project=project, closed_at=None).count()
    Project.objects.filter(pk=project.pk).update(open_alerts=still_open)


def _tell(project: Project, new: list[Alert]) -> None:
    managers = Membership.objects.filter(project=project, role=Role.MANAGER).select_related("user")
    subject = readers_words(lambda: _("%(project)s: something to look at") % {"project": project.name})
    text = readers_words(lambda: "\n".join(in_words(alert) for alert in new))
    for member in managers:
        notify(member.user, Kind.ALERT, subject, text, reverse("alerts", args=[project.slug]))


@transaction.atomic
def close(project: Project, user: User, alert_id: int, note: str) -> bool:
    """Closes an alert. False where it was closed before. Raises UserError without a word why."""
    if not note.strip():
        raise UserError(_("Nothing was closed: write in the note why."))
    lock_project(project.pk)
    closed = Alert.objects.filter(project=project, pk=alert_id, closed_at=None).update(closed_at=timezone.now())
    if closed:
        AlertClosing.objects.create(alert_id=alert_id, user=user, note=note.strip()[:500])
        _count(project)
    return bool(closed)


def in_words(alert: Alert) -> str:
    """What was found, in a sentence."""
    found = alert.found | {
        name: number(alert.found[name]) for name in ("near", "open", "gained", "out", "links", "whole", "decided")
        if name in alert.found
    } | {name: percent(alert.found[name]) for name in ("share",) if name in alert.found}  # fmt: skip
    match alert.kind:
        case AlertKind.NEAR_BOUND:
            return (
                _(
                    "%(near)s of %(open)s open suggestions lie within 0.02 of the bound of “%(tier)s”: a small move of "
                    "the scores changes their tier."
                )
                % found
            )
        case AlertKind.DONOR:
            said = ngettext(
                "%(url)s gained %(gained)s link in a week, and has %(out)s released links in all.",
                "%(url)s gained %(gained)s links in a week, and has %(out)s released links in all.",
                alert.found["gained"],
            )
            return said % found
        case AlertKind.ANCHORS:
            return _("%(links)s of the %(whole)s released links to %(url)s say “%(words)s”.") % found
        case AlertKind.HISTOGRAM:
            found["apart"] = decimal(alert.found["apart"], 2)
            return _("Runs %(before)s and %(run)s score differently: their histograms are %(apart)s apart.") % found
        case AlertKind.SHRUNK:
            return _("Run %(run)s left %(open)s of %(whole)s suggestions in the queue, decided ones left out.") % found
        case AlertKind.ACCEPTANCE:
            found["before"] = percent(alert.found["before"])
            return (
                _("%(share)s of this week’s %(decided)s decisions accept, after %(before)s in the four weeks before.")
                % found
            )
        case AlertKind.LOST:
            return _("Released links that were live and have gone: %(links)s.") % found
        case AlertKind.DEAD:
            return _("Released links that stand on the site and lead nowhere: %(links)s.") % found
        case _other:
            return _("Released links that have needed somebody for more than %(days)s days: %(links)s.") % found


def place_of(alert: Alert) -> str:
    """The page on which something can be done about it."""
    slug = alert.project.slug
    page = alert.cause.removeprefix("page:")
    match alert.kind:
        case AlertKind.NEAR_BOUND:
            return reverse("settings_tiers", args=[slug])
        case AlertKind.DONOR:
            return f"{reverse('queue', args=[slug])}?donor={page}&status=all"
        case AlertKind.ANCHORS:
            return f"{reverse('queue', args=[slug])}?acceptor={page}&status=all"
        case AlertKind.HISTOGRAM:
            return reverse("run", args=[slug, alert.found["run"]])
        case AlertKind.SHRUNK:
            return reverse("learning", args=[slug])
        case AlertKind.ACCEPTANCE:
            return reverse("team", args=[slug])
        case AlertKind.LOST:
            return f"{reverse('live_links', args=[slug])}?state=lost"
        case AlertKind.DEAD:
            return f"{reverse('live_links', args=[slug])}?state=dead"
        case _other:
            return f"{reverse('live_links', args=[slug])}?days={alert.found['days']}"
