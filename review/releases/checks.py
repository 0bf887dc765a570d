"""What is about to leave, looked at once more: links of pages that are gone, over a cap, or on the site by now stay.

`gather` writes all that was approved into the temporary table `leaving`, a row a link, `hold_back` writes down why some
of them must not leave. Both work on whole sets in PostgreSQL, in the caller's transaction, so that half a million links
need little time and no memory; what only Python can decide (patterns, the words of anchors) is streamed.

    leaving (edge, source_id, target_id, decided, placement, score, operation, for_edge, reason, detail)

`decided`: a person did; `operation` as in the release; `for_edge`: see review.releases.pairs; `reason`: a value of
Held, empty where the link leaves; `detail`: what was found, in one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from linker.matching.eligibility import IneligibleReason, ineligible_pages
from linker.matching.words_gone import words_gone_sql
from linker.models import CandidateEdge
from linker.models.linked import linked_sql
from linker.models.querysets import (
    ACCEPTED,
    DECIDED,
    LIVE_STATUS,
    MISSING,
    OPEN,
    PRESENT,
    REFUSED,
    REOPENED,
    TO_REVIEW,
    sql,
)
from linker.pages.sensitive_marks import mark_sensitive
from linker.runs import sensitivity_checks
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import batches
from review.models import Held, Operation
from review.releases import held_sayings, pairs, places
from review.releases.barred import hold_barred
from review.releases.over_limits import hold_over_limits
from review.releases.pages_back import hold_for_pages_back
from review.releases.rollout import hold_for_rollout
from review.releases.ruled_out import hold_ruled_out
from review.releases.second import hold_for_second

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.backends.postgresql.operations import DatabaseOperations
    from django.db.models import QuerySet

    from linker.models import Project

AT_A_TIME = 5000  # rows that are written

# What a release exports, as far as nothing below holds it back: what was accepted, and what a tier lets go unreviewed.
# A link that came back from the site is there because the site took it off: only a person may send it again.
READY = ACCEPTED | TO_REVIEW & ~REOPENED & Q(tier__export_unreviewed=True)
# It came back to the queue and was rejected there.
REJECTED_AND_OUT = REFUSED & REOPENED


def ready_in(project: Project) -> Q:
    """The same rule, about edges of this project: with its tiers by their ids, an index finds what it asks for."""
    tiers = list(project.tiers.filter(export_unreviewed=True, held=False).values_list("pk", flat=True))
    return ACCEPTED | OPEN & ~REOPENED & Q(tier__in=tiers) if tiers else ACCEPTED


# What an editor can do about it.
ADVICE = {
    Held.GONE: _("If the page is back, import a new crawl. If not, undo the decision and reject the link."),
    Held.REDIRECTED: _("Undo the decision, reject the link and match again, for links to the new address."),
    Held.NOT_INDEXABLE: _(
        "If the page is meant to be found, make it indexable and import a new crawl. If not, undo the "
        "decision and reject the link."
    ),
    Held.EXCLUDED: _("Undo the decision and reject the link, or change the project’s exclusions."),
    Held.BARRED: _("Undo the decision and reject the link, or have a manager change the safety classes."),
    Held.SUPPRESSED: _(
        "Undo the decision and reject the link, or choose other words; or allow it again in the list of what is "
        "suppressed."
    ),
    Held.SECOND: _("Have a manager or an expert approve it, in the queue under “Waits for a second person”."),
    Held.SENSITIVE: _("Decide on it in the queue: a sensitive link is never exported until a person accepts it."),
    Held.NOT_LOOKED: _(
        "Wait for the scan of all pages, which starts by itself. If it failed or was cancelled, a "
        "manager starts it in the settings, under “Sensitive pages”. Or decide on the link in the queue."
    ),
    Held.ROLLOUT: _("Nothing needs to be done: it leaves when a manager rolls its section out, in the settings."),
    Held.LINKED: _(
        "Nothing needs to be done. To take it off this list, undo the decision and reject the link as “already linked”."
    ),
    Held.WORDS_GONE: _("Undo the decision and choose other words, or reject the link."),
    Held.SAME_ANCHOR: _("Undo the decision and choose another anchor."),
    Held.DONOR_FULL: _("Reject or withdraw another link of the donor to make room, or leave it for a later release."),
    Held.ACCEPTOR_FULL: _("Reject or withdraw another link to the acceptor to make room, or wait for a later release."),
    Held.PAIR: _(
        "See why the other link of the pair stays, and settle that. A file of three columns holds neither: export a "
        "full one."
    ),
    Held.PAGE_BACK: _(
        "Cancel the change, under “Released links”, and the link stays. If it is to go all the same, withdraw it there "
        "once more."
    ),
    Held.CHANGED: _("Nothing needs to be done: if the link is still approved then, the next draft has it as it is."),
}

# The same for undecided links that their tier would export, if it differs.
UNDECIDED_ADVICE = {
    Held.GONE: _("Nothing needs to be done. If the page is back, import a new crawl."),
    Held.REDIRECTED: _("Match again, for links to the new address."),
    Held.NOT_INDEXABLE: _(
        "Nothing needs to be done. If the page is meant to be found, make it indexable and import a new crawl."
    ),
    Held.EXCLUDED: _("Nothing needs to be done, unless the project’s exclusions are to change."),
    Held.SECOND: _("Accept it in the queue. Then have a manager or an expert approve it."),
    Held.BARRED: _("Nothing needs to be done, unless the safety classes are to change."),
    Held.LINKED: _("Nothing needs to be done."),
    Held.WORDS_GONE: _("Accept it in the queue with other words, or match again."),
    Held.PAIR: _("Accept it in the queue, or reject it there: nobody replaces a released link unreviewed."),
    Held.SAME_ANCHOR: _("Accept it in the queue with another anchor, or leave it."),
}

# The same for links that have left before: of what was accepted then, nothing can be undone.
CHANGE_ADVICE = {
    Held.GONE: _(
        "If the page is back, import a new crawl. If not, take back the change or withdraw the link, under “Released "
        "links”. One that is withdrawn already stays so."
    ),
    Held.REDIRECTED: _("Take back the change or withdraw the link, under “Released links”."),
    Held.NOT_INDEXABLE: _(
        "If the page is meant to be found, make it indexable and import a new crawl. If not, take back "
        "the change or withdraw the link, under “Released links”."
    ),
    Held.EXCLUDED: _(
        "Take back the change or withdraw the link, under “Released links”, or change the project’s exclusions."
    ),
    Held.BARRED: _("Withdraw the link, under “Released links”, or have a manager change the safety classes."),
}


def sql_of(queryset: QuerySet[CandidateEdge, Any]) -> str:
    """The query with its values in it; one that can hold nothing is SQL as well."""
    operations = cast("DatabaseOperations", connection.ops)
    try:
        return operations.compose_sql(*queryset.query.sql_with_params())
    except EmptyResultSet:
        nothing = CandidateEdge.objects.values(*queryset.query.values_select).extra(where=["false"])
        return operations.compose_sql(*nothing.query.sql_with_params())


def gather(project: Project, edges: QuerySet[CandidateEdge], operations: Iterable[str], *, lock: bool) -> None:
    """Fills `leaving` with those of the project's `edges` that were approved or, where a tier allows it, need not be,
    and with the changes and removals that were asked for, as far as they are among `operations`. A link that is out and
    that an editor has rejected since leaves as a removal, and so does one that an accepted link replaces.

    With `lock` the edges are locked in the order of their ids, as every writer of many edges does, and the status is
    tested by the statement that locks: what another transaction has just decided is checked again.
    """
    wanted = ", ".join(f"'{operation}'" for operation in operations)
    scope = edges.order_by()
    approved = sql_of(scope.filter(ready_in(project)).values("id", "status"))
    pending = sql_of(scope.filter(pending__isnull=False).values("id", "status", "pending__operation"))
    rejected = sql_of(scope.filter(REJECTED_AND_OUT).values("id", "status"))
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS ready")
        cursor.execute(
            "CREATE TEMP TABLE ready (id bigint PRIMARY KEY, status text, operation text, for_edge bigint) "
            "ON COMMIT DROP"
        )
        # Without parameters: a text that is searched for may hold a percent sign.
        cursor.execute(
            "INSERT INTO ready (id, status, operation) "
            f"SELECT * FROM (SELECT *, 'add' FROM ({approved}) ready UNION ALL {pending} "
            f"UNION ALL SELECT *, 'remove' FROM ({rejected}) refused) "
            f"approved (id, status, operation) WHERE operation IN ({wanted})"
        )
    if Operation.REMOVE in operations:
        pairs.add_removals(project)
    analyze("ready")
    make_leaving()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO leaving (edge, source_id, target_id, decided, placement, score, operation, for_edge) "
            f"SELECT e.id, e.source_id, e.target_id, {sql(DECIDED, 'e')}, e.placement, e.score, r.operation, "
            "r.for_edge "
            "FROM linker_candidateedge e JOIN ready r ON r.id = e.id AND r.status = e.status "
            + ("ORDER BY e.id FOR NO KEY UPDATE OF e" if lock else "")
        )
    analyze("leaving")


def make_leaving() -> None:
    """The empty table, in place of any from before."""
    _execute("DROP TABLE IF EXISTS leaving")
    _execute(
        "CREATE TEMP TABLE leaving (edge bigint PRIMARY KEY, source_id bigint, target_id bigint, decided boolean, "
        "placement text, score float8, operation text, for_edge bigint, reason text DEFAULT '', "
        "detail text DEFAULT '') ON COMMIT DROP"
    )


def hold_back(project: Project, *, read_sensitive: bool) -> None:
    """Writes the reason, the most final one, on every link of `leaving` that must not leave.

    What changes on the site is asked whether its pages still stand; what comes in addition, everything; a removal only
    whether the page is back because of which it was asked for. `read_sensitive` reads again which links are sensitive,
    and where those stand whose text has changed, and so writes on the edges.
    """
    hold_for_pages(project)
    hold_ruled_out(project)
    hold_for_rollout(project)
    hold_for_second(project)
    _hold_sensitive(project, read_anew=read_sensitive)
    for statement in (_LINKED, _WORDS_GONE):
        _execute(statement)
    if read_sensitive:
        places.find_again()
    hold_for_pages_back(project)
    pairs.hold_for_gates(project)
    pairs.hold_alone()
    pairs.hold_broken()  # what stays makes no room
    hold_over_limits(project)
    pairs.hold_broken()


def begin_again(operations: Iterable[str]) -> None:
    """Forgets the reasons, and those links of `leaving` whose operation is not among `operations`."""
    _execute("DELETE FROM leaving WHERE operation <> ALL(%(wanted)s)", {"wanted": [str(one) for one in operations]})
    _execute("UPDATE leaving SET reason = '', detail = '' WHERE reason <> ''")


def counts() -> dict[tuple[str, str], int]:
    """Links in `leaving` by operation and reason."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT operation, reason, count(*) FROM leaving GROUP BY 1, 2")
        return {(operation, reason): links for operation, reason, links in cursor.fetchall()}


def _execute(statement: str, params: dict[str, Any] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


# ---------------------------------------------------------------------------------------------------------- pages

_OF_INELIGIBLE_PAGES = f"""
UPDATE leaving SET reason = found.reason, detail = found.detail FROM (
    SELECT b.page, b.side, b.why, CASE
        WHEN b.why IN ('{IneligibleReason.EXCLUDED}', '{IneligibleReason.ROLE}') THEN 'excluded'
        WHEN b.why = '{IneligibleReason.SUPPRESSED}' THEN 'suppressed'
        WHEN b.why = '{IneligibleReason.NOT_INDEXABLE}' THEN 'not_indexable'
        WHEN {sql(PRESENT, "p")} AND p.status NOT IN ('merged', 'removed')
            AND (p.redirect_url <> '' OR p.status = 'redirected' OR p.status_code BETWEEN 300 AND 399) THEN 'redirected'
        ELSE 'gone' END AS reason,
        CASE
        WHEN b.why = '{IneligibleReason.EXCLUDED}'
            THEN {held_sayings.EXCLUDED.said_in_sql(side="b.side", rule="b.pattern")}
        WHEN b.why = '{IneligibleReason.SUPPRESSED}' THEN {held_sayings.TAKES_NO_MORE.said_in_sql(side="b.side")}
        WHEN b.why = '{IneligibleReason.ROLE}' AND b.side = 'donor'
            THEN {held_sayings.GIVES_NONE.said_in_sql(role="b.pattern")}
        WHEN b.why = '{IneligibleReason.ROLE}' THEN {held_sayings.RECEIVES_NONE.said_in_sql(role="b.pattern")}
        WHEN b.why = '{IneligibleReason.NOT_INDEXABLE}' AND p.canonical_link NOT IN ('', p.url, p.canonical_url)
            THEN {held_sayings.OTHER_CANONICAL.said_in_sql(side="b.side", url="p.canonical_link")}
        WHEN b.why = '{IneligibleReason.NOT_INDEXABLE}' AND p.indexability_status <> ''
            THEN {held_sayings.NOT_INDEXABLE_AS.said_in_sql(side="b.side", status="p.indexability_status")}
        WHEN b.why = '{IneligibleReason.NOT_INDEXABLE}' THEN {held_sayings.NOT_INDEXABLE.said_in_sql(side="b.side")}
        WHEN {sql(MISSING, "p")} THEN {held_sayings.MISSING.said_in_sql(side="b.side")}
        WHEN NOT ({sql(LIVE_STATUS, "p")}) THEN {held_sayings.NOT_LIVE.said_in_sql(side="b.side", status="p.status")}
        WHEN p.redirect_url <> '' THEN {held_sayings.REDIRECTS.said_in_sql(side="b.side", url="p.redirect_url")}
        ELSE {held_sayings.ANSWERED.said_in_sql(side="b.side", code="p.status_code")} END AS detail
    FROM ineligible b JOIN linker_page p ON p.id = b.page
) found
WHERE found.side = %(side)s AND leaving.reason = '' AND leaving.operation <> 'remove'
    -- A person who accepted the link knew the page, and one who said that it takes no more knew of the link.
    AND NOT (found.why IN ('{IneligibleReason.ROLE}', '{IneligibleReason.SUPPRESSED}') AND leaving.decided)
    AND CASE %(side)s WHEN 'donor' THEN leaving.source_id ELSE leaving.target_id END = found.page
"""


def hold_for_pages(project: Project) -> None:
    """Links of pages that a match run would leave out for what they are, by the rules of match runs, and of pages that
    safety classes keep apart."""
    _execute("DROP TABLE IF EXISTS ineligible")
    _execute("CREATE TEMP TABLE ineligible (page bigint, side text, why text, pattern text) ON COMMIT DROP")
    touched = "SELECT unnest(ARRAY[source_id, target_id]) FROM leaving WHERE operation <> 'remove'"
    for rows in batches(ineligible_pages(project, touched), AT_A_TIME):
        copy_rows_in("ineligible", ["page", "side", "why", "pattern"], rows)
    analyze("ineligible")
    for side in ("acceptor", "donor"):
        _execute(_OF_INELIGIBLE_PAGES, {"side": side})
    hold_barred(project)


# ------------------------------------------------------------------------------------------------------ sensitive


def _hold_sensitive(project: Project, *, read_anew: bool) -> None:
    """Suggestions that only their tier lets leave and that are sensitive, since a page may have moved since they were
    marked; and all the others where nobody has looked what is."""
    unseen = CandidateEdge.objects.extra(where=["id IN (SELECT edge FROM leaving WHERE NOT decided)"])
    if read_anew and unseen.exists():
        mark_sensitive(project, unseen)
    _execute(
        "UPDATE leaving SET reason = 'sensitive', detail = e.sensitive FROM linker_candidateedge e "
        "WHERE e.id = leaving.edge AND NOT leaving.decided AND leaving.reason = '' AND e.sensitive <> ''"
    )
    if not sensitivity_checks.was_looked_through(project):
        _execute(
            "UPDATE leaving SET reason = 'not_looked', detail = "
            f"{held_sayings.NOT_LOOKED.said_in_sql()} WHERE NOT decided AND operation = 'add' AND reason = ''"
        )
    elif not sensitivity_checks.are_marked(project):
        _execute(
            "UPDATE leaving SET reason = 'not_looked', detail = "
            f"{held_sayings.RULES_DUE.said_in_sql()} WHERE NOT decided AND operation = 'add' AND reason = ''"
        )


# ------------------------------------------------------------------------------------------------ the donor's page

# The link stands already where the new one would.
_LINKED = f"""
UPDATE leaving SET reason = 'linked', detail = {held_sayings.LINKED.said_in_sql()}
WHERE operation = 'add' AND reason = '' AND {linked_sql("leaving")}
"""
_WORDS_GONE = f"""
UPDATE leaving SET reason = 'words_gone', detail = {held_sayings.WORDS_GONE.said_in_sql(anchor="e.anchor")}
FROM linker_candidateedge e JOIN linker_page donor ON donor.id = e.source_id
WHERE e.id = leaving.edge AND leaving.operation = 'add' AND leaving.reason = ''
    AND {words_gone_sql("e", "donor")}
"""
