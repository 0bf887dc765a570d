"""Whether an event was told before is found by the address that it was told of."""

from django.db import migrations, models
from django.db.models.functions import MD5


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0033_new_since'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='pageevent',
            index=models.Index(models.F('project'), MD5('old_url'), name='page_event_of_address'),
        ),
    ]
