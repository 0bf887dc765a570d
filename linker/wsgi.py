"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from linker.operations.logs import scrub_handlers_of

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

application = get_wsgi_application()
scrub_handlers_of("gunicorn.error", "gunicorn.access")
