"""Addresses below /p/<slug>/; each view module keeps its own list."""

from review.web.views.alerts import alert_urls
from review.web.views.alike_pages import alike_urls
from review.web.views.bulk import bulk_urls
from review.web.views.calibrations import calibration_urls
from review.web.views.client_report import client_report_urls
from review.web.views.deciding import deciding_urls
from review.web.views.drafts import draft_urls
from review.web.views.inbox import inbox_urls
from review.web.views.left import left_urls
from review.web.views.live import live_urls
from review.web.views.opinions import opinion_urls
from review.web.views.own_keys import own_key_urls
from review.web.views.quality import quality_urls
from review.web.views.queue import queue_urls
from review.web.views.release_files import release_file_urls
from review.web.views.releases import release_urls
from review.web.views.rollout import rollout_urls
from review.web.views.round_trip import sheet_urls
from review.web.views.second import second_urls
from review.web.views.suppressed import suppressed_urls
from review.web.views.team import team_urls

urlpatterns = [
    *queue_urls,
    *deciding_urls,
    *opinion_urls,
    *alike_urls,
    *inbox_urls,
    *own_key_urls,
    *bulk_urls,
    *team_urls,
    *sheet_urls,
    *second_urls,
    *suppressed_urls,
    *release_urls,
    *release_file_urls,
    *rollout_urls,
    *left_urls,
    *live_urls,
    *draft_urls,
    *client_report_urls,
    *quality_urls,
    *calibration_urls,
    *alert_urls,
]
