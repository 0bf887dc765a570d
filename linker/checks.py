"""System checks of the deployment."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, register


@register
def secret_key_is_set(**kwargs: Any) -> list[Error]:
    if settings.PRODUCTION and settings.SECRET_KEY == settings.DEVELOPMENT_SECRET_KEY:
        return [Error("SECRET_KEY is unset: set it to a long random string.", id="anchorline.E001")]
    return []
