from django.contrib.auth import views as auth
from django.urls import path

from linker.views import health, match, pages, projects, runs, settings, whynot

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("", projects.projects, name="projects"),
    path("projects/new/", projects.project_create, name="project_create"),
    path("p/<slug:slug>/", projects.project, name="project"),
    path("p/<slug:slug>/pages/", pages.pages, name="pages"),
    path("p/<slug:slug>/pages/<int:page_id>/", pages.page, name="page"),
    path("p/<slug:slug>/why-not/", whynot.why_not, name="why_not"),
    path("p/<slug:slug>/runs/", runs.runs, name="runs"),
    path("p/<slug:slug>/runs/<int:run_id>/", runs.run, name="run"),
    path("p/<slug:slug>/runs/<int:run_id>/state/", runs.run_state, name="run_state"),
    path("p/<slug:slug>/runs/<int:run_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("p/<slug:slug>/match/", match.match, name="match"),
    path("p/<slug:slug>/match/count/", match.match_count, name="match_count"),
    path("p/<slug:slug>/match/embed/", match.embed, name="embed"),
    path("p/<slug:slug>/settings/", settings.general, name="settings"),
    path("p/<slug:slug>/settings/tiers/", settings.tiers, name="settings_tiers"),
    path("p/<slug:slug>/settings/ranking/", settings.ranking, name="settings_ranking"),
    path("p/<slug:slug>/settings/sensitive/", settings.sensitive, name="settings_sensitive"),
    path("p/<slug:slug>/settings/sensitive/<int:rule_id>/remove/", settings.sensitive_remove, name="sensitive_remove"),
    path("p/<slug:slug>/settings/exclusions/", settings.exclusions, name="settings_exclusions"),
    path("p/<slug:slug>/settings/exclusions/matches/", settings.exclusion_preview, name="exclusion_preview"),
    path("p/<slug:slug>/settings/exclusions/<int:rule_id>/remove/", settings.exclusion_remove, name="exclusion_remove"),
    path("p/<slug:slug>/settings/members/", settings.member_list, name="settings_members"),
    path("p/<slug:slug>/settings/members/<int:membership_id>/", settings.member_change, name="member_change"),
    path("p/<slug:slug>/settings/members/<int:membership_id>/remove/", settings.member_remove, name="member_remove"),
]
