"""A crawl on its way: what is asked for next, what ends it, and what is said of it. It knows nothing of Scrapy."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict, deque
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.sources.connectors.crawler.answers import Answers
from ingest.sources.connectors.crawler.frontier import Frontier, Waiting
from ingest.sources.connectors.crawler.pace import Pace
from ingest.sources.connectors.crawler.rendering import Renderer
from ingest.sources.connectors.crawler.robots import Robots, origin
from ingest.sources.connectors.crawler.scope import Scope, form_of, forms_above
from ingest.sources.outgoing import OutgoingRefused
from ingest.sources.store import CALENDAR

if TYPE_CHECKING:
    from ingest.sources.connectors.crawler.answers import Answer
    from ingest.sources.connectors.crawler.plan import Plan
    from ingest.sources.store import FetchStore

BATCH = 200  # addresses in memory
ATTEMPTS = 3
ATTEMPTS_LIMITED = 6  # where the site says that it was asked too often, which says nothing of the page
LONGEST_PAUSE = 600.0  # seconds that a site may ask us to wait
DOUBLED = 4  # times that the pause after a refusal is doubled
LAST, MOST_ERRORS = 100, 80  # of the last answers, as many errors end the crawl
FEW_ERRORS, ERROR_SHARE = 3, 0.1  # from which the crawl does not count as whole
MOST_SITEMAPS = 50  # of which it is noted that they could not be read
REFUSALS = frozenset({401, 403, 407, 429, 451, 503})


class Crawl:
    """One crawl. `take` gives addresses, `answered` and `failed` bring back what came of them."""

    def __init__(self, plan: Plan, store: FetchStore) -> None:
        self.plan, self.store, self.options = plan, store, plan.choices
        self.rules, self.robots = plan.rules, Robots()
        self.scope = Scope(plan.site, self.options)
        # Reads in a browser what needs one; started by who runs the crawl.
        self.renderer = Renderer(self.rules, plan.user_agent, self.robots) if self.options.browser else None
        self.frontier = Frontier(store, self.scope)
        previous = Path(plan.previous) if plan.previous else None
        self.answers = Answers(store, self.frontier, self.scope, previous, follows=plan.follows, adds=plan.adds)
        self.bytes = int(store.connection.execute("SELECT coalesce(sum(bytes), 0) FROM page").fetchone()[0])
        self.asked = int(store.connection.execute("SELECT count(*) FROM page WHERE attempts > 0").fetchone()[0])
        self.files_asked = int(store.noted("files_asked", 0))  # robots.txt and sitemaps
        self.seconds_before = float(store.noted("seconds", 0.0))
        self.began = time.monotonic()
        self.stopped_by = ""
        self.unread_sitemap = ""  # why a part of a sitemap that is the source itself could not be read
        self.offsite = 0  # addresses of sitemaps that are another site's
        self.is_open = False  # whether robots.txt has been read
        self.in_flight: dict[int, Waiting] = {}
        self.held: dict[int, tuple[float, Waiting]] = {}  # asked for again later, from when on
        self._batch: deque[Waiting] = deque()
        self._asks_known = plan.follows  # pages that were there before and that nothing leads to any more
        self.pace = Pace(1 / self.options.pages_a_second)
        self._slowed_for: set[int] = set()  # on their way when the crawl was slowed down
        self._pause_until = 0.0
        self._refused_in_a_row = 0
        self._last: deque[bool] = deque(maxlen=LAST)
        self._told_at = 0.0

    # ------------------------------------------------------------------------------------------------- what is next

    def take(self) -> Waiting | None:
        """The next address to ask for; None where there is none now."""
        if not self.is_open or self.stopped_by or time.monotonic() < self._pause_until:
            return None
        while (row := self._next()) is not None:
            if self._reached_limit():
                self._batch.appendleft(row)
                return None
            if origin(row.url) in self.robots.parsed and not self.robots.allows(row.url):
                self.frontier.bar(row.id)
                continue
            try:
                self.rules.check_url(row.url)
            except OutgoingRefused as refused:
                self.answers.give_up(row, str(refused), None)
                continue
            self.in_flight[row.id] = row
            return row
        return None

    def put_back(self, row: Waiting) -> None:
        """An address that cannot be asked for yet."""
        self.in_flight.pop(row.id, None)
        self._batch.append(row)

    def _next(self) -> Waiting | None:
        now = time.monotonic()
        for number, (at, row) in self.held.items():
            if at <= now:
                del self.held[number]
                return row
        self._fill()
        return self._batch.popleft() if self._batch else None

    def _fill(self) -> None:
        """The next addresses into memory. Pages that were there before come when nothing else is left."""
        if self._batch:
            return
        self._batch.extend(self.frontier.batch(BATCH, {*self.in_flight, *self.held}))
        if not self._batch and not self.in_flight and not self.held and self._asks_known:
            self._asks_known = False
            if self.frontier.add_known():
                self._batch.extend(self.frontier.batch(BATCH, ()))

    @property
    def has_more(self) -> bool:
        if self.stopped_by:
            return False
        if not self.is_open or self._batch or self.held:
            return True
        self._fill()
        return bool(self._batch)

    def _reached_limit(self) -> bool:
        chosen = self.options
        if self.asked + len(self.in_flight) >= chosen.max_pages:
            self.stop(f"It ended at the limit of {chosen.max_pages:,} pages.")
        elif self.bytes >= chosen.max_megabytes * 2**20:
            self.stop(f"It ended at the limit of {chosen.max_megabytes:,} MB.")
        elif self.seconds >= chosen.max_minutes * 60:
            self.stop(f"It ended at the limit of {chosen.max_minutes:,} minutes.")
        return bool(self.stopped_by)

    def stop(self, why: str) -> None:
        """Ends the crawl, with a sentence that says why."""
        self.stopped_by = self.stopped_by or why

    # ------------------------------------------------------------------------------------------------ what came of it

    def answered(self, row: Waiting, answer: Answer, retry_after: str = "") -> None:
        self.in_flight.pop(row.id, None)
        was_on_its_way = row.id in self._slowed_for
        self._slowed_for.discard(row.id)
        self.bytes += len(answer.body)
        if answer.status == 429 or answer.status >= 500 or answer.is_challenge:
            fault = "a bot check" if answer.is_challenge else f"error {answer.status}"
            if answer.status in (429, 503):
                self._slow_down(row, was_on_its_way=was_on_its_way)
                self._pause(retry_after)
            self._try_again(row, fault, answer.status, delay=self.plan.pause * 2**row.attempts)
            return
        self._refused_in_a_row = 0
        self.pace.answered()
        self._note_outcome(is_error=answer.status in REFUSALS)
        self.answers.take(row, answer)
        self.asked += row.attempts == 0

    def failed(self, row: Waiting, fault: str, *, for_good: bool = False) -> None:
        """An address that brought no answer; `for_good` where asking again would not help."""
        self.in_flight.pop(row.id, None)
        self._slowed_for.discard(row.id)
        self._try_again(row, fault, None, delay=self.plan.pause * 2**row.attempts, is_last=for_good)

    def _try_again(self, row: Waiting, fault: str, status: int | None, *, delay: float, is_last: bool = False) -> None:
        self.asked += row.attempts == 0
        most = ATTEMPTS_LIMITED if status == 429 else ATTEMPTS
        if is_last or row.attempts + 1 >= most:
            self.answers.give_up(row, fault, status)
            self._note_outcome(is_error=True)
            return
        self.frontier.try_later(row, fault)
        self.held[row.id] = (time.monotonic() + delay, row)
        self._note_outcome(is_error=True)

    def _slow_down(self, row: Waiting, *, was_on_its_way: bool) -> None:
        """Once for all the answers that were on their way; not for a page that alone is refused again."""
        if was_on_its_way or (row.attempts and not self._refused_in_a_row):
            return
        self.pace.refused()
        self._slowed_for = set(self.in_flight)

    def _pause(self, retry_after: str) -> None:
        """Asks for nothing for as long as the site says, or for longer each time where it does not."""
        seconds = _seconds_of(retry_after)
        if seconds is None:
            seconds = self.plan.pause * 2 ** min(self._refused_in_a_row, DOUBLED)
        if time.monotonic() >= self._pause_until:  # the answers that were on their way count once
            self._refused_in_a_row += 1
        if seconds > LONGEST_PAUSE:
            minutes = round(seconds / 60)
            self.stop(f"The site asks to come back in {minutes:,} minutes. Fetch it again then, or more slowly.")
        self._pause_until = max(self._pause_until, time.monotonic() + min(seconds, LONGEST_PAUSE))

    def _note_outcome(self, *, is_error: bool) -> None:
        self._last.append(is_error)
        if len(self._last) == LAST and sum(self._last) >= MOST_ERRORS:
            self.stop(
                f"{sum(self._last)} of the last {LAST} requests ended in errors (addresses with "
                f"{self._common_faults()}): the site refuses the crawler, is overloaded or does not answer. Ask for it "
                "to be let in, or fetch more slowly."
            )

    def note_unread_sitemap(self, which: str) -> None:
        """An address of a sitemap, with why it could not be read."""
        with self.store.transaction():
            known = self.store.noted("unread_sitemaps", [])
            self.store.note("unread_sitemaps", known if which in known else [*known, which][:MOST_SITEMAPS])

    # ----------------------------------------------------------------------------------------------------- the end

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.began

    def close(self) -> None:
        """Notes how the crawl ended. It is whole where nothing is left to ask for and few addresses failed."""
        self._mark_calendars()
        counts = self._counts()
        self.stopped_by = self.stopped_by or self.unread_sitemap
        if not self.stopped_by and not self._read_any() and not (self.options.texts_only and counts["answered"]):
            self.stop(self._why_nothing())
        errors = counts["failed"] + counts["refused"]
        if not self.stopped_by and errors > FEW_ERRORS and errors > ERROR_SHARE * max(1, self.asked):
            self.stop(
                f"{errors:,} of {self.asked:,} addresses answered with errors ({self._common_faults()}): the site "
                "refuses the crawler or is overloaded. Ask for it to be let in, or fetch more slowly."
            )
        with self.store.transaction():
            self.store.note("counts", counts)
            self.store.note("endless", [*self.store.noted("endless", []), *self.scope.examples.values()][:5])
            self.store.note("stopped_by", self.stopped_by)
            self.store.note("crawl_is_whole", not self.stopped_by and not self.options.texts_only)
            self._note_effort()

    def _read_any(self) -> bool:
        """Whether any page was read now: those that are kept from the last fetch have a fault."""
        read = "SELECT 1 FROM page WHERE state = 'done' AND html IS NOT NULL AND fault = '' LIMIT 1"
        return self.store.connection.execute(read).fetchone() is not None

    def _mark_calendars(self) -> None:
        """Marks the pages whose addresses have the form of months that were left out as endless: a calendar leads to
        these, and is as little worth a link in the months that were fetched. An archive's pages have the same form,
        and lead to nothing new where a sitemap was read before; but each names pages that the others do not."""
        forms = {form.rstrip("/") for form in self._calendars()}
        if not forms:
            return
        rows = self.store.connection
        months: defaultdict[str, list[int]] = defaultdict(list)
        all_below: defaultdict[str, set[int]] = defaultdict(set)
        for number, url, is_read in rows.execute("SELECT id, url, state = 'done' AND html IS NOT NULL FROM page"):
            for form in forms_above(url, forms):
                all_below[form].add(number)
                if is_read and form_of(url).rstrip("/") == form:
                    months[form].append(number)
        found = [
            (number,)
            for form, pages in months.items()
            if not self._name_pages(pages, all_below[form])
            for number in pages
        ]
        with self.store.transaction():
            rows.executemany(f"UPDATE page SET robots = trim(robots || ' {CALENDAR}') WHERE id = ?", found)

    def _name_pages(self, pages: list[int], own: set[int]) -> bool:
        """Whether most of these pages lead to one that few of them lead to, and that is none of their `own`."""
        leads_to = [self.frontier.leads_to(page) - own for page in pages]
        times = Counter(number for targets in leads_to for number in targets)
        naming = sum(any(2 * times[number] <= len(pages) for number in targets) for targets in leads_to)
        return 2 * naming > len(pages)

    def _calendars(self) -> set[str]:
        """The forms of addresses of months too far ahead, those of before an interruption included."""
        return self.scope.calendars | set(self.store.noted("calendars", []))

    def _counts(self) -> dict[str, int]:
        row = self.store.connection.execute(
            "SELECT count(*) FILTER (WHERE state = 'done'), "
            "count(*) FILTER (WHERE state = 'done' AND html IS NOT NULL), "
            "count(*) FILTER (WHERE redirect_url <> ''), "
            "count(*) FILTER (WHERE state = 'done' AND status_code >= 400), "
            "count(*) FILTER (WHERE state = 'failed' AND fault = 'robots.txt'), "
            "count(*) FILTER (WHERE state <> 'waiting' AND fault NOT IN ('', 'robots.txt')), "
            "count(*) FILTER (WHERE state = 'waiting'), "
            "count(*) FILTER (WHERE state = 'done' AND status_code IN (401, 403, 407, 451)), "
            "coalesce(sum(attempts), 0) FROM page"
        ).fetchone()
        names = ("answered", "read", "redirects", "broken", "barred", "failed", "waiting", "refused", "requests")
        found = dict(zip(names, row, strict=True))
        trapped = max(len(self.scope.trapped), int(self.store.noted("counts", {}).get("trapped", 0)))
        found["requests"] += self.files_asked
        slowed = int(self.store.noted("counts", {}).get("slowed", 0)) + self.pace.refusals
        slowest = max(int(self.store.noted("counts", {}).get("slowest", 0)), round(1000 * self.pace.slowest))
        rendered = self.renderer.rendered if self.renderer is not None else 0
        found["rendered"] = int(self.store.noted("counts", {}).get("rendered", 0)) + rendered
        if offsite := max(self.offsite, int(self.store.noted("counts", {}).get("offsite", 0))):
            found["offsite"] = offsite
        return found | {"bytes": self.bytes, "trapped": trapped, "slowed": slowed, "slowest": slowest}

    def _common_faults(self) -> str:
        rows = self.store.connection.execute(
            "SELECT fault, count(*) FROM page WHERE fault NOT IN ('', 'robots.txt') GROUP BY 1 UNION ALL "
            "SELECT 'error ' || status_code, count(*) FROM page WHERE state = 'done' AND fault = '' "
            "AND status_code IN (401, 403, 407, 451) GROUP BY 1"
        )
        found = Counter({fault[:80]: count for fault, count in rows})
        return ", ".join(f"{fault}: {count:,}" for fault, count in found.most_common(3)) or "none"

    def _why_nothing(self) -> str:
        row = self.store.connection.execute(
            "SELECT url, status_code, fault, content_type, redirect_url FROM page ORDER BY id LIMIT 1"
        ).fetchone()
        if row is None:
            return "There was no address to ask for."
        url, status, fault, kind, leads_to = row
        if fault == "robots.txt":
            return f"robots.txt bars {url}."
        if leads_to:
            return f"{url} leads to {leads_to}, which is not of this project’s site."
        if fault:
            return f"{url}: {fault}."
        return f"{url} answers with {status} and the type “{kind}”."

    def _note_effort(self) -> None:
        self.store.note("calendars", sorted(self._calendars()))
        self.store.note("seconds", self.seconds)
        self.store.note("files_asked", self.files_asked)

    # --------------------------------------------------------------------------------------------------- what is told

    def tell(self) -> None:
        """Says how far it has come, and keeps what the limits count."""
        with self.store.transaction():
            self._note_effort()
        tell(self.frontier.done, self.frontier.known, "Fetching pages")


def tell(done: int, total: int, stage: str) -> None:
    """A line to the process that started this one."""
    sys.stdout.write(json.dumps({"done": done, "total": total, "stage": stage}) + "\n")
    sys.stdout.flush()


def _seconds_of(retry_after: str) -> float | None:
    """Retry-After as seconds from now: it is a number or a date."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
