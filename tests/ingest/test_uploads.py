"""Files are written to the disk for signed-in people at the import form, up to the limit, and for nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.test import Client
from django.urls import reverse

from ingest.models import Upload

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.django_db
MEGABYTE = b"a,b\n" * 2**18


@pytest.fixture
def written(settings, tmp_path, monkeypatch) -> list[Path]:
    """The temporary files that are begun."""
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    begun: list[Path] = []
    make = TemporaryUploadedFile.__init__

    def noting(self, *args, **kwargs) -> None:
        make(self, *args, **kwargs)
        begun.append(self.temporary_file_path())

    monkeypatch.setattr(TemporaryUploadedFile, "__init__", noting)
    return begun


def post(client: Client, address: str, content: bytes = MEGABYTE):
    client.cookies["csrftoken"] = "c" * 32  # so that the CSRF check reads the body
    return client.post(address, {"file": SimpleUploadedFile("crawl.csv", content), "csrfmiddlewaretoken": "c" * 32})


def test_what_is_over_the_limit_is_refused_before_it_is_read(project, manager, client_for, settings, written):
    settings.UPLOAD_MAX_MB = 1
    for client, address in (
        (Client(enforce_csrf_checks=True), reverse("login")),
        (client_for(manager), reverse("import", args=["shop"])),
    ):
        answer = post(client, address, MEGABYTE * 20)
        assert answer.status_code == 400
        assert "larger than this server accepts" in answer.text
    assert not written
    assert not Upload.objects.exists()


def test_strangers_leave_no_file_anywhere(project, settings, written):
    client = Client(enforce_csrf_checks=True)
    client.cookies["sessionid"] = "made-up"
    for address in (reverse("login"), reverse("import", args=["shop"])):
        assert post(client, address).status_code in (200, 302, 403)
    assert not written


def test_no_other_page_takes_files(project, manager, client_for, written):
    post(client_for(manager), reverse("settings", args=["shop"]))
    assert not written


def test_the_import_form_takes_them(project, manager, client_for, written):
    answer = post(client_for(manager), reverse("import", args=["shop"]), b"Address,Title\nhttps://shop.example/a,A\n")
    assert answer.url == reverse("import_preview", args=["shop", Upload.objects.get().pk])
    assert len(written) == 1
