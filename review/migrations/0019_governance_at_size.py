"""What pages of governance would count is kept, and what they list has an index."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

_KIND = "project_id, state, is_closed"
_INTO = f"INSERT INTO review_publishedcount ({_KIND}, number)"
COUNTS = f"""
CREATE FUNCTION review_publishedcount_of_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {_INTO} SELECT project_id, state, closed_at IS NOT NULL, count(*) FROM new_links_written GROUP BY 1, 2, 3;
    ELSIF TG_OP = 'DELETE' THEN
        {_INTO} SELECT project_id, state, closed_at IS NOT NULL, -count(*) FROM old_links_written GROUP BY 1, 2, 3;
    ELSIF TG_OP = 'UPDATE' THEN
        {_INTO} SELECT {_KIND}, sum(number) FROM (
            SELECT project_id, state, closed_at IS NOT NULL, -1 FROM old_links_written
            UNION ALL
            SELECT project_id, state, closed_at IS NOT NULL, 1 FROM new_links_written
        ) written ({_KIND}, number) GROUP BY 1, 2, 3 HAVING sum(number) <> 0;
    ELSE
        DELETE FROM review_publishedcount;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER published_counts_of_new AFTER INSERT ON review_publishedlink
    REFERENCING NEW TABLE AS new_links_written FOR EACH STATEMENT EXECUTE FUNCTION review_publishedcount_of_links();
CREATE TRIGGER published_counts_of_changed AFTER UPDATE ON review_publishedlink
    REFERENCING OLD TABLE AS old_links_written NEW TABLE AS new_links_written
    FOR EACH STATEMENT EXECUTE FUNCTION review_publishedcount_of_links();
CREATE TRIGGER published_counts_of_deleted AFTER DELETE ON review_publishedlink
    REFERENCING OLD TABLE AS old_links_written FOR EACH STATEMENT EXECUTE FUNCTION review_publishedcount_of_links();
CREATE TRIGGER published_counts_of_none AFTER TRUNCATE ON review_publishedlink
    FOR EACH STATEMENT EXECUTE FUNCTION review_publishedcount_of_links();
CREATE FUNCTION review_publishedcount_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM review_publishedcount WHERE project_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER published_counts_of_project AFTER DELETE ON linker_project
    FOR EACH ROW EXECUTE FUNCTION review_publishedcount_of_project();
ALTER TABLE review_publishedlink ENABLE ALWAYS TRIGGER published_counts_of_new;
ALTER TABLE review_publishedlink ENABLE ALWAYS TRIGGER published_counts_of_changed;
ALTER TABLE review_publishedlink ENABLE ALWAYS TRIGGER published_counts_of_deleted;
ALTER TABLE review_publishedlink ENABLE ALWAYS TRIGGER published_counts_of_none;
ALTER TABLE linker_project ENABLE ALWAYS TRIGGER published_counts_of_project;
{_INTO} SELECT project_id, state, closed_at IS NOT NULL, count(*) FROM review_publishedlink GROUP BY 1, 2, 3;
"""
NO_COUNTS = """
DROP TRIGGER published_counts_of_new ON review_publishedlink;
DROP TRIGGER published_counts_of_changed ON review_publishedlink;
DROP TRIGGER published_counts_of_deleted ON review_publishedlink;
DROP TRIGGER published_counts_of_none ON review_publishedlink;
DROP TRIGGER published_counts_of_project ON linker_project;
DROP FUNCTION review_publishedcount_of_links;
DROP FUNCTION review_publishedcount_of_project;
"""
HELD_FOR = """
UPDATE review_release r SET held_for = found.held_for FROM (
    SELECT release_id, jsonb_object_agg(reason, jsonb_build_array(links, undecided, changes)) AS held_for FROM (
        SELECT h.release_id, h.reason, count(*) AS links, count(*) FILTER (WHERE e.status = 'suggested') AS undecided,
            count(*) FILTER (WHERE h.operation = 'change') AS changes
        FROM review_heldback h JOIN linker_candidateedge e ON e.id = h.edge_id GROUP BY 1, 2
    ) counted GROUP BY 1
) found WHERE found.release_id = r.id;
UPDATE review_releasedraft d SET held_for = found.held_for FROM (
    SELECT draft_id, jsonb_object_agg(reason, links) AS held_for FROM (
        SELECT draft_id, reason, count(*) AS links FROM review_draftlink WHERE reason <> '' GROUP BY 1, 2
    ) counted GROUP BY 1
) found WHERE found.draft_id = d.id;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0024_alerts'),
        ('review', '0018_asked_for_again'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PublishedCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(max_length=9)),
                ('is_closed', models.BooleanField()),
                ('number', models.BigIntegerField()),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='linker.project')),
            ],
            options={
                'indexes': [models.Index(fields=['project'], name='published_count_of_project')],
            },
        ),
        migrations.RemoveIndex(
            model_name='publishedlink',
            name='published_by_state',
        ),
        migrations.AddField(
            model_name='release',
            name='held_for',
            field=models.JSONField(default=dict, help_text='By reason: all of them, those not decided, changes'),
        ),
        migrations.AddField(
            model_name='releasedraft',
            name='held_for',
            field=models.JSONField(default=dict, help_text='Links that would be held back, by reason'),
        ),
        migrations.AlterField(
            model_name='publishedlink',
            name='owner',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(condition=models.Q(('closed_at__isnull', False)), fields=['project', '-closed_at'], name='alert_closed_last'),
        ),
        migrations.AddIndex(
            model_name='heldback',
            index=models.Index(fields=['release', 'reason', 'edge'], name='held_back_for_reason'),
        ),
        migrations.AddIndex(
            model_name='publishedlink',
            index=models.Index(condition=models.Q(('closed_at__isnull', True)), fields=['project', 'state', 'since', 'edge'], name='published_open_by_state'),
        ),
        migrations.AddIndex(
            model_name='publishedlink',
            index=models.Index(condition=models.Q(('closed_at__isnull', False)), fields=['project', 'state', 'since', 'edge'], name='published_closed_by_state'),
        ),
        migrations.AddIndex(
            model_name='publishedlink',
            index=models.Index(condition=models.Q(('owner__isnull', False)), fields=['owner', 'project', 'state', 'since', 'edge'], name='published_of_owner'),
        ),
        migrations.AddIndex(
            model_name='publishedlink',
            index=models.Index(fields=['project', '-edge'], name='published_newest'),
        ),
        migrations.AddIndex(
            model_name='samplelink',
            index=models.Index(condition=models.Q(('grade', 'bad')), fields=['project', '-sample', 'place', 'turn'], name='sample_link_bad'),
        ),
        migrations.RunSQL(COUNTS, NO_COUNTS),
        migrations.RunSQL(HELD_FOR, migrations.RunSQL.noop),
    ]
