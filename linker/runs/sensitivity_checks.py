"""Whether a project was looked through for what is sensitive, what changed rules are due, and the looks that start by
themselves.

Projects from before the rules were never looked through: nothing on their pages says that it is sensitive, and nothing
says that it is not.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from linker.models import Page, Project, Run, RunKind, RunStatus, SensitiveRule, SensitiveState
from linker.models.querysets import PRESENT
from linker.models.run import ACTIVE
from linker.runs import lifecycle

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet


CHANGED_ONLY = "changed_only"  # the parameter of a run that only does what changed rules are due
THEN_ALL = "then_all"  # of such a run after which all pages are looked through: who asked for that
_OF_ALL = Q(kind=RunKind.SENSITIVE) & ~Q(params__has_key=CHANGED_ONLY)


def _looks() -> QuerySet[Run]:
    """Imports and runs that have looked through the pages of their projects. Imports from before they did so say
    nothing of sensitive pages."""
    looked = _OF_ALL | Q(kind=RunKind.IMPORT_PAGES, report__has_key="sensitive_pages")
    return Run.objects.filter(looked, status=RunStatus.SUCCEEDED)


def was_looked_through(project: Project) -> bool:
    """Whether an import or a run has looked through the pages for what is sensitive."""
    return _looks().filter(project=project).exists()


def are_marked(project: Project) -> bool:
    """Whether suggestions say what the rules say: no changed rule that counts waits for a run to apply it."""
    rules = SensitiveRule.objects.filter(project=project).exclude(state=SensitiveState.DISMISSED)
    return not rules.exclude(due="").exists()


@dataclass(frozen=True)
class RulesDue:
    """Changed rules that a run has yet to apply: how many, whether one of them counts, and the run, if it has not ended
    already without applying them."""

    rules: int
    counts: bool
    run: Run | None


def rules_due(project: Project) -> RulesDue | None:
    """None where all are applied."""
    rules = SensitiveRule.objects.filter(project=project).exclude(due="").count()
    if not rules:
        return None
    run = Run.objects.filter(project=project, kind=RunKind.SENSITIVE, status__in=ACTIVE).first()
    return RulesDue(rules, not are_marked(project), run)


def scan_all(project: Project, user: AbstractBaseUser | AnonymousUser) -> Run:
    """Starts a look through all pages, and returns it, or the one that is under way. While a run for changed rules is,
    the look comes after that, which is returned."""
    try:
        return lifecycle.start_run(project, RunKind.SENSITIVE, {}, user)
    except lifecycle.RunIsActive as error:
        active = error.run
    if CHANGED_ONLY not in active.params:
        return active
    with transaction.atomic():  # either it has ended by now, or whoever looks after its end finds what is asked for
        under_way = Run.objects.select_for_update(no_key=True).get(pk=active.pk)
        if under_way.is_active:
            under_way.params[THEN_ALL] = user.pk
            under_way.save(update_fields=["params"])
            return under_way
    return scan_all(project, user)


def start_asked() -> list[Run]:
    """Starts the looks through all pages that were asked for while a run for changed rules was under way, however that
    has ended."""
    later = Run.objects.filter(_OF_ALL, project=OuterRef("project"), pk__gt=OuterRef("pk"))
    asked = Run.objects.filter(~Exists(later), kind=RunKind.SENSITIVE, params__has_key=THEN_ALL)
    asked = asked.exclude(status__in=ACTIVE).select_related("project")
    started = []
    for run in asked.order_by("pk"):
        user = get_user_model().objects.filter(pk=run.params[THEN_ALL]).first()
        with suppress(lifecycle.RunIsActive):  # another run for changed rules: the look comes after that one
            started.append(lifecycle.start_run(run.project, RunKind.SENSITIVE, {}, user, by_itself=False))
    return started


def start_missing() -> list[Run]:
    """Starts a look through every project that has pages and was never looked through.

    Once a project: where that look failed, or somebody stopped it, the next one is a manager's to start. An import of
    pages that goes on looks through them itself.
    """
    of_project = Run.objects.filter(project=OuterRef("pk"))
    unseen = Project.objects.filter(
        Exists(Page.objects.filter(PRESENT, project=OuterRef("pk"))),
        ~Exists(of_project.filter(_OF_ALL)),
        ~Exists(of_project.filter(kind=RunKind.IMPORT_PAGES, status__in=ACTIVE)),
        ~Exists(_looks().filter(project=OuterRef("pk"))),
    )
    started = []
    for project in unseen.order_by("pk"):
        try:
            started.append(lifecycle.start_run(project, RunKind.SENSITIVE, {}))
        except lifecycle.RunIsActive:  # another machine's sweep, or a manager, was faster
            continue
    return started
