from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0046_drop_vectors"),
        ("review", "0024_links_that_lead_nowhere"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name="opinionrequest",
            index=models.Index(
                condition=models.Q(("answered_at__isnull", True)), fields=["project", "-id"], name="opinion_open"
            ),
        ),
    ]
