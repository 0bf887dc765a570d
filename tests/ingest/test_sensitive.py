"""An import that moves a page into a sensitive category puts its suggestions before a person."""

from __future__ import annotations

import pytest

from ingest import services
from linker.models import Page, SensitiveCategory
from linker.models.policy import Sensitivity
from tests.factories import make_category, make_edge
from tests.ingest.files import SITE, write

pytestmark = pytest.mark.django_db
HEADER = ("Address", "Title 1", "Breadcrumb_Name 1", "Breadcrumb_Name 2")


def test_suggestions_become_and_cease_to_be_sensitive_with_the_category_of_their_pages(project, tmp_path):
    def load(name: str, topic: str) -> None:
        rows = [(f"{SITE}/a", "A", "Shop", "Tents"), (f"{SITE}/b", "B", "Magazine", topic)]
        services.import_pages(project, write(tmp_path / name, HEADER, rows))

    load("first.csv", "Travel")
    SensitiveCategory.objects.create(
        project=project, category=make_category(project, "Magazine", "Health"), kind=Sensitivity.MEDICAL
    )
    edge = make_edge(project, Page.objects.get(url=f"{SITE}/a"), Page.objects.get(url=f"{SITE}/b"))
    for name, topic, reason in (
        ("moved.csv", "Health", "The acceptor is medical (Magazine › Health)"),
        ("back.csv", "Travel", ""),
    ):
        load(name, topic)
        edge.refresh_from_db()
        assert edge.sensitive == reason
