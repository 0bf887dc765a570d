"""One name for the place beside the text, in what is offered to choose from."""

from django.db import migrations, models

PLACES = [('inline', 'In the text'), ('related', 'Beside the text')]


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0013_sections_after'),
    ]

    operations = [
        migrations.AlterField(
            model_name='candidateedge',
            name='placement',
            field=models.CharField(choices=PLACES, default='related', max_length=8),
        ),
        migrations.AlterField(
            model_name='edgecount',
            name='placement',
            field=models.CharField(choices=PLACES, max_length=8),
        ),
        migrations.AlterField(
            model_name='knownanswer',
            name='placement',
            field=models.CharField(choices=PLACES, max_length=8),
        ),
        migrations.AlterField(
            model_name='tier',
            name='placement',
            field=models.CharField(choices=PLACES, default='related', max_length=8),
        ),
    ]
