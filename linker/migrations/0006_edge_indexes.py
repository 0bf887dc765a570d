import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """An index less: others begin with the project, too."""

    dependencies = [("linker", "0005_packed_candidates")]

    operations = [
        migrations.AlterField(
            model_name="candidateedge",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="edges",
                to="linker.project",
            ),
        ),
    ]
