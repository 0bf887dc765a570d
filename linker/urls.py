"""The composition root of the addresses. Names without a namespace; each app keeps its own list."""

from django.contrib import admin
from django.urls import include, path
from django_rq.urls import get_admin_urlpatterns, get_api_urlpatterns

from linker.web.views.queues import for_superusers

handler500 = "linker.web.views.errors.server_error"

queues = get_admin_urlpatterns(view_wrapper=for_superusers)
# These have no place for a wrapper of their own.
for _pattern in get_api_urlpatterns():
    _pattern.callback = for_superusers(_pattern.callback)
    queues.append(_pattern)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("django-rq/", include((queues, "django_rq"))),
    path("p/<slug:slug>/", include("ingest.web.urls")),
    path("p/<slug:slug>/", include("review.web.urls")),
    path("", include("linker.web.urls")),
]
