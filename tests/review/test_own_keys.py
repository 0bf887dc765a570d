"""Each user may change the keys of the queue: what may be a key, whose it is, and what shows it."""

from __future__ import annotations

import json
import re

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from linker.models import Membership
from review.models import OwnKey
from review.queue.keys import ACTIONS, USUAL, KeysRefused, keys_of, set_keys
from tests.factories import make_edge, make_project
from tests.review.queue_requests import PAGE

pytestmark = pytest.mark.django_db

KEYS = f"{PAGE}keys/"


def stored(user) -> dict[str, str]:
    return dict(OwnKey.objects.filter(user=user).values_list("action", "key"))


def refusal(user, **asked: str) -> dict[str, str]:
    with pytest.raises(KeysRefused) as refused:
        set_keys(user.pk, asked)
    return refused.value.by_action


def keys_in(page: str) -> dict[str, str]:
    """The action of each key, as a page tells its script."""
    return json.loads(re.search(r'<script id="keys" type="application/json">(.*?)</script>', page)[1])


def test_the_usual_keys_are_single_and_of_our_own():
    assert len(set(USUAL.values())) == len(ACTIONS) == len(USUAL)
    assert all(len(key) == 1 and not key.isdigit() for key in USUAL.values())
    assert all(len(name) <= OwnKey._meta.get_field("action").max_length for name in USUAL)


def test_without_changes_nothing_is_stored_and_the_keys_are_the_usual_ones(editor):
    set_keys(editor.pk, USUAL)
    assert keys_of(editor.pk) == USUAL
    assert stored(editor) == {}


def test_only_what_is_changed_is_stored_and_the_others_stay(editor, viewer):
    set_keys(editor.pk, USUAL | {"accept": "z", "later": "Q"})
    assert stored(editor) == {"accept": "z", "later": "Q"}
    assert keys_of(editor.pk) == USUAL | {"accept": "z", "later": "Q"}
    assert keys_of(viewer.pk) == USUAL


def test_an_emptied_field_gets_the_usual_key(editor):
    set_keys(editor.pk, {"accept": "z"})
    set_keys(editor.pk, USUAL | {"accept": ""})
    assert stored(editor) == {}


def test_two_actions_can_change_keys_with_each_other(editor):
    set_keys(editor.pk, {"accept": "x", "reject": "a"})
    assert stored(editor) == {"accept": "x", "reject": "a"}
    set_keys(editor.pk, {"accept": "x", "reject": "a", "undo": "ä"})
    assert keys_of(editor.pk)["undo"] == "ä"


@pytest.mark.parametrize("before", [{}, {"undo": "z", "accept": "q"}])
def test_a_key_that_is_taken_is_refused_with_the_name_of_the_other_action(editor, before):
    set_keys(editor.pk, before)
    taken = keys_of(editor.pk)["undo"]
    said = refusal(editor, **keys_of(editor.pk) | {"accept": taken})
    assert said.keys() == {"accept"}
    assert f"“{taken}”" in said["accept"]
    assert "“Undo your last decision”" in said["accept"]
    assert stored(editor) == before


def test_a_usual_key_that_was_given_away_is_refused_as_well(editor):
    set_keys(editor.pk, {"accept": "x", "reject": "a"})
    assert "Accept as the button says" in refusal(editor, accept="x")["reject"]


@pytest.mark.parametrize(
    "key", ["F5", "Tab", "Enter", "Escape", "ArrowLeft", "Ctrl+s", " ", "\t", "\u200b", "😀", "ab"]
)
def test_what_belongs_to_the_browser_or_the_system_is_refused(editor, key):
    assert "belong to the browser or the system" in refusal(editor, accept=key)["accept"]


@pytest.mark.parametrize("key", ["1", "8", "9"])
def test_digits_stay_for_anchors_and_reasons(editor, key):
    assert "the digits 1 to 9 pick anchors and reasons" in refusal(editor, accept=key)["accept"]


@pytest.mark.parametrize(
    "rows",
    [
        [("accept", "z"), ("accept", "q")],
        [("accept", "z"), ("reject", "z")],
        [("accept", "")],
        [("accept", "3")],
        [("accept", " ")],
    ],
)
def test_the_database_keeps_one_key_an_action_and_one_action_a_key(editor, rows):
    with pytest.raises(IntegrityError), transaction.atomic():
        OwnKey.objects.bulk_create(OwnKey(user=editor, action=action, key=key) for action, key in rows)


def test_an_action_that_came_later_has_no_key_where_the_user_gave_its_usual_one_to_another(editor):
    OwnKey.objects.create(user=editor, action="accept", key="?")  # "help" came after that
    OwnKey.objects.create(user=editor, action="gone", key="u")
    assert keys_of(editor.pk) == USUAL | {"accept": "?", "help": ""}


def test_the_page_saves_and_goes_back_to_the_usual_keys_in_all_projects(client_for, editor, edge):
    browser = client_for(editor)
    page = browser.get(KEYS).content.decode()
    assert all(f'name="{action.name}" value="{action.usual}"' in page for action in ACTIONS)
    assert browser.post(KEYS, USUAL | {"accept": "z"}).status_code == 302
    assert "Your keys are saved." in browser.get(KEYS).content.decode()
    assert stored(editor) == {"accept": "z"}

    other = make_project("other")
    Membership.objects.create(project=other, user=editor, role="viewer")
    assert 'name="accept" value="z"' in browser.get(f"/p/{other.slug}/queue/keys/").content.decode()

    assert browser.post(KEYS, {"usual": "1"}).status_code == 302
    assert stored(editor) == {}


def test_the_page_says_beside_the_action_what_is_wrong_and_keeps_what_was_typed(as_editor, editor, project):
    answer = as_editor.post(KEYS, USUAL | {"accept": "u", "later": "F5", "read": "z"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "“u” is already the key of “Undo your last decision”." in page
    assert "“F5” cannot be used" in page
    assert "Nothing was saved" in page
    assert 'name="read" value="z"' in page
    assert stored(editor) == {}


def test_a_form_without_all_of_its_fields_changes_nothing(as_editor, editor, project):
    set_keys(editor.pk, {"accept": "z"})
    assert as_editor.post(KEYS, {"later": "q"}).status_code == 400
    assert stored(editor) == {"accept": "z"}


def test_a_viewer_has_keys_of_their_own_and_an_outsider_none_here(client_for, viewer, editor, outsider, project):
    client_for(viewer).post(KEYS, USUAL | {"next": "z"})
    assert (stored(viewer), stored(editor)) == ({"next": "z"}, {})
    assert client_for(outsider).get(KEYS).status_code == 404
    assert client_for(outsider).post(KEYS, USUAL | {"next": "z"}).status_code == 404
    assert stored(outsider) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("address", ["", "{edge}/"])
def test_the_buttons_and_the_script_have_the_users_own_keys(as_editor, editor, edge, address):
    place = PAGE + address.format(edge=edge.pk)
    assert keys_in(as_editor.get(place).content.decode()) == {key: action for action, key in USUAL.items()}
    set_keys(editor.pk, {"accept": "Z", "nofollow": "<"})
    page = as_editor.get(place).content.decode()
    assert re.search(
        r'data-do="accept" aria-keyshortcuts="Shift\+Z">.*?<kbd aria-hidden="true">⇧Z</kbd>', page, re.DOTALL
    )
    assert re.search(r'data-rel="nofollow" aria-key.*?<kbd aria-hidden="true">&lt;</kbd>', page, re.DOTALL)
    keys = keys_in(page)
    assert (keys["Z"], keys["<"]) == ("accept", "nofollow")
    assert "a" not in keys


@pytest.mark.nightly
def test_a_viewers_list_of_keys_holds_what_a_viewer_can_do(client_for, viewer, edge):
    page = client_for(viewer).get(PAGE).content.decode()
    listed = page[page.index("keys__list") : page.index("</dl>")]
    assert "Next, without a decision" in listed
    assert "Undo your last decision" not in listed


@pytest.mark.nightly
@pytest.mark.parametrize("address", ["", "deck/", "{edge}/"])
def test_keys_cost_one_query_changed_or_not_however_many_cards(as_editor, editor, edge, address, project):
    for _ in range(3):
        make_edge(project)

    def asked() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert as_editor.get(PAGE + address.format(edge=edge.pk)).status_code == 200
        return sum("review_ownkey" in query["sql"] for query in captured)

    assert asked() == 1
    set_keys(editor.pk, {"accept": "z", "reject": "q"})
    assert asked() == 1
