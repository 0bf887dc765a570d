"""The wait between requests is doubled by refusals, within bounds, and shortened slowly."""

from __future__ import annotations

from ingest.sources.connectors.crawler.pace import GOOD_ANSWERS, LONGEST, MOST_TIMES, Pace


def test_each_refusal_doubles_the_wait_within_bounds():
    pace, waits = Pace(0.2), []
    for _ in range(20):
        pace.refused()
        waits.append(pace.seconds)
    assert waits[:4] == [0.4, 0.8, 1.6, 3.2]
    assert waits[-1] == 0.2 * MOST_TIMES
    slow = Pace(20)
    for _ in range(3):
        slow.refused()
    assert slow.seconds == LONGEST


def test_good_answers_shorten_the_wait_little_by_little_and_never_below_the_usual_one():
    pace = Pace(0.2)
    for _ in range(2):
        pace.refused()
    for _ in range(GOOD_ANSWERS - 1):
        pace.answered()
    assert pace.seconds == 0.8
    pace.refused()  # the good answers before count no more
    for _ in range(GOOD_ANSWERS):
        pace.answered()
    assert 0.2 < pace.seconds < 1.6
    for _ in range(1000):
        pace.answered()
    assert pace.seconds == 0.2
    assert (pace.slowest, pace.refusals) == (1.6, 3)


def test_the_delay_of_robots_txt_is_kept_whatever_the_answers():
    pace = Pace(0.2)
    pace.at_least(100)
    pace.refused()
    for _ in range(100):
        pace.answered()
    assert pace.seconds == 100
