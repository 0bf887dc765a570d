"""Decisions and releases. What people said and what left is append-only."""

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

TABLES = {
    "review_decision": "decisions are append-only",
    "review_releaselink": "what left with a release is append-only",
    "review_heldback": "what left with a release is append-only",
}
APPEND_ONLY = "".join(
    f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
    f"FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('{message}');\n"
    for table, message in TABLES.items()
)
NOT_APPEND_ONLY = "".join(f"DROP TRIGGER {table}_append_only ON {table};\n" for table in TABLES)


class Migration(migrations.Migration):

    initial = True

    # What databases of before version 0.2 have applied in its place.
    replaces = [
        ('review', '0001_review'),
        ('review', '0002_append_only'),
        ('review', '0003_seen'),
        ('review', '0024_operations'),
        ('review', '0026_overruled'),
        ('review', '0027_held_back_reasons'),
        ('review', '0028_labels'),
        ('review', '0029_source_before'),
        ('review', '0030_append_only'),
        ('review', '0031_rejected_for'),
    ]

    dependencies = [
        ('linker', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('verb', models.CharField(choices=[('accept', 'Accepted'), ('edit', 'Accepted with an edit'), ('reject', 'Rejected'), ('undo', 'Undone'), ('confirm', 'Confirmed'), ('withdraw', 'Withdrawn')], max_length=8)),
                ('reason', models.CharField(blank=True, choices=[('irrelevant', 'Not relevant'), ('wrong_target', 'Wrong acceptor'), ('bad_anchor', 'Poor anchor'), ('duplicate', 'Already linked, or a duplicate'), ('too_many', 'Too many links on this page'), ('outdated', 'Page out of date'), ('sensitive', 'Too sensitive to link'), ('other', 'Something else')], default='', max_length=16)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('batch', models.UUIDField(blank=True, null=True)),
                ('status_before', models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('status_after', models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('anchor_before', models.TextField()),
                ('source_before', models.CharField(blank=True, default='', max_length=20)),
                ('anchor_after', models.TextField()),
                ('rel_before', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], max_length=8)),
                ('rel_after', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], max_length=8)),
                ('edited_before', models.BooleanField(default=False)),
                ('seen_score', models.FloatField()),
                ('seen_similarity', models.FloatField()),
                ('seen_tier', models.CharField(blank=True, default='', max_length=40)),
                ('seen_placement', models.CharField(max_length=8)),
                ('seen_ranked_by', models.CharField(blank=True, default='', max_length=8)),
                ('seen_probability', models.FloatField(blank=True, null=True)),
                ('seen_quantile', models.FloatField(blank=True, null=True)),
                ('seen_span_start', models.PositiveIntegerField(blank=True, null=True)),
                ('seen_span_end', models.PositiveIntegerField(blank=True, null=True)),
                ('seen_content_gap', models.BooleanField(default=False)),
                ('overruled', models.JSONField(db_default=models.Value([], models.JSONField()), default=list)),
                ('position', models.PositiveIntegerField(blank=True, help_text='Place in the list shown, from 1', null=True)),
                ('edge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='linker.candidateedge')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='linker.project')),
                ('seen_run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.run')),
                ('undoes', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='undone_by', to='review.decision')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['project', '-id'], name='decision_recent'),
                    models.Index(fields=['edge', '-id'], name='decision_of_edge'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('undoes__isnull', False), ('verb', 'undo')), models.Q(models.Q(('verb', 'undo'), _negated=True), ('undoes__isnull', True)), _connector='OR'), name='decision_undo_names_one'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Pending',
            fields=[
                ('edge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pending', serialize=False, to='linker.candidateedge')),
                ('operation', models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], max_length=6)),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.decision')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('operation__in', ['change', 'remove'])), name='pending_is_no_addition'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='Counts within the project, from 1')),
                ('format', models.CharField(choices=[('full', 'Full CSV'), ('joil', 'JOIL, three columns')], default='full', max_length=8)),
                ('filters', models.JSONField(default=dict, help_text='The query that chose the links')),
                ('status', models.CharField(help_text='suggested, accepted or all, as asked for', max_length=10)),
                ('links', models.PositiveIntegerField()),
                ('added', models.PositiveIntegerField(default=0)),
                ('changed', models.PositiveIntegerField(default=0)),
                ('removed', models.PositiveIntegerField(default=0)),
                ('held', models.PositiveIntegerField(default=0, help_text='Approved, and kept back')),
                ('bytes', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='releases', to='linker.project')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [
                    models.UniqueConstraint(fields=('project', 'number'), name='release_number_once'),
                    models.CheckConstraint(condition=models.Q(('links', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('added'), '+', models.F('changed')), '+', models.F('removed')))), name='release_links_are_its_operations'),
                ],
            },
        ),
        migrations.CreateModel(
            name='HeldBack',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], default='add', max_length=6)),
                ('reason', models.CharField(choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('sensitive', 'Sensitive, nobody has looked'), ('not_looked', 'Not yet looked through for what is sensitive'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor')], max_length=16)),
                ('detail', models.TextField(blank=True, default='')),
                ('edge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.candidateedge')),
                ('release', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='held_back', to='review.release')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('release', 'edge'), name='held_back_once'),
                    models.CheckConstraint(condition=models.Q(('reason__in', ['gone', 'redirected', 'not_indexable', 'excluded', 'sensitive', 'not_looked', 'linked', 'words_gone', 'same_anchor', 'donor_full', 'acceptor_full'])), name='held_back_reason_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ReleaseChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='review.release')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('release', 'number'), name='release_chunk_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ReleaseLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], default='add', max_length=6)),
                ('anchor', models.TextField()),
                ('rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], max_length=8)),
                ('edge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='release_links', to='linker.candidateedge')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='release_links', to='review.release')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['edge', '-id'], name='release_link_of_edge'),
                    models.Index(fields=['release', '-id'], name='release_link_of_release'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('release', 'edge'), name='release_link_once'),
                    models.CheckConstraint(condition=models.Q(('operation__in', ['add', 'change', 'remove'])), name='release_link_operation_known'),
                    models.CheckConstraint(condition=models.Q(('rel__in', ['follow', 'nofollow', 'ugc'])), name='release_link_rel_known'),
                    models.CheckConstraint(condition=models.Q(('anchor', ''), _negated=True), name='release_link_anchor_not_empty'),
                ],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
