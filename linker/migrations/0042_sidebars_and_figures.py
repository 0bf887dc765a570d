"""Sidebars of the whole site; pages that moved or went no longer count as pages, so that figures are counted anew."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0041_restore_pages'),
    ]

    operations = [
        migrations.RunSQL("DELETE FROM linker_keptfigures", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='keptfigures',
            name='left',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='page',
            name='in_sidebar',
            field=models.BooleanField(db_default=False, default=False, help_text='Linked beside the text of so many pages that the link is the template’s; kept by the links import'),
        ),
        migrations.AlterField(
            model_name='project',
            name='queue_order',
            field=models.CharField(choices=[('donor', 'Donor by donor, highest score first'), ('need', 'Donor by donor, score and need together'), ('target', 'Acceptor by acceptor, most needed first'), ('category', 'Category by category'), ('score', 'Highest score first, in one list')], db_default='donor', default='donor', max_length=8),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('in_sidebar', True)), fields=['project'], name='page_in_sidebar'),
        ),
    ]
