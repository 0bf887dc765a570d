"""Links that are out keep the addresses that they were released with, where their pages have others by now."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0032_page_identity'),
        ('review', '0020_fewer_draft_indexes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='publishedlink',
            name='acceptor_was',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='publishedlink',
            name='donor_was',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AlterField(
            model_name='pending',
            name='decision',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.decision'),
        ),
        migrations.AddIndex(
            model_name='publishedlink',
            index=models.Index(condition=models.Q(models.Q(('donor_was', ''), _negated=True), models.Q(('acceptor_was', ''), _negated=True), _connector='OR'), fields=['project'], name='published_readdressed'),
        ),
        migrations.AddConstraint(
            model_name='pending',
            constraint=models.CheckConstraint(condition=models.Q(('decision__isnull', False), ('operation', 'change'), _connector='OR'), name='pending_asked_for_by_somebody'),
        ),
    ]
