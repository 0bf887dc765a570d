"""What WordPress sites answer when something is wrong: nothing is lost, and the person is told what and what to do."""

from __future__ import annotations

import ipaddress
import json
import threading

import pytest

from ingest.fetching.manage import asked_once, create_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.sources.connectors.wordpress.api import WordPressApi
from ingest.sources.fetched import store_path
from ingest.sources.outgoing import OutgoingRefused, Rules
from ingest.sources.store import FetchStore
from linker.errors import UserError
from linker.models import Run, RunStatus
from linker.runs import lifecycle
from tests.factories import make_project
from tests.ingest.sources.fake_wordpress import FakeWordPress

pytestmark = pytest.mark.django_db(transaction=True)
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
def fake(settings, tmp_path):
    settings.FETCH_ROOT, settings.OUTGOING_ALLOW = tmp_path, LOOPBACK
    server = FakeWordPress(posts=250)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def make_source(fake, **values):
    project = make_project("shop", base_url=fake.address)
    given = {"kind": "wordpress", "name": "Blog", "address": fake.address, "options": {"pause": 0}}
    return create_source(project, None, **given | {"refresh_matches": False} | values)


def fetch(source):
    return lifecycle.execute(start_fetch(source).pk, run_fetch)


def once(answer, times: int = 1, *, on: str, where=lambda query: True):
    """A fault that answers the first `times` questions to a route."""
    left = [times]

    def fault(path, query):
        if path.endswith(on) and where(query) and left[0]:
            left[0] -= 1
            return answer
        return None

    return fault


@pytest.mark.nightly
def test_a_busy_site_is_asked_again_and_read_whole(fake):
    fake.faults.append(once((503, {"Retry-After": "0"}, b"busy"), 2, on="/posts"))
    run = fetch(make_source(fake))
    assert run.report["is_whole"]
    assert run.report["pages"] == 251  # and the home page


@pytest.mark.nightly
def test_an_answer_that_breaks_off_is_asked_for_again(fake):
    short = json.dumps([fake.post(1)]).encode()
    fake.faults.append(once((200, {"Content-Length": str(len(short) + 1000)}, short), 2, on="/posts"))
    run = fetch(make_source(fake))
    assert run.report["is_whole"], run.report
    assert run.report["pages"] == 251


@pytest.mark.nightly
def test_a_site_that_is_away_in_the_middle_ends_the_fetch_in_a_sentence_and_marks_nothing(fake):
    fake.faults.append(lambda path, query: fake.server_close() if "include" in query else None)
    run = fetch(make_source(fake))
    assert (run.status, run.report.get("is_whole", False)) != (RunStatus.SUCCEEDED, True)
    assert "no connection could be made" in run.error + str(run.report)


@pytest.mark.nightly
def test_notices_of_plugins_before_the_json_do_no_harm(fake):
    original = fake.answer
    fake.answer = lambda path, query: (
        (found := original(path, query))[0], found[1], b"\xef\xbb\xbf<br />Notice: [deprecated] {function}\n" + found[2]
    )  # fmt: skip
    assert fetch(make_source(fake)).report["pages"] == 251


@pytest.mark.nightly
def test_half_of_the_list_is_not_the_whole_site(fake):
    """The site says that there are 250 posts, and a cache in front of it gives the first page of results each time."""
    original = fake.answer
    fake.answer = lambda path, query: original(path, query | ({"offset": ["0"]} if "offset" in query else {}))
    run = fetch(make_source(fake))
    assert not run.report["is_whole"]
    assert "250" in run.report["stopped_by"]


@pytest.mark.nightly
def test_a_page_of_results_that_fails_leaves_the_rest_unmarked(fake):
    fake.faults.append(once((500, {}, b""), 99, on="/posts", where=lambda query: query.get("offset") == ["198"]))
    source = make_source(fake)
    run = start_fetch(source)
    run = lifecycle.execute(run.pk, run_fetch)
    assert run.status == RunStatus.SUCCEEDED
    assert run.report["pages"] == 200
    assert not run.report["is_whole"]


@pytest.mark.nightly
def test_a_post_that_breaks_the_answer_costs_only_itself(fake):
    def fault(path, query):
        is_asked = "13" in query.get("include", [""])[0].split(",") or path.endswith("/posts/13")
        return (400, {}, b'{"code": "broken"}') if is_asked else None

    fake.faults.append(fault)
    run = fetch(make_source(fake))
    assert run.report["pages"] == 250
    assert run.report["waiting"] == 1
    assert not run.report["is_whole"]


def without_totals(answer):
    """As a cache answers that keeps none of WordPress's own headers."""

    def plain(path, query):
        status, headers, body = answer(path, query)
        return status, {name: value for name, value in headers.items() if not name.startswith("X-WP")}, body

    return plain


@pytest.mark.nightly
def test_a_list_is_read_to_its_end_though_nothing_says_how_long_it_is(fake):
    fake.ids = list(range(1, 111))
    fake.answer = without_totals(fake.answer)
    source = make_source(fake)
    assert "Posts: not said how many" in asked_once(source)
    report = fetch(source).report
    assert (report["pages"], report["is_whole"]) == (111, True)


@pytest.mark.nightly
def test_a_plugin_that_says_how_many_there_are_on_the_page_is_not_believed(fake):
    original = fake.answer

    def rewritten(path, query):
        status, headers, body = original(path, query)
        return status, headers | ({"X-WP-Total": "100", "X-WP-TotalPages": "1"} if "/posts" in path else {}), body

    fake.answer = rewritten
    report = fetch(make_source(fake)).report
    assert (report["pages"], report["is_whole"]) == (251, True)


@pytest.mark.nightly
@pytest.mark.parametrize("most", [10, 50])
def test_a_site_that_gives_fewer_at_once_than_it_is_asked_for_is_read_whole(fake, most):
    fake.ids, fake.most_at_once = list(range(1, 111)), most
    fake.answer = without_totals(fake.answer)
    report = fetch(make_source(fake)).report
    assert (report["pages"], report["is_whole"]) == (111, True)


@pytest.mark.nightly
def test_a_cache_that_repeats_the_first_answer_does_not_make_it_the_whole_site(fake):
    original = without_totals(fake.answer)
    fake.answer = lambda path, query: original(path, query | ({"offset": ["0"]} if "offset" in query else {}))
    run = fetch(make_source(fake))
    assert not run.report["is_whole"]
    assert "does not go on where it ended, after 100" in run.report["stopped_by"]


@pytest.mark.nightly
def test_a_cache_that_gives_one_answer_to_every_question_of_a_list_does_not_make_it_the_whole_site(fake):
    fake.faults.append(
        lambda path, query: (200, {}, json.dumps([fake.post(1)]).encode()) if path.endswith("/posts") else None
    )
    assert not fetch(make_source(fake)).report["is_whole"]


@pytest.mark.nightly
def test_a_post_that_goes_while_the_list_is_read_takes_no_other_with_it(fake):
    original = without_totals(fake.answer)

    def answer(path, query):
        found = original(path, query)
        if query.get("offset") == ["0"] and path.endswith("/posts"):
            fake.ids = [number for number in fake.ids if number != 7]
        return found

    fake.answer = answer
    run = fetch(make_source(fake))
    with FetchStore(store_path(run), read_only=True) as store:
        posts = {int(mark.split()[0]) for (mark,) in store.connection.execute("SELECT etag FROM page") if mark}
    assert (posts, run.report["is_whole"]) == ({*range(1, 251)} - {7}, True)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [1, 3, 230])
def test_categories_are_read_to_their_end_though_wordpress_knows_no_offset_among_them(fake, number):
    fake.terms = [{"id": 10 + n, "name": f"Category {n}", "parent": 0, "count": 0} for n in range(number)]
    assert fetch(make_source(fake)).report["is_whole"]
    api = WordPressApi(fake.address, Rules(LOOPBACK), "test")
    assert api.every(api.terms_of, "wp/v2/categories", []) == fake.terms


@pytest.mark.nightly
def test_what_is_kept_secret_now_is_not_taken_for_gone(fake):
    users = [{"id": 5, "name": "Ann", "link": f"{fake.address}/author/ann/"}]
    closed = []

    def fault(path, query):
        if not path.endswith("/users"):
            return None
        if closed:
            return 401, {}, b'{"code": "rest_user_cannot_view"}'
        return 200, {}, json.dumps(users[int(query["offset"][0]) :] if "offset" in query else users).encode()

    fake.faults.append(fault)
    source = make_source(fake)
    assert fetch(source).report["pages"] == 252
    closed.append(True)
    for _time in range(2):
        assert fetch(source).report["pages"] == 252


@pytest.mark.nightly
def test_a_type_that_the_site_no_longer_names_is_gone_with_the_second_fetch_that_does_not_find_it(fake):
    types = {"post": {"name": "Posts", "rest_base": "posts"}, "news": {"name": "News", "rest_base": "posts"}}
    fake.faults.append(lambda path, query: (200, {}, json.dumps(types).encode()) if path.endswith("/types") else None)
    source = make_source(fake)
    assert fetch(source).report["is_whole"]
    del types["news"]
    first, second = fetch(source).report, fetch(source).report
    assert (first["is_whole"], second["is_whole"]) == (False, True)
    assert "“news”" in first["stopped_by"]


@pytest.mark.nightly
def test_a_killed_fetch_goes_on_where_it_was(fake):
    class Killed(BaseException):
        pass

    source = make_source(fake)
    run = start_fetch(source)
    answered = []

    def fault(path, query):
        if "include" in query:
            answered.append(query["include"][0])
        return

    fake.faults.append(fault)

    def progress(done, total, stage=""):
        if done > 100:
            raise Killed

    with pytest.raises(Killed):
        run_fetch(run, progress)
    with FetchStore(store_path(run), read_only=True) as store:
        before = store.counts()["done"]
    assert 0 < before < 250
    lifecycle.execute(run.pk, run_fetch)
    asked = [number for answer in answered for number in answer.split(",")]
    assert len(asked) == len(set(asked)) == 250  # no text was asked for twice


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, {}, b'{"code": "rest_cannot_access"}'), "keeps its REST API to itself"),
        ((401, {}, b"<html>Authorization required</html>"), "answers with the error 401"),
        ((403, {}, b"<html>Blocked by the firewall</html>"), "answers with the error 403"),
        ((200, {}, b"<html>A shop of another kind</html>"), "does not answer as WordPress"),
        ((302, {"Location": "/"}, b""), "redirects without end"),
    ],
)
def test_what_is_no_wordpress_is_said(fake, answer, said):
    fake.answer = lambda path, query: answer
    run = fetch(make_source(fake))
    assert run.status == RunStatus.FAILED
    assert said in run.error


@pytest.mark.nightly
def test_a_site_under_maintenance_is_said_with_the_address_to_look_at(fake):
    fake.faults.append(lambda path, query: (200, {}, b"<html>Back soon</html>") if path.endswith("/types") else None)
    with pytest.raises(UserError, match=rf"is not JSON \(200\)\. Open {fake.address}/wp-json/wp/v2/types in a"):
        asked_once(make_source(fake))


@pytest.mark.parametrize("given", [{"username": "ann"}, {"secret": "sesame"}])
def test_a_user_without_a_password_is_said(fake, given):
    with pytest.raises(UserError, match="Enter both"):
        asked_once(make_source(fake, **given))


@pytest.mark.nightly
def test_a_post_with_a_password_is_counted_as_that(fake):
    original = fake.post
    fake.post = lambda number: (
        original(number) | ({"content": {"rendered": "", "protected": True}} if number < 4 else {})
    )
    report = fetch(make_source(fake)).report
    assert (report["protected"], report["barred"]) == (3, 0)


def test_progress_counts_posts_as_the_check_does(fake):
    """Those behind a password too, and those that have not changed since the last fetch."""
    fake.terms = [{"id": 7, "name": "Tents", "link": f"{fake.address}/tents/", "parent": 0, "count": 3}]
    original = fake.post
    fake.post = lambda number: (
        original(number) | ({"content": {"rendered": "", "protected": True}} if number < 4 else {})
    )
    source = make_source(fake)
    assert "Posts: 250" in asked_once(source)
    for _ in range(2):
        seen = set()
        run_fetch(start_fetch(source, to_queue=False), lambda *said, seen=seen: seen.add(said))
        Run.objects.filter(project=source.project).update(status=RunStatus.SUCCEEDED)
        read = {(done, total) for done, total, saying in seen if saying == "Reading posts and pages"}
        assert (250, 250) in read
        assert max(total for _done, total in read) == 250


@pytest.mark.nightly
def test_there_is_a_pause_between_any_two_questions(fake):
    waited = []
    api = WordPressApi(fake.address, Rules(LOOPBACK), "test", pause=waited.append, interval=2.0)
    api.get("wp/v2/types")
    api.get("wp/v2/posts")
    assert waited == [2.0] * (len(fake.asked) - 1)


@pytest.mark.nightly
def test_a_redirect_into_the_network_is_refused(fake):
    fake.faults.append(once((302, {"Location": "http://169.254.169.254/latest/"}, b""), 9, on="/"))
    with pytest.raises(OutgoingRefused):
        WordPressApi(fake.address, Rules(LOOPBACK), "test")


def test_a_password_is_not_sent_through_a_public_network_in_the_clear(settings):
    with pytest.raises(UserError, match="https://"):
        WordPressApi("http://93.184.215.14/", Rules(), "test", username="ann", password="sesame")


@pytest.mark.nightly
def test_a_password_does_not_follow_a_redirect_to_another_host(fake):
    other = FakeWordPress(posts=1)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    away = f"{other.address.replace('127.0.0.1', 'localhost')}/wp-json/wp/v2/types"
    fake.faults.append(once((302, {"Location": away}, b""), 9, on="/types"))
    api = WordPressApi(
        fake.address, Rules((*LOOPBACK, ipaddress.ip_network("::1/128"))), "test", username="ann", password="sesame"
    )
    api.get("wp/v2/types")
    assert other.asked
    assert other.authorised == []
    other.shutdown()
    other.server_close()


@pytest.mark.nightly
def test_shortcodes_of_page_builders_are_no_text(fake):
    original = fake.post
    fake.post = lambda number: (
        original(number) | {"content": {"rendered": "[vc_row][vc_column]<p>Words.</p>[/vc_column][/vc_row]"}}
    )
    run = fetch(make_source(fake))
    with FetchStore(store_path(run), read_only=True) as store:
        texts = {text for (text,) in store.connection.execute("SELECT text FROM reading")}
    assert texts == {"Words.", ""}


@pytest.mark.nightly
@pytest.mark.parametrize("address", ["/?p={}", "/index.php?p={}", "/?page_id={}"])
def test_plain_addresses_are_refused_with_the_setting_that_makes_others(fake, address):
    original = fake.post
    fake.post = lambda number: original(number) | {"link": fake.address + address.format(number)}
    source = make_source(fake)
    with pytest.raises(UserError) as told:
        asked_once(source)
    assert "WordPress under Settings › Permalinks" in str(told.value)
    run = fetch(source)
    assert run.status == RunStatus.FAILED
    assert "WordPress under Settings › Permalinks" in run.error


@pytest.mark.nightly
def test_plain_addresses_are_read_where_the_project_wants_them(fake):
    original = fake.post
    fake.post = lambda number: original(number) | {"link": f"{fake.address}/?p={number}"}
    source = make_source(fake)
    source.project.parameter_urls = "allow"
    source.project.save()
    assert fetch(source).report["pages"] == 251


@pytest.mark.nightly
def test_what_does_not_answer_as_wordpress_is_told_of_the_setting_too(fake):
    fake.faults.append(lambda path, query: (404, {}, b"<html>Not found</html>") if path != "/" else None)
    with pytest.raises(UserError, match="Settings › Permalinks"):
        asked_once(make_source(fake))


@pytest.mark.nightly
def test_the_report_says_how_many_bytes_came(fake):
    assert fetch(make_source(fake)).report["bytes"] > 250 * len("<p>Text of post 1.</p>")
