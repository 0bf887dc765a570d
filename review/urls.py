"""Addresses below /p/<slug>/; each view module keeps its own list."""

from review.views.left import left_urls
from review.views.queue import queue_urls
from review.views.releases import release_urls

urlpatterns = [*queue_urls, *release_urls, *left_urls]
