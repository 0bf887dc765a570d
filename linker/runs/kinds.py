"""The kinds of run there are: which job does the work of each, and what puts its report into words.

Both are named by their paths, since some belong to apps that this one does not know. To add a kind, see
CONTRIBUTING.md: its line goes into RUN_KINDS.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.module_loading import import_string

from linker.models import RunKind
from linker.models.run import IMPORT_PREFIX

HOUR = 3600


@dataclass(frozen=True)
class JobType:
    """`path` is imported by the worker; `timeout` is in seconds."""

    path: str
    timeout: int
    queue: str = "default"


@dataclass(frozen=True)
class RunType:
    """`report` is the path of a linker.runs.reports.ReportKind. A kind without a `job` is done within a request."""

    report: str
    job: JobType | None = None


# But for the imports, of which ingest.kinds.registry knows the kinds.
RUN_KINDS: dict[str, RunType] = {
    RunKind.EMBED: RunType("linker.reports.embed.EMBED", JobType("linker.jobs.embed", 24 * HOUR)),
    RunKind.MATCH: RunType("linker.reports.match.MATCH", JobType("linker.jobs.match", 6 * HOUR)),
    RunKind.RETIER: RunType("linker.reports.retier.RETIER", JobType("linker.jobs.retier", 6 * HOUR)),
    RunKind.SENSITIVE: RunType("linker.reports.sensitive.SENSITIVE", JobType("linker.jobs.find_sensitive", HOUR)),
    RunKind.ROLES: RunType("linker.reports.roles.ROLES", JobType("linker.jobs.find_roles", HOUR)),
    RunKind.RELEASE: RunType("review.releases.report.RELEASE", JobType("review.jobs.release", 6 * HOUR)),
    RunKind.DRAFT: RunType("review.releases.report.DRAFT", JobType("review.jobs.draft", 6 * HOUR)),
    RunKind.WITHDRAW: RunType("review.releases.report.WITHDRAW", JobType("review.jobs.withdraw", 6 * HOUR)),
    RunKind.VERIFY: RunType("review.live.report.VERIFY", JobType("review.jobs.verify", 6 * HOUR)),
    RunKind.CLIENT_REPORT: RunType("review.client_report.CLIENT_REPORT", JobType("review.jobs.client_report", HOUR)),
    RunKind.COMPARE: RunType("linker.reports.compare.COMPARE", JobType("linker.jobs.compare", HOUR)),
    RunKind.STAND: RunType("linker.reports.stand.STAND", JobType("linker.jobs.stand", 6 * HOUR)),
    RunKind.AUDIT: RunType("review.quality.report.AUDIT", JobType("review.jobs.audit", HOUR)),
    RunKind.SAFETY: RunType("linker.reports.safety.SAFETY", JobType("linker.jobs.apply_safety", HOUR)),
    RunKind.CALIBRATE: RunType("review.quality.report.CALIBRATION", JobType("review.jobs.calibrate", HOUR)),
    RunKind.ALERTS: RunType("review.quality.report.ALERTS", JobType("review.jobs.alerts", HOUR)),
    RunKind.CAPS: RunType("linker.reports.caps.CAPS", JobType("linker.jobs.apply_caps", 6 * HOUR)),
    RunKind.FETCH: RunType("ingest.fetching.report.FETCH", JobType("ingest.jobs.fetch", 48 * HOUR)),
    RunKind.CHANGES: RunType("linker.reports.changes.CHANGES", JobType("linker.jobs.match_changes", 6 * HOUR)),
    RunKind.RECHECK: RunType("linker.reports.recheck.RECHECK", JobType("linker.jobs.recheck", HOUR)),
    RunKind.RESTORE_PAGES: RunType("ingest.fetching.restore.RESTORE", JobType("ingest.jobs.restore_pages", HOUR)),
    RunKind.FOLLOW_UP: RunType("linker.reports.follow_up.FOLLOW_UP", JobType("linker.jobs.follow_up", 6 * HOUR)),
    RunKind.LINKS: RunType("ingest.kinds.links.reread.LINKS_READ", JobType("ingest.jobs.read_links", HOUR)),
    RunKind.VECTORS: RunType("linker.reports.vectors.VECTORS", JobType("linker.jobs.drop_vectors", HOUR)),
}
NEXT_STEP = "ingest.fetching.steps.go_on"
SHARE_AGAIN = "linker.projects.policies.share_again.after_match"
SCHEDULE_ENDED = "ingest.schedules.outcomes.note_end"
# What is called with a run of the kind when it has succeeded, to start what follows from it. Where a follow-up of its
# result is still to be done, it is called as that ends.
FOLLOWED_BY: dict[str, tuple[str, ...]] = {
    RunKind.FETCH: (NEXT_STEP, SCHEDULE_ENDED),
    RunKind.IMPORT_PAGES: (
        "review.live.start.start_if_due",
        "linker.matching.safety_run.start_if_due",
        "linker.matching.caps_run.start_if_due",
        NEXT_STEP,
        SCHEDULE_ENDED,
    ),
    RunKind.IMPORT_EVENTS: (
        "review.live.start.start_if_due",
        "linker.matching.safety_run.start_if_due",
        "linker.matching.caps_run.start_if_due",
    ),
    RunKind.RESTORE_PAGES: (
        "review.live.start.start_if_due",
        "linker.matching.safety_run.start_if_due",
        "linker.matching.caps_run.start_if_due",
    ),
    RunKind.IMPORT_TRAFFIC: ("linker.matching.safety_run.start_if_due",),
    RunKind.SAFETY: ("linker.matching.safety_run.start_if_due",),
    RunKind.IMPORT_LINKS: (
        "review.live.start.start_if_due",
        "linker.matching.caps_run.start_if_due",
        NEXT_STEP,
        SCHEDULE_ENDED,
    ),
    RunKind.LINKS: ("review.live.start.start_if_due", "linker.matching.caps_run.start_if_due"),
    RunKind.EMBED: (NEXT_STEP, SCHEDULE_ENDED),
    RunKind.ROLES: ("linker.matching.follow_up.after_roles",),
    RunKind.MATCH: (SHARE_AGAIN, SCHEDULE_ENDED),
    RunKind.VERIFY: ("review.live.start.start_if_due",),
    RunKind.CAPS: ("linker.matching.caps_run.start_if_due",),
    RunKind.CHANGES: (SHARE_AGAIN, "linker.matching.changes_run.start_whole_if_due", SCHEDULE_ENDED),
}
# What is called with a run of any kind when it has failed.
WHEN_FAILED = (SCHEDULE_ENDED,)
# Of these, what follows is called then, too: what was imported or changed while one worked, another one looks at.
LOOKED_AT_BY_ANOTHER = (RunKind.VERIFY, RunKind.CAPS, RunKind.SAFETY)
# What is called every few seconds, to start runs that are due: each gives the runs that it started.
STARTED_WHEN_DUE = (
    "linker.runs.sensitivity_checks.start_missing",
    "linker.runs.sensitivity_checks.start_asked",
    "review.quality.start.start_due",
    "ingest.fetching.steps.start_due",
    "ingest.schedules.due.start_due",
    "linker.matching.recheck.start_due",
)
# How a run that failed is tried again, where that is more than to start one with the same parameters: each is called
# with the run and the user, and gives the new run.
AGAIN: dict[str, str] = {
    RunKind.FETCH: "ingest.fetching.run.fetch_again",
    RunKind.STAND: "linker.matching.standing.stand_again",
}
# Runs whose parameters hold a change that somebody wanted then: it is not made again over what a later run of these
# kinds has made.
OVERTAKEN_BY: dict[str, tuple[str, ...]] = {
    RunKind.RETIER: (RunKind.RETIER,),
    RunKind.STAND: (RunKind.STAND, RunKind.MATCH),
    RunKind.VECTORS: (RunKind.VECTORS, RunKind.EMBED),
}
IMPORT_AGAIN = "ingest.services.import_again"
# What waits in a project without being a run: each is called with the project, and gives linker.runs.under_way.Waiting.
WAITING = ("ingest.schedules.waiting.waiting", "review.second_person.waiting")
IMPORT = JobType("ingest.jobs.run_import", 6 * HOUR)
IMPORT_KINDS = "ingest.kinds.registry.run_kinds"  # called without arguments
# Steps of a match run by cosine, and work that no run keeps an account of.
OTHER_JOBS = {
    "match_batch": JobType("linker.jobs.match_batch", HOUR, queue="match"),
    "match_finish": JobType("linker.jobs.match_finish", 6 * HOUR),
    "send_mails": JobType("linker.jobs.send_mails", HOUR),
    "start_schedule": JobType("ingest.jobs.start_schedule", HOUR),
    "clean_uploads": JobType("ingest.jobs.clean_uploads", HOUR),
}


def run_kinds() -> list[str]:
    """Every kind of run, in the order in which pages list them: imports come first."""
    return [*import_string(IMPORT_KINDS)(), *RUN_KINDS]


def all_jobs() -> list[JobType]:
    """Whatever a worker may be asked to do."""
    return [IMPORT, *(kind.job for kind in RUN_KINDS.values() if kind.job is not None), *OTHER_JOBS.values()]


def job_type(name: str) -> JobType:
    """How a job is done: that of a kind of run, by the kind, or another one by its name. Imports of all kinds are done
    alike. Raises KeyError where there is no such job."""
    if name.startswith(IMPORT_PREFIX):
        return IMPORT
    kind = RUN_KINDS.get(name)
    return OTHER_JOBS[name] if kind is None or kind.job is None else kind.job
