"""Reasons for holding a link back, in clearer words: nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0001_initial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='heldback',
            name='reason',
            field=models.CharField(choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor')], max_length=16),
        ),
    ]
