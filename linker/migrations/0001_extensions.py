"""The extension that the vectors need."""

from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    initial = True
    operations = [VectorExtension()]
