"""Vectors say which text they were made of; pages are found by what they are called."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models.functions import Coalesce, Lower, NullIf

# As they were when no set said it.
MADE_OF = {
    "full": "title without what the site's titles share, H1 where it says something else, headings (the first "
    "300 characters), body (the first 900)",
    "title": "title without what the site's titles share, H1 where it says something else",
    "body": "body (the first 1200 characters)",
}


def name_recipes(cursor: Any) -> None:
    """Each encoder's vectors get the text that the settings of their projects ask for.

    Where projects that share an encoder ask for different texts, the set is divided. A set of which no page has a
    vector any more keeps an empty recipe: nobody knows.
    """
    cursor.execute(
        "UPDATE linker_embeddingmodel SET recipe = 'crawler', "
        "made_of = 'made by the crawler, which does not say of what' WHERE project_id IS NOT NULL"
    )
    cursor.execute(
        "SELECT e.model_id, j.text_recipe, array_agg(DISTINCT j.id) FROM linker_pageembedding e "
        "JOIN linker_embeddingmodel m ON m.id = e.model_id AND m.project_id IS NULL AND m.recipe = '' "
        "JOIN linker_page p ON p.id = e.page_id JOIN linker_project j ON j.id = p.project_id "
        "GROUP BY e.model_id, j.text_recipe ORDER BY e.model_id, count(*) DESC, j.text_recipe"
    )
    named: set[int] = set()
    for model, recipe, projects in cursor.fetchall():
        values = [f"{recipe} 1", MADE_OF[recipe]]
        if model not in named:
            named.add(model)
            cursor.execute("UPDATE linker_embeddingmodel SET recipe = %s, made_of = %s WHERE id = %s", [*values, model])
            continue
        cursor.execute(
            "INSERT INTO linker_embeddingmodel (name, version, dimensions, project_id, created_at, recipe, made_of) "
            "SELECT name, version, dimensions, project_id, created_at, %s, %s FROM linker_embeddingmodel WHERE id = %s "
            "RETURNING id",
            [*values, model],
        )
        other = cursor.fetchone()[0]
        cursor.execute(
            "UPDATE linker_pageembedding e SET model_id = %s FROM linker_page p "
            "WHERE e.model_id = %s AND p.id = e.page_id AND p.project_id = ANY(%s)",
            [other, model, projects],
        )
        cursor.execute(
            "UPDATE linker_run SET model_id = %s WHERE model_id = %s AND project_id = ANY(%s)", [other, model, projects]
        )


def forward(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        name_recipes(cursor)


class Migration(migrations.Migration):
    dependencies = [("linker", "0025_link_blocks")]

    operations = [
        migrations.AddIndex(
            model_name="page",
            index=models.Index(
                models.F("project"),
                models.Func(
                    Lower(Coalesce(NullIf("h1", models.Value("")), "title")),
                    models.Value(0),
                    function="hashtextextended",
                ),
                name="page_by_name",
            ),
        ),
        migrations.RemoveConstraint(model_name="embeddingmodel", name="embedding_model_once"),
        migrations.AddField(
            model_name="embeddingmodel",
            name="recipe",
            field=models.CharField(blank=True, db_default="", default="", max_length=40),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="made_of",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddConstraint(
            model_name="embeddingmodel",
            constraint=models.UniqueConstraint(
                fields=["name", "version", "recipe", "project"], name="embedding_model_once", nulls_distinct=False
            ),
        ),
        migrations.RunPython(forward, migrations.RunPython.noop),
    ]
