from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('review', '0009_known_answers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='decision',
            name='reason',
            field=models.CharField(blank=True, choices=[('irrelevant', 'Not relevant'), ('wrong_target', 'Wrong acceptor'), ('bad_anchor', 'Poor anchor'), ('duplicate', 'Already linked, or a duplicate'), ('too_many', 'Too many links on this page'), ('outdated', 'Page out of date'), ('sensitive', 'Too sensitive to link'), ('other', 'Something else'), ('better_there', 'Fits, but a better link is there')], default='', max_length=16),
        ),
    ]
