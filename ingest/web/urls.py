from django.urls import path

from ingest.web import schedule_views, source_links, source_views, views

urlpatterns = [
    path("match/lists/", views.page_list_add, name="page_list_add"),
    path("import/", views.import_, name="import"),
    path("import/source/", views.import_source, name="import_source"),
    path("import/<int:upload_id>/", views.import_preview, name="import_preview"),
    path("import/runs/<int:run_id>/skipped/", views.import_skipped, name="import_skipped"),
    path("import/schedules/", schedule_views.schedules, name="schedules"),
    path("import/schedules/match/", schedule_views.match_schedule, name="match_schedule"),
    path("import/sources/", source_views.sources, name="sources"),
    path("import/sources/add/<slug:kind>/", source_views.source_add, name="source_add"),
    path("import/sources/<int:source_id>/", source_views.source, name="source"),
    path("import/sources/<int:source_id>/state/", source_views.source_state, name="source_state"),
    path("import/sources/<int:source_id>/links/", source_links.faulty_links, name="faulty_links"),
    path("import/sources/<int:source_id>/links/links.csv", source_links.faulty_links_csv, name="faulty_links_csv"),
    path("import/sources/<int:source_id>/edit/", source_views.source_edit, name="source_edit"),
    path("import/sources/<int:source_id>/check/", source_views.source_check, name="source_check"),
    path("import/sources/<int:source_id>/remove/", source_views.source_remove, name="source_remove"),
    path("import/sources/<int:source_id>/fetch/", source_views.source_fetch, name="source_fetch"),
    path("import/sources/<int:source_id>/schedule/", schedule_views.source_schedule, name="source_schedule"),
    path(
        "import/sources/<int:source_id>/fetches/<int:run_id>/restore/",
        source_views.source_restore,
        name="source_restore",
    ),
    path("import/sources/<int:source_id>/fetches/<int:run_id>/go-on/", source_views.source_go_on, name="source_go_on"),
    path(
        "import/sources/<int:source_id>/fetches/<int:run_id>/cancel/", source_views.source_cancel, name="source_cancel"
    ),
]
