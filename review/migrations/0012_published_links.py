"""What is out, as the sum of what was released, the life of each link, and drafts of releases."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# Each link as it was released last. Nothing is known of the site yet.
FILL = """
INSERT INTO review_publishedlink (edge_id, project_id, release_id, is_out, anchor, rel, released_at, state, since,
    seen_anchor, closed_note)
SELECT DISTINCT ON (l.edge_id) l.edge_id, r.project_id, r.id, l.operation <> 'remove', l.anchor, l.rel, r.created_at,
    CASE l.operation WHEN 'remove' THEN 'still' ELSE 'sent' END, r.created_at, '', ''
FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
ORDER BY l.edge_id, l.id DESC
"""
APPEND_ONLY = (
    "CREATE TRIGGER review_linkevent_append_only BEFORE UPDATE OR DELETE ON review_linkevent "
    "FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('the life of a link is append-only');"
)
NOT_APPEND_ONLY = "DROP TRIGGER review_linkevent_append_only ON review_linkevent;"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0016_released_links'),
        ('review', '0011_operation_keys'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='heldback',
            name='held_back_reason_known',
        ),
        migrations.AddField(
            model_name='release',
            name='back_to',
            field=models.ForeignKey(blank=True, help_text='Rolled back to it', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.release'),
        ),
        migrations.AlterField(
            model_name='decision',
            name='verb',
            field=models.CharField(choices=[('accept', 'Accepted'), ('edit', 'Accepted with an edit'), ('reject', 'Rejected'), ('undo', 'Undone'), ('confirm', 'Confirmed'), ('withdraw', 'Withdrawn'), ('rollback', 'Rolled back')], max_length=8),
        ),
        migrations.AlterField(
            model_name='heldback',
            name='reason',
            field=models.CharField(choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('suppressed', 'Ruled out by an editor'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor'), ('changed', 'Changed since the draft was made')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='heldback',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['gone', 'redirected', 'not_indexable', 'excluded', 'suppressed', 'sensitive', 'not_looked', 'linked', 'words_gone', 'same_anchor', 'donor_full', 'acceptor_full', 'changed'])), name='held_back_reason_known'),
        ),
        migrations.RemoveConstraint(
            model_name='pending',
            name='pending_is_no_addition',
        ),
        migrations.AddConstraint(
            model_name='pending',
            constraint=models.CheckConstraint(condition=models.Q(('operation__in', ['add', 'change', 'remove'])), name='pending_operation_known'),
        ),
        migrations.CreateModel(
            name='ReleaseDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='linker.project')),
                ('filters', models.JSONField(default=dict, help_text='The query that chose the links')),
                ('format', models.CharField(choices=[('full', 'Full CSV'), ('joil', 'JOIL, three columns')], default='full', max_length=8)),
                ('bom', models.BooleanField(default=False)),
                ('back_to', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.release')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('filled_at', models.DateTimeField(blank=True, null=True)),
                ('added', models.PositiveIntegerField(default=0)),
                ('changed', models.PositiveIntegerField(default=0)),
                ('removed', models.PositiveIntegerField(default=0)),
                ('held', models.PositiveIntegerField(default=0)),
                ('release', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='draft', to='review.release')),
                ('discarded_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('release__isnull', True), ('discarded_at__isnull', True), _connector='OR'), name='draft_published_or_discarded')],
            },
        ),
        migrations.CreateModel(
            name='DraftLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('draft', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='draft_links', to='review.releasedraft')),
                ('edge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.candidateedge')),
                ('operation', models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], max_length=6)),
                ('anchor', models.TextField()),
                ('rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], max_length=8)),
                ('anchor_out', models.TextField(blank=True, default='')),
                ('rel_out', models.CharField(blank=True, choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], default='', max_length=8)),
                ('reason', models.CharField(blank=True, choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('suppressed', 'Ruled out by an editor'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor'), ('changed', 'Changed since the draft was made')], default='', max_length=16)),
                ('detail', models.TextField(blank=True, default='')),
            ],
            options={
                'indexes': [models.Index(fields=['draft', 'reason', 'operation', 'id'], name='draft_link_by_operation')],
                'constraints': [models.UniqueConstraint(fields=('draft', 'edge'), name='draft_link_once'), models.CheckConstraint(condition=models.Q(('operation__in', ['add', 'change', 'remove'])), name='draft_link_operation'), models.CheckConstraint(condition=models.Q(('anchor', ''), _negated=True), name='draft_link_anchor_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='PublishedLink',
            fields=[
                ('edge', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='published', serialize=False, to='linker.candidateedge')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('release', models.ForeignKey(db_index=False, help_text='The last that named it', on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.release')),
                ('is_out', models.BooleanField(default=True)),
                ('anchor', models.TextField()),
                ('rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], max_length=8)),
                ('released_at', models.DateTimeField(help_text='When it was released last')),
                ('state', models.CharField(choices=[('sent', 'Released'), ('live', 'Live'), ('different', 'Live, with other words or another rel'), ('moved', 'Acceptor moved'), ('missing', 'Not found'), ('lost', 'Was live, and is gone'), ('target', 'Acceptor gone'), ('donor', 'Donor gone'), ('still', 'To be removed'), ('removed', 'Removed')], default='sent', max_length=9)),
                ('since', models.DateTimeField(help_text='Since when it is in this state')),
                ('looked_at', models.DateTimeField(blank=True, help_text='When an import of links was last asked', null=True)),
                ('seen_anchor', models.TextField(blank=True, default='')),
                ('seen_follow', models.BooleanField(blank=True, null=True)),
                ('first_live_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('closed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('closed_note', models.CharField(blank=True, default='', max_length=500)),
            ],
            options={
                'indexes': [models.Index(fields=['project', 'state', 'since', 'edge'], name='published_by_state')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['sent', 'live', 'different', 'moved', 'missing', 'lost', 'target', 'donor', 'still', 'removed'])), name='published_state_known'), models.CheckConstraint(condition=models.Q(('rel__in', ['follow', 'nofollow', 'ugc'])), name='published_rel_known'), models.CheckConstraint(condition=models.Q(('anchor', ''), _negated=True), name='published_anchor_not_empty'), models.CheckConstraint(condition=models.Q(('closed_at__isnull', False), models.Q(('closed_by__isnull', True), ('closed_note', '')), _connector='OR'), name='published_open_says_nothing')],
            },
        ),
        migrations.CreateModel(
            name='LinkEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('edge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='link_events', to='linker.candidateedge')),
                ('at', models.DateTimeField()),
                ('before', models.CharField(blank=True, default='', max_length=9)),
                ('after', models.CharField(choices=[('sent', 'Released'), ('live', 'Live'), ('different', 'Live, with other words or another rel'), ('moved', 'Acceptor moved'), ('missing', 'Not found'), ('lost', 'Was live, and is gone'), ('target', 'Acceptor gone'), ('donor', 'Donor gone'), ('still', 'To be removed'), ('removed', 'Removed')], max_length=9)),
                ('release', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.release')),
                ('run', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.run')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('seen_anchor', models.TextField(blank=True, default='')),
                ('note', models.CharField(blank=True, default='', max_length=500)),
            ],
            options={
                'indexes': [models.Index(fields=['edge', 'id'], name='link_event_of_edge')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
