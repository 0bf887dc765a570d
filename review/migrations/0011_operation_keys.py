import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0011_known_answers'),
        ('review', '0010_better_link_there'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='OperationKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('edge', models.BigIntegerField(help_text='The suggestion, or the card whose answer is known')),
                ('key', models.UUIDField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('project', 'user', 'key'), name='operation_key_once'),
                ],
            },
        ),
        migrations.RemoveConstraint(
            model_name='opinionrequest',
            name='opinion_key_once',
        ),
        migrations.RemoveField(
            model_name='opinionrequest',
            name='key',
        ),
    ]
