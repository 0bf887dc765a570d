"""What became of each page, since when, and where its suggestions and numbers went."""

import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

TABLES = {
    "linker_pageevent": "the events of a page are append-only",
    "linker_edgemove": "what became of a suggestion is append-only",
    "linker_movedtraffic": "what a page had brought is append-only",
    "linker_movedquery": "what a page had brought is append-only",
}
APPEND_ONLY = "".join(
    f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
    f"FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('{message}');"
    for table, message in TABLES.items()
)
NOT_APPEND_ONLY = "".join(f"DROP TRIGGER {table}_append_only ON {table};" for table in TABLES)
# What was called killed is removed.
REMOVED = "UPDATE linker_page SET status = 'removed' WHERE status = 'killed'"
KILLED = "UPDATE linker_page SET status = 'killed' WHERE status = 'removed'"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0031_changes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(REMOVED, KILLED),
        migrations.CreateModel(
            name='EdgeMove',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('reason', models.CharField(choices=[('moved', 'Its page leads to another, and so does the link now'), ('swapped', 'A link of a page that leads here was decided on, and stands in its place'), ('exists', 'Its page leads to another, which has this link already'), ('itself', 'Both of its pages are one now'), ('linked', 'Its page leads to another, which the site links there already'), ('gone', 'Its page was removed'), ('back', 'Its pages are live again'), ('address', 'Its page has another address')], max_length=8)),
                ('source_before', models.BigIntegerField()),
                ('target_before', models.BigIntegerField()),
                ('source_after', models.BigIntegerField()),
                ('target_after', models.BigIntegerField()),
                ('status_before', models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('status_after', models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('closed', models.BooleanField(help_text='Whether it was open or accepted, and is so no longer')),
                ('run', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='MovedQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query', models.TextField()),
                ('source', models.CharField(choices=[('search_console', 'Search Console'), ('joil', 'url, query, importance')], max_length=16)),
                ('clicks', models.IntegerField(blank=True, null=True)),
                ('impressions', models.IntegerField(blank=True, null=True)),
                ('position', models.FloatField(blank=True, null=True)),
                ('importance', models.FloatField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'moved queries',
            },
        ),
        migrations.CreateModel(
            name='MovedTraffic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('clicks', models.BigIntegerField(blank=True, null=True)),
                ('impressions', models.BigIntegerField(blank=True, null=True)),
                ('position', models.FloatField(blank=True, null=True)),
                ('hits', models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'moved traffic',
            },
        ),
        migrations.CreateModel(
            name='PageAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField()),
                ('canonical_url', models.TextField()),
                ('until', models.DateTimeField(help_text='When the page moved away from it')),
            ],
            options={
                'verbose_name_plural': 'page addresses',
            },
        ),
        migrations.CreateModel(
            name='PageEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('created', 'Created'), ('changed', 'Changed'), ('merged', 'Merged'), ('redirected', 'Redirected'), ('removed', 'Removed'), ('moved', 'Moved to another address'), ('restored', 'Live again')], max_length=10)),
                ('old_url', models.TextField()),
                ('new_url', models.TextField(blank=True, default='')),
                ('at', models.DateTimeField()),
                ('told_at', models.DateTimeField(auto_now_add=True)),
                ('origin', models.CharField(choices=[('crawl', 'Crawl'), ('file', 'File of events'), ('command', 'Command')], max_length=8)),
            ],
        ),
        migrations.AddField(
            model_name='page',
            name='state_since',
            field=models.DateTimeField(blank=True, help_text='Empty where it is as it was first seen', null=True),
        ),
        migrations.AddField(
            model_name='page',
            name='successor',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The page that it was merged into or redirects to in the end', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.page'),
        ),
        migrations.AlterField(
            model_name='page',
            name='status',
            field=models.CharField(choices=[('live', 'Live'), ('merged', 'Merged'), ('redirected', 'Redirected'), ('removed', 'Removed')], default='live', max_length=10),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('import_events', 'Import page events'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('withdraw', 'Withdraw a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report'), ('audit', 'Draw an audit'), ('safety', 'Apply safety classes'), ('calibrate', 'Draw a calibration'), ('alerts', 'Look for alerts'), ('caps', 'Apply caps'), ('fetch', 'Fetch'), ('changes', 'Match what changed')], max_length=16),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('status', 'live'), _negated=True), fields=['project', 'status'], name='page_not_live'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('successor__isnull', False)), fields=['successor'], name='page_with_a_successor'),
        ),
        migrations.AddConstraint(
            model_name='page',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['live', 'merged', 'redirected', 'removed'])), name='page_status_known'),
        ),
        migrations.AddConstraint(
            model_name='page',
            constraint=models.CheckConstraint(condition=models.Q(('successor', None), models.Q(('status__in', ('merged', 'redirected')), models.Q(('successor', models.F('id')), _negated=True)), _connector='OR'), name='page_with_a_successor_leads_there'),
        ),
        migrations.AddField(
            model_name='edgemove',
            name='edge',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='moves', to='linker.candidateedge'),
        ),
        migrations.AddField(
            model_name='edgemove',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project'),
        ),
        migrations.AddField(
            model_name='movedtraffic',
            name='period',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.trafficperiod'),
        ),
        migrations.AddField(
            model_name='pageaddress',
            name='page',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_addresses', to='linker.page'),
        ),
        migrations.AddField(
            model_name='pageaddress',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project'),
        ),
        migrations.AddField(
            model_name='pageevent',
            name='other',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page'),
        ),
        migrations.AddField(
            model_name='pageevent',
            name='page',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='linker.page'),
        ),
        migrations.AddField(
            model_name='pageevent',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project'),
        ),
        migrations.AddField(
            model_name='pageevent',
            name='run',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.run'),
        ),
        migrations.AddField(
            model_name='pageevent',
            name='user',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='movedtraffic',
            name='event',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='traffic', to='linker.pageevent'),
        ),
        migrations.AddField(
            model_name='movedquery',
            name='event',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queries', to='linker.pageevent'),
        ),
        migrations.AddField(
            model_name='edgemove',
            name='event',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.pageevent'),
        ),
        migrations.AddConstraint(
            model_name='pageaddress',
            constraint=models.UniqueConstraint(models.F('project'), django.db.models.functions.text.MD5('canonical_url'), name='page_address_once'),
        ),
        migrations.AddIndex(
            model_name='pageevent',
            index=models.Index(fields=['project', '-id'], name='page_event_newest'),
        ),
        migrations.AddConstraint(
            model_name='pageevent',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['created', 'changed', 'merged', 'redirected', 'removed', 'moved', 'restored'])), name='page_event_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='pageevent',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['crawl', 'file', 'command'])), name='page_event_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='pageevent',
            constraint=models.CheckConstraint(condition=models.Q(('other', models.F('page')), _negated=True), name='page_event_not_of_itself'),
        ),
        migrations.AddConstraint(
            model_name='pageevent',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'merged'), _negated=True), ('other__isnull', False), _connector='OR'), name='page_event_merged_into_one'),
        ),
        migrations.AddConstraint(
            model_name='pageevent',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'moved'), _negated=True), models.Q(('new_url', ''), _negated=True), _connector='OR'), name='page_event_moved_somewhere'),
        ),
        migrations.AddConstraint(
            model_name='pageevent',
            constraint=models.UniqueConstraint(models.F('page'), models.F('at'), models.F('kind'), django.db.models.functions.text.MD5('new_url'), name='page_event_once'),
        ),
        migrations.AddConstraint(
            model_name='movedtraffic',
            constraint=models.UniqueConstraint(fields=('event', 'period'), name='moved_traffic_once'),
        ),
        migrations.AddConstraint(
            model_name='movedquery',
            constraint=models.UniqueConstraint(models.F('event'), models.F('source'), django.db.models.functions.text.MD5('query'), name='moved_query_once'),
        ),
        migrations.AddIndex(
            model_name='edgemove',
            index=models.Index(fields=['edge', '-id'], name='edge_move_of_edge'),
        ),
        migrations.AddIndex(
            model_name='edgemove',
            index=models.Index(condition=models.Q(('closed', True)), fields=['project', 'edge'], name='edge_move_closed'),
        ),
        migrations.AddConstraint(
            model_name='edgemove',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['moved', 'swapped', 'exists', 'itself', 'linked', 'gone', 'back', 'address'])), name='edge_move_reason_known'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
