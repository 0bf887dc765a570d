"""Addresses below /p/<slug>/; each view module keeps its own list."""

from review.web.views.bulk import bulk_urls
from review.web.views.deciding import deciding_urls
from review.web.views.left import left_urls
from review.web.views.queue import queue_urls
from review.web.views.releases import release_urls
from review.web.views.round_trip import sheet_urls
from review.web.views.team import team_urls

urlpatterns = [*queue_urls, *deciding_urls, *bulk_urls, *team_urls, *sheet_urls, *release_urls, *left_urls]
