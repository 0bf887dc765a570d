"""Hubs receive no new links unless a project says so, or sells; one whose editors want such links goes on as before.

A project that had left the default had hubs receive links under their own names. It keeps that where its editors have
approved more of such links than they rejected; otherwise its log of changes says that the default is another.
"""

from django.db import migrations, models

DECIDED = """
SELECT e.project_id FROM linker_candidateedge e JOIN linker_page p ON p.id = e.target_id AND p.role_in_force = 'hub'
WHERE e.status IN ('accepted', 'exported', 'rejected') GROUP BY 1
HAVING count(*) FILTER (WHERE e.status <> 'rejected') > count(*) FILTER (WHERE e.status = 'rejected')
"""
SHOPS = """
SELECT project_id FROM linker_page GROUP BY 1
HAVING count(*) FILTER (WHERE role_in_force = 'product') >= greatest(10, 0.2 * count(*))
"""


def settle(apps, schema_editor):
    Project, Page, Change = (apps.get_model("linker", name) for name in ("Project", "Page", "Change"))
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(DECIDED)
        wanted = {project for (project,) in cursor.fetchall()}
        cursor.execute(SHOPS)
        shops = {project for (project,) in cursor.fetchall()}
    Project.objects.filter(pk__in=shops).update(is_shop=True)
    for project in Project.objects.exclude(pk__in=shops).only("pk", "role_links"):
        chosen = project.role_links.get("hub", {})
        if "receives" in chosen:
            continue
        if project.pk in wanted:
            project.role_links = {**project.role_links, "hub": {**chosen, "receives": "name"}}
            project.save(update_fields=["role_links"])
        elif Page.objects.filter(project=project, role_in_force="hub").exists():
            Change.objects.create(
                project=project,
                user=None,
                kind="roles",
                subject="The default of what hubs receive is another, from the next match on",
                before={"Hub receives": "name"},
                after={"Hub receives": "no"},
                code_version="migration",
            )


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0056_anchor_repeats"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="is_shop",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AlterField(
            model_name="project",
            name="role_links",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="What differs from linker.engine.roles.policy.usual_links, by role",
            ),
        ),
        migrations.RunPython(settle, migrations.RunPython.noop),
    ]
