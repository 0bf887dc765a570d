"""Files go to the disk only where they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler

if TYPE_CHECKING:
    from django.http import HttpRequest

BESIDE_THE_FILE = 2**20  # bytes for the other fields of the form


class ImportUploadHandler(TemporaryFileUploadHandler):
    """Takes files for the import form, from people who are signed in; others are passed over unwritten.

    The body of a request is read by the CSRF check already, before any view or its access rules have a say. Raises
    RequestDataTooBig, which is answered with 400, where the body cannot hold a file within UPLOAD_MAX_MB.
    """

    request: HttpRequest

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        if content_length > settings.UPLOAD_MAX_MB * 2**20 + BESIDE_THE_FILE:
            raise RequestDataTooBig(f"The upload is larger than {settings.UPLOAD_MAX_MB:,} MB (UPLOAD_MAX_MB).")

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        match = self.request.resolver_match
        user = getattr(self.request, "user", None)
        if match is None or match.url_name != "import" or user is None or not user.is_authenticated:
            raise SkipFile
        super().new_file(*args, **kwargs)
