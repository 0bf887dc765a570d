"""Where accepted links go whose words the donor's text does not hold."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0011_known_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='gap_links',
            field=models.CharField(choices=[('beside', 'Beside the text'), ('gap', 'Content gap: a sentence is written for it')], db_default='beside', default='beside', max_length=8),
        ),
    ]
