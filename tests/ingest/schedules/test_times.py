"""The next time of a schedule: what croniter says of the clock on the wall, and what zoneinfo says of that clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from ingest.schedules.times import checked, next_time
from ingest.schedules.words import in_words
from linker.errors import UserError

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago")
CRONS = st.one_of(
    st.builds("{} {} * * *".format, st.integers(0, 59), st.integers(0, 23)),
    st.builds("{} {} * * {}".format, st.integers(0, 59), st.integers(0, 23), st.integers(0, 7)),
    st.builds("{} * * * *".format, st.integers(0, 59)),
    st.builds("{} */{} * * *".format, st.integers(0, 59), st.integers(1, 12)),
    st.builds("{} {} {} * *".format, st.integers(0, 59), st.integers(0, 23), st.integers(1, 31)),
)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))


def at(*wall: int, zone: str = "Europe/Berlin", fold: int = 0) -> datetime:
    return datetime(*wall, tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


@pytest.mark.nightly
@given(CRONS, st.sampled_from(ZONES), MOMENTS)
def test_it_is_the_first_minute_after_that_the_clock_shows_for_the_first_time(cron, zone, after):
    found = next_time(cron, zone, after)
    assert found > after
    wall = found.astimezone(ZoneInfo(zone))
    if croniter.match(cron, wall.replace(tzinfo=None)):
        assert wall.fold == 0
    else:  # the clock was put forward over it just then
        before = (found - timedelta(seconds=1)).astimezone(ZoneInfo(zone))
        assert wall.utcoffset() > before.utcoffset()
    # Nothing lies between but what the clock shows a second time.
    minute, looked = after.replace(second=0, microsecond=0) + timedelta(minutes=1), 0
    while minute < found and looked < 1500:
        shown = minute.astimezone(ZoneInfo(zone))
        assert shown.fold == 1 or not croniter.match(cron, shown.replace(tzinfo=None))
        minute, looked = minute + timedelta(minutes=1), looked + 1


@given(CRONS, MOMENTS)
def test_where_no_clock_is_moved_it_is_what_croniter_says(cron, after):
    assert next_time(cron, "UTC", after) == croniter(cron, after).get_next(datetime)


@given(CRONS, st.sampled_from(ZONES), MOMENTS, st.timedeltas(timedelta(0), timedelta(days=400)))
def test_later_moments_have_no_earlier_next_time(cron, zone, after, later):
    assert next_time(cron, zone, after) <= next_time(cron, zone, after + later)


def test_a_time_that_does_not_exist_comes_when_the_clock_goes_on():
    assert next_time("30 2 * * *", "Europe/Berlin", at(2026, 3, 28, 12)) == at(2026, 3, 29, 3)
    assert next_time("30 2 * * *", "Europe/Berlin", at(2026, 3, 29, 3)) == at(2026, 3, 30, 2, 30)
    # Two times of one day that fall into the hour that is left out, or at its end, are one.
    assert next_time("30 2,3 * * *", "Europe/Berlin", at(2026, 3, 29, 3)) == at(2026, 3, 29, 3, 30)
    assert next_time("0 2,3 * * *", "Europe/Berlin", at(2026, 3, 29, 3)) == at(2026, 3, 30, 2)


def test_a_time_that_exists_twice_comes_once():
    first = next_time("30 2 * * *", "Europe/Berlin", at(2026, 10, 24, 12))
    assert first == at(2026, 10, 25, 2, 30, fold=0)
    assert next_time("30 2 * * *", "Europe/Berlin", first) == at(2026, 10, 26, 2, 30)


def test_a_whole_day_may_be_left_out():
    assert next_time("0 3 * * *", "Pacific/Apia", at(2011, 12, 29, 12, zone="Pacific/Apia")) == at(
        2011, 12, 31, zone="Pacific/Apia"
    )


@pytest.mark.parametrize(
    ("entered", "stored"),
    [("daily", "0 3 * * *"), (" Weekly ", "0 3 * * 1"), ("0  4 * *   mon-fri", "0 4 * * mon-fri"), ("5 0 L * *",) * 2],
)
def test_what_means_something_is_kept(entered, stored):
    assert checked(entered) == stored


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        ("* * * * *", "more than once an hour"),
        ("0,30 4 * * *", "more than once an hour"),
        ("0 0 30 2 *", "never comes"),
        ("0 25 * * *", "no cron expression"),
        ("0 3 1-0 * *", "counted from 1"),
        ("0 2-1 * * *", "from the lower number"),
        ("0 3 1 dez *", "none that its field can have"),
        ("0 3 1 0,2 *", "counted from 1"),
        ("0 3 * * * *", "five fields"),
        ("@hourly", "five fields"),
        ("R 3 * * *", "five fields"),
        ("0 3 * *", "five fields"),
        ("", "five fields"),
        ("0 3 * * " + "1," * 60 + "2", "five fields"),
    ],
)
def test_what_does_not_is_refused_with_a_sentence(entered, said):
    with pytest.raises(UserError, match=said):
        checked(entered)


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("0 3 * * *", "Every day at 03:00"),
        ("5 3,15 * * *", "Every day at 03:05, 15:05"),
        ("0 3 * * 1", "Every Monday at 03:00"),
        ("0 3 * * 0", "Every Sunday at 03:00"),
        ("0 3 * * 7", "Every Sunday at 03:00"),
        ("0 3 * * sun,mon", "Every Monday, Sunday at 03:00"),
        ("15 * * * *", "Every hour at minute 15"),
        ("0 3 29 2 *", "On day 29 of February at 03:00"),
        ("0 3 1,15 jan,jul *", "On day 1, 15 of January, July at 03:00"),
        ("30 4 * 6-8 *", "Every day at 04:30, in June, July, August"),
        ("0 3 * 12 mon", "Every Monday at 03:00, in December"),
        ("0 * * 2 *", ""),
        ("0 4 1,15 * *", "Each month on day 1, 15 at 04:00"),
        ("0 4 l * *", ""),
        ("0 4 * * 1#2", ""),
        ("0 4 1 * 1", ""),
        ("0 4 * 6 *", "Every day at 04:00, in June"),
        ("0 */2 * * *", ""),
    ],
)
def test_an_expression_is_said_in_words_where_a_short_sentence_can(cron, said):
    assert in_words(checked(cron)) == said
