"""The composition root of the addresses. Names without a namespace; each app keeps its own list."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("django-rq/", include("django_rq.urls")),
    path("p/<slug:slug>/", include("ingest.urls")),
    path("p/<slug:slug>/", include("review.urls")),
    path("", include("linker.views.urls")),
]
