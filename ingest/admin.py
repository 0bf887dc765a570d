"""Django's administration of uploads: only shown, because an import tells where its rows came from."""

from django.contrib import admin

from ingest.models import Upload
from linker.admin import ReadOnlyAdmin


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ["name", "project", "kind", "bytes", "uploaded_by", "at"]
    list_select_related = ["project", "uploaded_by"]
    list_filter = ["project", "kind"]
    search_fields = ["name"]
