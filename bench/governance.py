"""The pages and jobs of governance in a large project: releases, links on the site, audits, alerts, rules, runs.

    python bench/governance.py [--edges 5000000] [--seconds 4] [--only quality,live]

One manager asks for each page for so many seconds, in turn with an empty page of the app, the list of pages of a
project without any; a row compares the medians. Then each job runs once, and what it wrote is taken back: its row
compares the memory of the process with what it held before the job. What reads every suggestion has a second row, which
bounds the time for each, whatever their number. bench/_governance.py says what the project holds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from _common import head, load_of_ours, migrate, note, row, timed
from _governance import make_governance
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.expressions import RawSQL
from django.utils import timezone
from review_queue import EMPTY, Editor, Times, at_once, in_ms, served

from linker.matching.caps_run import run_apply_caps
from linker.matching.run_comparison import compare_with_last
from linker.matching.safety_run import run_apply_safety
from linker.matching.tiers import catch_up, retier
from linker.models import Category, Cohort, CohortBound, KeptRun, Membership, Project, Run, RunKind, SectionCap
from linker.pages.safety import barred_pairs
from linker.projects.create import create_project
from linker.projects.safety_preview import touched_by
from linker.storage import sections
from review.client_report import write_report
from review.live.verify import verify
from review.models import PublishedLink
from review.quality.alerts import run_alerts
from review.quality.audits import run_audit
from review.quality.calibrations import run_calibration

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 4
PER_SUGGESTION = 0.12  # ms: five million in ten minutes


def pages(project: Project) -> dict[str, str]:
    """What is asked for, by what it is called."""
    slug = f"/p/{project.slug}"
    calibration = project.samples.filter(kind="calibration").order_by("-pk").first()
    draft = project.drafts.order_by("-pk").first()
    category = Category.objects.filter(project=project).order_by("-pk").first()
    link = PublishedLink.objects.filter(project=project).order_by("pk").first()
    newest = project.releases.order_by("-number").values_list("number", flat=True)[0]
    older, newer = KeptRun.objects.filter(run__project=project).order_by("pk").values_list("pk", flat=True)[:2]
    return {
        "quality": f"{slug}/quality/",
        "quality, a year": f"{slug}/quality/?days=365",
        "judging": f"{slug}/quality/judge/",
        "alerts": f"{slug}/quality/alerts/",
        "calibrations": f"{slug}/quality/calibrations/",
        "calibration": f"{slug}/quality/calibrations/{calibration.pk}/",
        "releases": f"{slug}/export/",
        "release": f"{slug}/export/{newest}/links/",
        "release, held back for one reason": f"{slug}/export/{newest}/links/?reason=linked",
        "release, to be withdrawn": f"{slug}/export/{newest}/withdraw/",
        "two releases compared": f"{slug}/export/diff/?older={newest - 1}&newer={newest}",
        "all releases compared": f"{slug}/export/diff/?older=0&newer={newest}",
        "draft": f"{slug}/export/drafts/{draft.pk}/",
        "draft, what is held back": f"{slug}/export/drafts/{draft.pk}/?reason=donor_full",
        "released links": f"{slug}/export/links/",
        "released links of a release": f"{slug}/export/links/?release={newest}",
        "links on the site": f"{slug}/export/live/",
        "links on the site, lost": f"{slug}/export/live/?state=lost",
        "links on the site, closed": f"{slug}/export/live/?closed=on",
        "links on the site, of a category": f"{slug}/export/live/?category={category.pk}",
        "links on the site, with nobody": f"{slug}/export/live/?owner=0",
        "links on the site, with somebody": f"{slug}/export/live/?owner={project.memberships.first().user_id}",
        "life of a link": f"{slug}/export/live/{link.pk}/",
        "report for a client": f"{slug}/report/",
        "safety classes": f"{slug}/settings/safety/",
        "roll-out": f"{slug}/settings/rollout/",
        "kept runs": f"{slug}/runs/kept/",
        "runs compared": f"{slug}/runs/compare/?run={newer}&before={older}",
    }


@dataclass(frozen=True)
class Job:
    """`prepare` is not measured. `most`: milliseconds for each suggestion of the project."""

    name: str
    work: Callable[[Run], object]
    kind: RunKind
    params: dict[str, object]
    prepare: Callable[[Project], object] = lambda _project: None
    most: float = 0.0


def jobs(project: Project) -> list[Job]:
    pair = barred_pairs(project)[0]
    kept = Run.objects.filter(kept__isnull=False, project=project).order_by("pk").last()
    return [
        Job("an audit is drawn", run_audit, RunKind.AUDIT, {"seed": 7}),
        Job("a calibration is drawn", run_calibration, RunKind.CALIBRATE, {"bands": 10, "size": 200, "seed": 7}),
        Job("a look for alerts", run_alerts, RunKind.ALERTS, {}),
        Job("a report for a client", write_report, RunKind.CLIENT_REPORT, {}),
        Job("what a pair of classes touches", lambda _run: touched_by(pair), RunKind.SAFETY, {}),
        Job("safety classes and gates applied", run_apply_safety, RunKind.SAFETY, {}),
        Job("two runs compared", lambda _run: compare_with_last(kept), RunKind.COMPARE, {}),
        Job("released links looked for", lambda run: verify(run.project), RunKind.VERIFY, {}),
        Job("caps of a run applied", run_apply_caps, RunKind.CAPS, {}, most=PER_SUGGESTION),
        Job("caps that half of the suggestions meet", run_apply_caps, RunKind.CAPS, {}, cap, PER_SUGGESTION),
        Job("caps lifted from half of the suggestions", run_apply_caps, RunKind.CAPS, {}, uncap, PER_SUGGESTION),
        Job("tiers changed", lambda run: retier(run.project), RunKind.RETIER, {}, move_bound, PER_SUGGESTION),
        Job("a tenth caught up with bounds of their own", move_pages, RunKind.ROLES, {}, bound_apart, PER_SUGGESTION),
    ]


def cap(project: Project) -> None:
    SectionCap.objects.create(project=project, inline_in_all=4, related_in_all=1)


def uncap(project: Project) -> None:
    cap(project)
    run_apply_caps(Run.objects.create(project=project, kind=RunKind.CAPS, status="succeeded"))
    SectionCap.objects.filter(project=project).update(ended_at=timezone.now())


def move_bound(project: Project) -> None:
    """Every third suggestion below all tiers comes into one."""
    project.tiers.filter(basis=project.tier_basis, name="Reserve").update(lower_bound=0.5)


def bound_apart(project: Project) -> None:
    category = project.categories.order_by("pk").first()
    cohort = Cohort.objects.create(
        project=project, basis=project.tier_basis, category=category, looked_at=timezone.now()
    )
    for tier in project.tiers.filter(basis=project.tier_basis):
        CohortBound.objects.create(
            project=project, basis=cohort.basis, cohort=cohort, tier=tier, lower_bound=(1 + tier.lower_bound) / 2
        )


def move_pages(run: Run) -> None:
    """As an import does that moves a tenth of the donors into a category with bounds of its own."""
    category = run.project.categories.order_by("pk").first()
    sections.put_off()
    run.project.pages.filter(pk__in=RawSQL("SELECT id FROM linker_page WHERE id %% 10 = 0", [])).update(
        category=category
    )
    sections.settle(run.project)
    catch_up(run.project)


def measure(manager: Editor, path: str, seconds: float) -> tuple[Times, Times]:
    page, empty = Times([]), Times([])
    manager.ask(path)
    for _ in range(ROUNDS):
        empty.seconds.extend(at_once([manager], lambda one: one.ask(EMPTY), seconds / ROUNDS / 3).seconds)
        page.seconds.extend(at_once([manager], lambda one: one.ask(path), seconds / ROUNDS).seconds)
    return page, empty


def run_job(project: Project, job: Job, size: str) -> None:
    with load_of_ours() as before:
        pass
    with transaction.atomic():
        job.prepare(project)
        run = Run.objects.create(project=project, kind=job.kind, params=job.params)
        with load_of_ours(every=0.05) as load, timed() as watch:
            job.work(run)
        transaction.set_rollback(True)
    own, held = load.own / 2**20, before.own / 2**20
    row(job.name, size, f"{watch.seconds:.1f} s, {own:.0f} MiB", f"{held:.0f} MiB", own / held, 1.5, load.most, most=1)
    if job.most:
        each = 1000 * watch.seconds / project.edges.count()
        row(f"{job.name}, each suggestion", size, f"{each:.3f} ms", f"{job.most} ms", each / job.most, 1)
    note(f"{job.name}: PostgreSQL held {load.server / 2**20:.0f} MiB of its own")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    migrate()
    project = make_governance(options.edges, "large")
    empty = Project.objects.filter(slug="empty").first()
    empty = empty or create_project(slug="empty", name="Empty", base_url="https://bench.example")
    user = User.objects.get(username="editor-0")
    Membership.objects.get_or_create(project=empty, user=user)
    chosen = options.only.split(",") if options.only else [""]
    size = f"{options.edges:,} suggestions"
    head()
    with served() as port:
        manager = Editor(port, user)
        for name, path in pages(project).items():
            if any(name.startswith(part) for part in chosen):
                page, empty_page = measure(manager, path, options.seconds)
                ratio = page.median / empty_page.median
                row(name, size, in_ms(page.median), in_ms(empty_page.median), ratio, 10)
    for job in jobs(project):
        if any(job.name.startswith(part) for part in chosen):
            run_job(project, job, size)


if __name__ == "__main__":
    main()
