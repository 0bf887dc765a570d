"""django-rq's pages: for superusers alone, and what does not exist is not found."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from linker.models import RunKind
from linker.runs import lifecycle
from linker.runs.lost_work import find_lost
from linker.urls import queues
from tests.factories import make_user

pytestmark = pytest.mark.django_db

NAMES = sorted({pattern.name for pattern in queues})


@pytest.fixture
def client(redis_server, client_for) -> Client:
    return client_for(make_user("root", is_staff=True, is_superuser=True))


@pytest.fixture
def staff(redis_server, client_for) -> Client:
    return client_for(make_user("clerk", is_staff=True))


def address(name: str, index: int = 0) -> str:
    pattern = next(one for one in queues if one.name == name)
    values = {"job_id": "nothing", "result_id": "nothing", "key": "nothing", "token": "nothing"}
    known = {"scheduler_name": "nothing", "cron_job_name": "nothing", **values}
    given = {key: known.get(key, index) for key in pattern.pattern.regex.groupindex}
    return reverse(f"django_rq:{name}", kwargs=given or None)


def test_the_pages_have_no_second_address_in_the_administration(client):
    assert len(NAMES) > 20
    assert client.get("/admin/django_rq/dashboard/").status_code == 404


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", NAMES)
def test_nobody_but_superusers_gets_in(staff, manager, client_for, name):
    for one in (staff, client_for(manager)):
        assert {one.get(address(name)).status_code, one.post(address(name)).status_code} == {403}
    assert Client().get(address(name)).status_code == 302


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", [0, 99])
def test_no_unknown_queue_job_worker_or_scheduler_breaks_the_server(client, name, index):
    for method in (client.get, client.post):
        assert method(address(name, index)).status_code in {200, 302, 404, 405}
    if "<int:" in str(next(one for one in queues if one.name == name).pattern):
        assert client.get(address(name, 99)).status_code in {404, 405}


@pytest.mark.parametrize("page", ["abc", "0", "-1", "999999999999999999999"])
def test_no_page_number_breaks_the_server(client, page):
    assert client.get("/django-rq/queues/0/", {"page": page}).status_code in {200, 404}


@pytest.mark.django_db(transaction=True)
def test_a_superuser_sees_the_queue_and_empties_it(client, project):
    lifecycle.start_run(project, RunKind.EMBED, {})
    assert client.get("/django-rq/").status_code == 200
    assert "embed" in client.get("/django-rq/queues/0/").content.decode()
    assert client.post("/django-rq/queues/0/empty/").status_code == 302
    assert find_lost()


@pytest.mark.nightly
def test_its_inline_scripts_are_allowed_there_alone(client, project):
    assert "unsafe-inline" in client.get("/django-rq/")["Content-Security-Policy"]
    assert "unsafe-inline" not in client.get("/")["Content-Security-Policy"]
