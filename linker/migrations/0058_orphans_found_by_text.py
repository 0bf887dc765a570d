"""Home pages, hubs and utility pages are no orphans any more: the figures that are kept are counted anew when asked."""

from django.db import migrations


def forget_figures(apps, schema_editor):
    apps.get_model("linker", "KeptFigures").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("linker", "0057_hubs_receive_no_links")]
    operations = [migrations.RunPython(forget_figures, migrations.RunPython.noop)]
