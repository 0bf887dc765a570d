"""A download has left the database before a client, however slow, is sent any of it."""

from __future__ import annotations

import pytest
from django.db import connection
from django.utils import timezone

from linker.models import EdgeStatus, Page, PageGroup, PageTwin
from tests.factories import make_edge
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "address",
    ["export/links.csv", "export/held/?file", "export/1/links/?file", "copies/copies.csv"],
)
def test_a_download_holds_no_query_while_it_is_sent(project, client_for, editor, address):
    make_edge(project)
    held = make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    Page.objects.filter(pk=held.target_id).update(missing_since=timezone.now())
    release_of(project)
    group = PageGroup.objects.create(project=project, kind="copy", pages=2)
    for page in (held.source, held.target):
        PageTwin.objects.create(group=group, page=page, kind="copy")
    answer = client_for(editor).get(f"/p/{project.slug}/{address}")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE linker_page SET url = url || '-changed-meanwhile'")
    sent = b"".join(answer.streaming_content).decode()
    assert sent.count("\n") > 1
    assert "-changed-meanwhile" not in sent
