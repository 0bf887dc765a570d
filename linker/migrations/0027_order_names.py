"""The usual order of the queue is called what it is: donor by donor."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0026_caps'),
    ]

    operations = [
        migrations.AlterField(
            model_name='project',
            name='queue_order',
            field=models.CharField(choices=[('donor', 'Donor by donor, highest score first'), ('need', 'Most needed first'), ('target', 'Acceptor by acceptor, most needed first'), ('category', 'Category by category'), ('score', 'Highest score first, in one list')], db_default='donor', default='donor', max_length=8),
        ),
    ]
