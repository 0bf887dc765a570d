"""The language that each page's text is in. It is read at the next import or match."""

import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("linker", "0034_copies"),
    ]

    operations = [
        migrations.AddField(
            model_name='page',
            name='detected_language',
            field=models.CharField(blank=True, db_default='', default='', max_length=8),
        ),
        migrations.AddField(
            model_name='page',
            name='language_read',
            field=models.BigIntegerField(blank=True, help_text='Tells whether the text is still the one that the language was detected in', null=True),
        ),
        migrations.AddField(
            model_name='page',
            name='language_sureness',
            field=models.FloatField(db_default=0.0, default=0.0),
        ),
        migrations.AddField(
            model_name='project',
            name='link_languages',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether pages in different languages may be linked'),
        ),
        migrations.AddField(
            model_name='page',
            name='own_language',
            field=models.GeneratedField(db_persist=True, expression=models.Case(models.When(language_sureness__gte=0.9, then=models.F('detected_language')), default=models.Func(django.db.models.functions.text.Replace(django.db.models.functions.text.Lower(django.db.models.functions.text.Trim('language')), models.Value('_'), models.Value('-')), models.Value('-'), models.Value(1), function='split_part', output_field=models.CharField())), help_text='The language the page counts as; empty where it counts as the project’s usual one', output_field=models.CharField(max_length=35)),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(fields=['project', 'own_language', 'id'], condition=models.Q(missing_since__isnull=True), name='page_by_language'),
        ),
    ]
