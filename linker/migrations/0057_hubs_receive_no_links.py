"""Hubs receive no new links unless a project says so; a project whose editors want such links goes on as before.

A project that had left the default had hubs receive links under their own names. It keeps that where its editors have
approved more of such links than they rejected; otherwise its log of changes says that the default is another.
"""

from django.db import migrations

DECIDED = """
SELECT e.project_id FROM linker_candidateedge e JOIN linker_page p ON p.id = e.target_id AND p.role_in_force = 'hub'
WHERE e.status IN ('accepted', 'exported', 'rejected') GROUP BY 1
HAVING count(*) FILTER (WHERE e.status <> 'rejected') > count(*) FILTER (WHERE e.status = 'rejected')
"""


def settle(apps, schema_editor):
    Project, Page, Change = (apps.get_model("linker", name) for name in ("Project", "Page", "Change"))
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(DECIDED)
        wanted = {project for (project,) in cursor.fetchall()}
    for project in Project.objects.only("pk", "role_links"):
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

    operations = [migrations.RunPython(settle, migrations.RunPython.noop)]
