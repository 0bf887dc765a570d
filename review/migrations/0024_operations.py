"""Releases change and remove links, too, and say what they kept back. What left before was added as it still stands."""

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models


BACKFILL = """
UPDATE review_release SET added = links;
UPDATE review_releaselink l SET anchor = e.anchor, rel = e.rel FROM linker_candidateedge e WHERE e.id = l.edge_id;
"""
# Like decisions: neither changed nor deleted, unless a purge of a whole project says so in its transaction.
APPEND_ONLY = """
CREATE FUNCTION review_release_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('anchorline.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'what left with a release is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER review_releaselink_append_only BEFORE UPDATE OR DELETE ON review_releaselink
    FOR EACH ROW EXECUTE FUNCTION review_release_is_append_only();
CREATE TRIGGER review_heldback_append_only BEFORE UPDATE OR DELETE ON review_heldback
    FOR EACH ROW EXECUTE FUNCTION review_release_is_append_only();
"""
NOT_APPEND_ONLY = """
DROP TRIGGER review_releaselink_append_only ON review_releaselink;
DROP TRIGGER review_heldback_append_only ON review_heldback;
DROP FUNCTION review_release_is_append_only();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0024_withdrawn'),
        ('review', '0003_seen'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='HeldBack',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], default='add', max_length=6)),
                ('reason', models.CharField(choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('sensitive', 'Sensitive, nobody has looked'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor')], max_length=16)),
                ('detail', models.TextField(blank=True, default='')),
            ],
        ),
        migrations.CreateModel(
            name='Pending',
            fields=[
                ('edge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pending', serialize=False, to='linker.candidateedge')),
                ('operation', models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], max_length=6)),
            ],
        ),
        migrations.AddField(
            model_name='release',
            name='added',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='release',
            name='changed',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='release',
            name='held',
            field=models.PositiveIntegerField(default=0, help_text='Approved, and kept back'),
        ),
        migrations.AddField(
            model_name='release',
            name='removed',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='releaselink',
            name='anchor',
            field=models.TextField(default=''),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='releaselink',
            name='operation',
            field=models.CharField(choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove')], default='add', max_length=6),
        ),
        migrations.AddField(
            model_name='releaselink',
            name='rel',
            field=models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], default='', max_length=8),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name='decision',
            name='status_after',
            field=models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10),
        ),
        migrations.AlterField(
            model_name='decision',
            name='status_before',
            field=models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10),
        ),
        migrations.AlterField(
            model_name='decision',
            name='verb',
            field=models.CharField(choices=[('accept', 'Accepted'), ('edit', 'Accepted with an edit'), ('reject', 'Rejected'), ('undo', 'Undone'), ('confirm', 'Confirmed'), ('withdraw', 'Withdrawn')], max_length=8),
        ),
        migrations.AlterField(
            model_name='releaselink',
            name='edge',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='release_links', to='linker.candidateedge'),
        ),
        migrations.AddIndex(
            model_name='releaselink',
            index=models.Index(fields=['edge', '-id'], name='release_link_of_edge'),
        ),
        migrations.AddIndex(
            model_name='releaselink',
            index=models.Index(fields=['release', '-id'], name='release_link_of_release'),
        ),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.CheckConstraint(condition=models.Q(('links', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('added'), '+', models.F('changed')), '+', models.F('removed')))), name='release_links_are_its_operations'),
        ),
        migrations.AddConstraint(
            model_name='releaselink',
            constraint=models.CheckConstraint(condition=models.Q(('operation__in', ['add', 'change', 'remove'])), name='release_link_operation_known'),
        ),
        migrations.AddConstraint(
            model_name='releaselink',
            constraint=models.CheckConstraint(condition=models.Q(('rel__in', ['follow', 'nofollow', 'ugc'])), name='release_link_rel_known'),
        ),
        migrations.AddConstraint(
            model_name='releaselink',
            constraint=models.CheckConstraint(condition=models.Q(('anchor', ''), _negated=True), name='release_link_anchor_not_empty'),
        ),
        migrations.AddField(
            model_name='heldback',
            name='edge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.candidateedge'),
        ),
        migrations.AddField(
            model_name='heldback',
            name='release',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='held_back', to='review.release'),
        ),
        migrations.AddField(
            model_name='pending',
            name='decision',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.decision'),
        ),
        migrations.AddField(
            model_name='pending',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project'),
        ),
        migrations.AddConstraint(
            model_name='heldback',
            constraint=models.UniqueConstraint(fields=('release', 'edge'), name='held_back_once'),
        ),
        migrations.AddConstraint(
            model_name='heldback',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['gone', 'redirected', 'not_indexable', 'excluded', 'sensitive', 'linked', 'words_gone', 'same_anchor', 'donor_full'])), name='held_back_reason_known'),
        ),
        migrations.AddConstraint(
            model_name='pending',
            constraint=models.CheckConstraint(condition=models.Q(('operation__in', ['change', 'remove'])), name='pending_is_no_addition'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
