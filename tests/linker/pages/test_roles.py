"""What pages are for, what follows from it, and how a manager corrects it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from linker.engine.params import MatchParams
from linker.engine.roles.policy import Gives, PageRole, Receives, RoleLinks, role_links
from linker.explain.page import why_not_page
from linker.explain.page_role import role_in_words
from linker.matching.eligibility import eligible_pages, ineligible_pages
from linker.matching.room import rooms_of
from linker.models import Block, Change, ChangeKind, Page, Project, RoleRule, Run, RunKind
from linker.models.page import ENDLESS_CALENDAR
from linker.pages.roles import apply_role_rules, find_roles, links_by_role, run_find_roles
from linker.projects.policies.roles import add_role_rule, remove_role_rule, set_page_role, set_role_links
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_link, make_model, make_page, make_project, make_run
from tests.linker.matching.test_match import match

pytestmark = pytest.mark.django_db

LONG = "Words about tents and how to pitch them in the wind. " * 40


@pytest.fixture
def project():
    return make_project()


def page(project, path, **fields):
    made = make_page(project, path, **{"body": LONG, **fields})
    embed(made, (1, 0, 0, 0))
    return made


def found(project) -> dict[str, str]:
    find_roles(project)
    return {one.url.removeprefix(project.base_url): one.role_in_force for one in Page.objects.filter(project=project)}


def test_roles_are_found_in_the_pages_of_a_project(project):
    for path in ("/", "/impressum", "/tents/guide"):
        page(project, path)
    page(project, "/thin", body="Coming soon.")
    for number in range(8):
        page(project, f"/magazine/{number}")
    listing = page(project, "/magazine", title="Magazine", body="Magazine. " + "A link. " * 10)
    assert found(project) == {
        "/": "home",
        "/impressum": "utility",
        "/tents/guide": "article",
        "/thin": "thin",
        "/magazine": "hub",
        **{f"/magazine/{number}": "article" for number in range(8)},
    }
    listing.refresh_from_db()
    assert listing.role_why == "8 pages lie below it and it says little itself"


def test_pages_without_a_text_are_known_by_address_menus_and_pages_below(project):
    paths = ("/tents/red", "/tents/blue", "/tag/red", "/imprint", "/guides", "/node/1", "/calendar/2031")
    made = {path: page(project, path, body="", title=path) for path in paths}
    Page.objects.filter(pk=made["/calendar/2031"].pk).update(
        indexable=False, indexability_status=ENDLESS_CALENDAR, role="hub", role_why="so it was"
    )
    Page.objects.filter(pk=made["/tents/blue"].pk).update(role="hub", role_why="so it was")
    Page.objects.filter(pk=made["/node/1"].pk).update(title="Contact")
    for number in range(8):
        page(project, f"/guides/{number}", body="", title="Guide", word_count=20)
    Page.objects.filter(pk=made["/guides"].pk).update(word_count=20)
    for source in list(made.values())[:-2]:
        make_link(source, made["/node/1"], "", Block.FOOTER)
    expected = {
        "/tents/red": "article",
        "/tents/blue": "article",
        "/tag/red": "hub",
        "/imprint": "utility",
        "/guides": "hub",
        "/node/1": "utility",
        "/calendar/2031": "utility",
        **{f"/guides/{number}": "article" for number in range(8)},
    }
    assert found(project) == expected
    assert find_roles(project)["roles_changed"] == 0
    RoleRule.objects.create(project=project, pattern="/tents/red", role="utility")
    assert found(project) == expected | {"/tents/red": "utility"}


def test_a_page_that_every_footer_links_to_is_known_by_its_name_alone(project):
    contact = page(project, "/node/12", title="Contact")
    others = [page(project, f"/tents/{number}") for number in range(4)]
    assert found(project)["/node/12"] == "article"
    for other in others:
        make_link(other, contact, "", Block.FOOTER)
    assert found(project)["/node/12"] == "utility"


def test_the_share_of_a_text_that_is_links_makes_a_hub(project):
    others = [page(project, f"/{number}") for number in range(6)]
    listing = page(project, "/all-about-it", body="one two three four five six seven. " * 12)
    for number, other in enumerate(others):
        make_link(listing, other, f"{number} " + "x" * 60)
    Page.objects.filter(pk=listing.pk).update(outlinks=6)
    assert found(project)["/all-about-it"] == "hub"


def test_a_page_that_the_crawl_read_as_a_list_is_a_hub_however_many_first_words_it_has(project):
    listing = page(project, "/seite/2", title="Aus dem Alltag")
    for name in ("einst", "jetzt", "bald"):
        make_link(listing, page(project, f"/{name}"), name.title(), Block.LIST)
    assert found(project)["/seite/2"] == "hub"
    assert found(project)["/einst"] == "article"


def test_one_link_of_a_list_below_an_article_makes_no_hub_of_it(project):
    article = page(project, "/einst", title="Einst")
    make_link(article, page(project, "/jetzt"), "Weiterlesen", Block.LIST)
    assert found(project)["/einst"] == "article"


def test_the_page_of_a_category_lists_what_is_in_it(project):
    shop = make_category(project, "Shop")
    page(project, "/boots", category=shop, body="Boots for every day.")
    for number in range(5):
        page(project, f"/{number}", category=make_category(project, "Shop", "Boots", "Winter"))
    assert found(project)["/boots"] == "hub"


def test_finding_twice_changes_nothing(project):
    page(project, "/impressum")
    assert find_roles(project)["roles_changed"] == 1
    assert find_roles(project) == {"roles": {"utility": 1}, "roles_changed": 0}


def test_a_missing_page_is_not_counted(project):
    page(project, "/impressum", missing_since=timezone.now())
    assert find_roles(project)["roles"] == {}


@pytest.mark.parametrize(
    "answer",
    [{"status_code": 404}, {"status_code": 301, "redirect_url": "https://shop.example/else"}, {"status": "removed"}],
)
def test_an_error_or_a_redirect_is_no_page_with_a_role(project, answer):
    page(project, "/tents", **answer)
    page(project, "/impressum")
    assert find_roles(project)["roles"] == {"utility": 1}


def test_a_run_takes_no_links_from_and_to_the_pages_of_the_roles_that_want_none(project):
    paths = ("/", "/impressum", "/thin", "/tents", "/stoves", "/past", "/to-come")
    pages = {path: page(project, path, body="Soon." if path == "/thin" else LONG) for path in paths}
    for number in range(4):
        page(project, f"/more/{number}")
    find_roles(project)
    today = timezone.localdate()
    for path, day in (("/past", today - timedelta(days=1)), ("/to-come", today)):
        Page.objects.filter(pk=pages[path].pk).update(role="event", event_day=day)
    eligible = eligible_pages(project, make_model(), MatchParams())
    by_path = {one.pk: path for path, one in pages.items()}
    rows = zip(eligible.ids.tolist(), eligible.is_donor, eligible.is_target, strict=True)
    sides = {by_path[pk]: (bool(donor), bool(target)) for pk, donor, target in rows if pk in by_path}
    assert sides == {
        "/": (False, False),
        "/impressum": (False, False),
        "/thin": (True, False),
        "/tents": (True, True),
        "/stoves": (True, True),
        "/past": (True, False),
        "/to-come": (True, True),
    }
    assert {why.words: pages for why, pages in eligible.left_out.items()} == {
        "home page as donor": 1,
        "home page as acceptor": 1,
        "utility page as donor": 1,
        "utility page as acceptor": 1,
        "thin page as acceptor": 1,
        "past event as acceptor": 1,
    }


def test_a_project_says_otherwise_and_the_log_has_it(project, manager):
    page(project, "/impressum")
    find_roles(project)
    links = role_links({}) | {PageRole.UTILITY: RoleLinks(Gives.YES, Receives.NO)}
    set_role_links(project, links, manager)
    assert project.role_links == {"utility": {"gives": "yes"}}
    eligible = eligible_pages(project, make_model(), MatchParams())
    assert (eligible.is_donor.tolist(), eligible.is_target.tolist()) == ([True], [False])
    change = Change.objects.get(kind=ChangeKind.ROLES)
    assert (change.before, change.after) == ({"Utility gives": "no"}, {"Utility gives": "yes"})


def test_a_hub_gives_no_links_unless_the_project_says_so(project):
    page(project, "/boots", role="hub", body="Boots of every kind stand here.")
    for gives, is_donor in ({}, False), ({"hub": {"gives": "yes"}}, True):
        project.role_links = gives
        assert eligible_pages(project, make_model(), MatchParams()).is_donor.tolist() == [is_donor]


def test_a_hub_receives_no_links_unless_the_project_says_so(project):
    page(project, "/boots", role="hub")
    for receives, is_target in ({}, False), ({"hub": {"receives": "name"}}, True):
        project.role_links = receives
        assert eligible_pages(project, make_model(), MatchParams()).is_target.tolist() == [is_target]


@pytest.mark.parametrize(("products", "receives"), [(9, Receives.NO), (10, Receives.NAME)])
def test_the_lists_of_a_shop_receive_links_under_their_own_names(project, products, receives):
    for number in range(products):
        page(project, f"/product/{number}", body="Ours costs 12 EUR. Add to basket.")
    for number in range(30):
        page(project, f"/post/{number}", body="A long story about the hills.")
    assert find_roles(project)["roles"]["product"] == products
    found = Project.objects.get(pk=project.pk)
    assert links_by_role(found)[PageRole.HUB] == RoleLinks(Gives.NO, receives)


def test_one_product_in_six_pages_makes_no_shop(project):
    for number in range(10):
        page(project, f"/product/{number}", body="Ours costs 12 EUR. Add to basket.")
    for number in range(50):
        page(project, f"/post/{number}", body="A long story about the hills.")
    find_roles(project)
    assert links_by_role(Project.objects.get(pk=project.pk))[PageRole.HUB].receives is Receives.NO


@pytest.mark.parametrize("receives", ["name", "yes"])
def test_later_pages_and_months_of_lists_receive_no_links_whatever_hubs_do(project, receives):
    project.role_links = {"hub": {"receives": receives}}
    topic = page(project, "/boots", title="Boots", role="hub")
    later = page(project, "/boots/p2", title="Boots – Page 2", role="hub")
    month = page(project, "/archive/4", title="April 2018", role="hub")
    post = page(project, "/post", title="April 2018")
    eligible = eligible_pages(project, make_model(), MatchParams())
    assert set(eligible.ids[eligible.is_target].tolist()) == {topic.pk, post.pk}
    assert {one.code for one in why_not_page(project, topic) if one.side == "acceptor" and one.blocking} == set()
    for one in later, month:
        [said] = [found.text for found in why_not_page(project, one) if found.code == "part-of-list"]
        assert (
            said == "It is a later page of a list, or a month or a year of an archive. Such pages receive no new links."
        )
        assert role_in_words(project, one).effect == "It neither gives nor receives new links."


def test_thin_pages_have_no_room_in_their_text(project):
    thin, other = page(project, "/thin", body="Soon."), page(project, "/tents")
    for number in range(6):
        page(project, f"/more/{number}")
    find_roles(project)
    params = MatchParams()
    rooms = rooms_of(project, params)
    assert rooms[thin.pk].inline == 0
    assert rooms[thin.pk].related == params.related_per_donor
    assert other.pk not in rooms


@pytest.mark.parametrize(
    ("receives", "anchors"), [("name", {"Winter boots"}), ("yes", {"Winter boots", "boots in winter"})]
)
def test_a_hub_is_linked_to_under_its_own_name_alone(project, receives, anchors):
    """Words like its name are not its name: such a link stands beside the text, under the name."""
    project.role_links = {"hub": {"receives": receives}}
    project.save()
    hub = page(project, "/boots", title="Winter boots", role="hub", body="")
    page(project, "/named", body="We sell Winter boots to everybody who asks.")
    page(project, "/alike", body="Nobody wears boots in winter without thick socks.")
    match(project, inline_per_donor=2, related_per_donor=2)
    found = {edge.source.url.rpartition("/")[2]: edge for edge in project.edges.filter(target=hub)}
    assert {edge.anchor for edge in found.values()} == anchors
    assert found["named"].span_start == 8
    assert (found["alike"].span_start is None) == (receives == "name")


def test_by_hand_goes_before_a_rule_and_a_rule_before_what_was_found(project, manager):
    one = page(project, "/impressum")
    find_roles(project)
    add_role_rule(RoleRule(project=project, pattern="/imp", role="article"), manager)
    one.refresh_from_db()
    assert (one.role, one.role_in_force, one.role_from) == ("utility", "article", "rule")
    set_page_role(one, PageRole.HUB, manager)
    find_roles(project)
    one.refresh_from_db()
    assert (one.role_in_force, one.role_from) == ("hub", "hand")
    set_page_role(one, None, manager)
    remove_role_rule(project, RoleRule.objects.get().pk, manager)
    one.refresh_from_db()
    assert (one.role_in_force, one.role_from) == ("utility", "found")
    told = [(change.subject, change.before, change.after) for change in Change.objects.order_by("pk")]
    assert told[-4:] == [
        ("/imp", {}, {"pattern": "/imp", "role": "article", "note": ""}),
        (one.url, {"role by hand": ""}, {"role by hand": "hub"}),
        (one.url, {"role by hand": "hub"}, {"role by hand": ""}),
        ("/imp", {"pattern": "/imp", "role": "article", "note": ""}, {}),
    ]


def test_the_first_rule_that_matches_counts(project, manager):
    one = page(project, "/shop/tents")
    for pattern, role in (("/shop/", "hub"), ("tents$", "product")):
        add_role_rule(RoleRule(project=project, pattern=pattern, role=role), manager)
    one.refresh_from_db()
    assert one.role_in_force == "hub"
    assert apply_role_rules(project) == 0


def test_a_large_site_gets_its_roles_in_a_run(project, manager, monkeypatch):
    monkeypatch.setattr("linker.projects.policies.roles.ROLES_AT_ONCE", 1)
    one, _ = page(project, "/a"), page(project, "/b")
    run = add_role_rule(RoleRule(project=project, pattern="/a", role="hub"), manager)
    assert run is not None
    assert run.kind == RunKind.ROLES
    report = run_find_roles(run, lambda *args, **kwargs: None)
    one.refresh_from_db()
    assert (one.role_in_force, report.roles_changed) == ("hub", 1)


def test_a_rule_that_comes_before_a_run_reads_the_rules_is_read_by_it(project, manager, monkeypatch):
    monkeypatch.setattr("linker.projects.policies.roles.ROLES_AT_ONCE", 1)
    one, _ = page(project, "/a"), page(project, "/b")
    run = lifecycle.start_run(project, RunKind.ROLES, {})
    assert add_role_rule(RoleRule(project=project, pattern="/a", role="hub"), manager) == run
    one.refresh_from_db()
    assert one.role_in_force != "hub", "no page is looked at while somebody waits"

    run_find_roles(run, lambda *args, **kwargs: None)

    one.refresh_from_db()
    assert one.role_in_force == "hub"


def test_a_run_ends_with_the_roles_that_it_found_so_that_a_later_rule_starts_another(project, manager, monkeypatch):
    monkeypatch.setattr("linker.projects.policies.roles.ROLES_AT_ONCE", 1)
    page(project, "/a"), page(project, "/b")
    run = lifecycle.start_run(project, RunKind.ROLES, {})
    run_find_roles(run, lambda *args, **kwargs: None)
    following = add_role_rule(RoleRule(project=project, pattern="/a", role="hub"), manager)
    assert (following.pk != run.pk, following.status) == (True, "queued")


def test_an_event_chosen_by_hand_is_past_where_no_day_is_known(project, manager):
    one = page(project, "/party")
    set_page_role(one, PageRole.EVENT, manager)
    assert eligible_pages(project, make_model(), MatchParams()).is_target.tolist() == [False]


def test_why_not_names_the_role_and_where_it_comes_from(project):
    make_model()
    page(project, "/impressum")
    find_roles(project)
    make_run(project)
    said = {(one.side, one.text) for one in why_not_page(project, Page.objects.get()) if one.code == "role"}
    source = "found: its address ends in “impressum” and it is called “Impressum”"
    assert said == {
        ("donor", f"It counts as a utility page ({source}). Here, such a page gives no new links."),
        ("acceptor", f"It counts as a utility page ({source}). Here, such a page receives no new links."),
    }


def test_ineligible_pages_name_the_role(project):
    page(project, "/impressum")
    find_roles(project)
    assert [(one.side, one.reason, one.pattern) for one in ineligible_pages(project, "SELECT id FROM linker_page")] == [
        ("donor", "role", "a utility page"),
        ("acceptor", "role", "a utility page"),
    ]


# --------------------------------------------------------------------------------------------------- in the browser


def test_the_list_counts_and_filters_by_role(project, client_for, manager):
    page(project, "/impressum")
    page(project, "/tents")
    find_roles(project)
    shown = client_for(manager).get(f"/p/{project.slug}/pages/?role=utility").content.decode()
    assert "Utility (1)" in shown
    assert "/impressum" in shown
    assert "/tents" not in shown
    ignored = client_for(manager).get(f"/p/{project.slug}/pages/?role=nonsense").content.decode()
    assert "/tents" in ignored
    assert "role" in ignored


@pytest.mark.nightly
def test_a_manager_corrects_a_page_on_its_own_page(project, client_for, manager):
    one = page(project, "/impressum")
    find_roles(project)
    client = client_for(manager)
    address = f"/p/{project.slug}/pages/{one.pk}/"
    shown = client.get(address).content.decode()
    assert "Found: its address ends in “impressum”" in shown
    assert "It neither gives nor receives new links." in shown
    answer = client.post(f"{address}role/", {"role": "article"}, follow=True).content.decode()
    assert "The page now counts as an article" in answer
    assert "Chosen by hand." in answer
    assert "Choose one of the roles." in client.post(f"{address}role/", {"role": "king"}, follow=True).content.decode()
    one.refresh_from_db()
    assert one.role_by_hand == "article"


@pytest.mark.nightly
def test_rules_and_links_are_set_in_the_settings(project, client_for, manager):
    one = page(project, "/shop/tents")
    client, address = client_for(manager), f"/p/{project.slug}/settings/roles/"
    assert "There is no such" not in client.get(address).content.decode()
    seen = client.post(address, {"pattern": "/shop/", "role": "product", "check": "1"}).content.decode()
    assert "Finds <strong>1</strong>" in seen
    assert not RoleRule.objects.exists()
    client.post(address, {"pattern": "/shop/", "role": "product"})
    one.refresh_from_db()
    assert one.role_in_force == "product"
    twice = client.post(address, {"pattern": "/shop/", "role": "hub"})
    assert twice.status_code == 422
    assert "There is a rule for this pattern already" in twice.content.decode()
    assert client.post(address, {"pattern": "(", "role": "hub"}).status_code == 422
    values = {f"{role}_{name}": "yes" for role in PageRole for name in ("gives", "receives")}
    client.post(f"{address}links/", values)
    project.refresh_from_db()
    assert project.role_links["home"] == {"gives": "yes", "receives": "yes"}
    assert client.post(f"{address}links/", values | {"hub_gives": "name"}).status_code == 422
    client.post(f"{address}links/", {"reset": "1"})
    client.post(f"{address}{RoleRule.objects.get().pk}/remove/")
    project.refresh_from_db()
    one.refresh_from_db()
    assert (project.role_links, one.role_in_force) == ({}, "article")
    client.post(f"{address}find/")
    assert Run.objects.filter(kind=RunKind.ROLES).count() == 1


@pytest.mark.parametrize("where", ["settings/roles/links/", "settings/roles/find/", "settings/roles/1/remove/"])
@pytest.mark.parametrize("who", ["editor", "outsider"])
def test_only_managers_change_roles(where, who, project, client_for, request):
    one = page(project, "/impressum")
    client, status = client_for(request.getfixturevalue(who)), {"editor": 403, "outsider": 404}[who]
    assert client.post(f"/p/{project.slug}/{where}").status_code == status
    assert client.get(f"/p/{project.slug}/settings/roles/").status_code == status
    assert client.post(f"/p/{project.slug}/pages/{one.pk}/role/", {"role": "hub"}).status_code == status


def test_a_page_of_another_project_is_not_changed(project, client_for, manager):
    other = page(make_project("other"), "/impressum")
    assert client_for(manager).post(f"/p/{project.slug}/pages/{other.pk}/role/", {"role": "hub"}).status_code == 404
