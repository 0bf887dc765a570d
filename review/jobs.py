"""RQ's entry points. Doors, not rooms: the work is in the folders of review."""

from linker.runs import lifecycle
from review.client_report import write_report
from review.live.verify import run_verify
from review.quality.alerts import run_alerts
from review.quality.audits import run_audit
from review.quality.calibrations import run_calibration
from review.releases.create import run_release
from review.releases.drafts import run_draft
from review.releases.withdrawals import run_withdraw


def release(run_id: int) -> None:
    lifecycle.execute(run_id, run_release)


def draft(run_id: int) -> None:
    lifecycle.execute(run_id, run_draft)


def withdraw(run_id: int) -> None:
    lifecycle.execute(run_id, run_withdraw)


def verify(run_id: int) -> None:
    lifecycle.execute(run_id, run_verify)


def client_report(run_id: int) -> None:
    lifecycle.execute(run_id, write_report)


def audit(run_id: int) -> None:
    lifecycle.execute(run_id, run_audit)


def calibrate(run_id: int) -> None:
    lifecycle.execute(run_id, run_calibration)


def alerts(run_id: int) -> None:
    lifecycle.execute(run_id, run_alerts)
