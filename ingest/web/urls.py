from django.urls import path

from ingest.web import views

urlpatterns = [
    path("match/lists/", views.page_list_add, name="page_list_add"),
    path("import/", views.import_, name="import"),
    path("import/source/", views.import_source, name="import_source"),
    path("import/<int:upload_id>/", views.import_preview, name="import_preview"),
    path("import/runs/<int:run_id>/skipped/", views.import_skipped, name="import_skipped"),
]
