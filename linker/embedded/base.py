"""Django's PostgreSQL backend, starting the embedded servers before the first connection."""

from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base

from linker import embedded


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        if not self.settings_dict["HOST"]:
            self._start_servers()
        return super().get_connection_params()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A server that was there and is gone is started again."""
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError:
            self._start_servers()
            return super().get_new_connection(self.get_connection_params())

    def _start_servers(self) -> None:
        address = embedded.start_postgres(settings.VAR)
        self.settings_dict["HOST"], self.settings_dict["PORT"] = address.host, str(address.port)
        if settings.REDIS_IS_EMBEDDED:
            embedded.start_redis(settings.VAR)
