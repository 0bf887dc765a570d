"""Django's PostgreSQL backend, starting the embedded servers before the first connection."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base

from linker import embedded


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        if not self.settings_dict["HOST"]:
            address = embedded.start_postgres(settings.VAR)
            self.settings_dict["HOST"], self.settings_dict["PORT"] = address.host, str(address.port)
            if settings.REDIS_IS_EMBEDDED:
                embedded.start_redis(settings.VAR)
        return super().get_connection_params()
