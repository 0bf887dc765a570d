"""The reasons of the rejections that stand, from the log of decisions."""

from django.db import migrations

FILL = """
UPDATE linker_candidateedge e SET rejected_for = last.reason
FROM (
    SELECT DISTINCT ON (edge_id) edge_id, reason FROM review_decision WHERE verb = 'reject' ORDER BY edge_id, id DESC
) last
WHERE last.edge_id = e.id AND e.status = 'rejected' AND last.reason <> ''
"""


class Migration(migrations.Migration):
    dependencies = [("review", "0030_append_only"), ("linker", "0031_rejected_for")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
