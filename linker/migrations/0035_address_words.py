"""The queue is searched by addresses that pages had before they moved."""

import django.contrib.postgres.indexes
from django.db import migrations

import linker.models.search_words


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0034_event_addresses'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='pageaddress',
            index=django.contrib.postgres.indexes.GinIndex(
                linker.models.search_words.SearchWords('url'), name='page_address_words'
            ),
        ),
    ]
