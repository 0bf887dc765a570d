"""Which mails people want, and those that are to be sent."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0018_identities'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='MailSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked', models.CharField(choices=[('not', 'No mail'), ('once', 'At once'), ('daily', 'Once a day')], default='once', max_length=5)),
                ('assigned', models.CharField(choices=[('not', 'No mail'), ('once', 'At once'), ('daily', 'Once a day')], default='not', max_length=5)),
                ('alert', models.CharField(choices=[('not', 'No mail'), ('once', 'At once'), ('daily', 'Once a day')], default='not', max_length=5)),
                ('run_failed', models.CharField(choices=[('not', 'No mail'), ('once', 'At once'), ('daily', 'Once a day')], default='not', max_length=5)),
                ('language', models.CharField(blank=True, default='', help_text='In which the mails are written', max_length=10)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='mail_settings', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'mail settings',
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=10)),
                ('daily', models.BooleanField(default=False)),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('url', models.CharField(help_text='Of the page, without the host', max_length=2000)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('due_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('sent_at__isnull', True)), fields=['due_at', 'id'], name='notification_due'), models.Index(condition=models.Q(('sent_at__isnull', False)), fields=['sent_at'], name='notification_sent')],
            },
        ),
    ]
