import django.contrib.postgres.fields
import django.db.models.deletion
import re2
from django.conf import settings
from django.db import migrations, models


def find_pages(apps, schema_editor):
    """Patterns were looked for in the addresses whenever they were asked for; what they find is kept from now on."""
    Page = apps.get_model('linker', 'Page')
    SensitivePage = apps.get_model('linker', 'SensitivePage')
    for rule in apps.get_model('linker', 'SensitiveRule').objects.exclude(url_pattern=''):
        pattern = re2.compile(rule.url_pattern)
        pages = Page.objects.filter(project_id=rule.project_id).order_by('pk').values_list('pk', 'url')
        found = [
            SensitivePage(rule=rule, page_id=page, place='address')
            for page, url in pages.iterator(chunk_size=5000)
            if pattern.search(url)
        ]
        SensitivePage.objects.bulk_create(found, batch_size=5000)


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0026_vector_sets'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameModel('SensitiveCategory', 'SensitiveRule'),
        migrations.CreateModel(
            name='SensitivePage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.CharField(help_text='linker.engine.sensitivity.matcher.Place', max_length=8)),
            ],
        ),
        migrations.AlterModelOptions(
            name='sensitiverule',
            options={},
        ),
        migrations.RemoveConstraint(
            model_name='sensitiverule',
            name='sensitive_subtree_or_pattern',
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='decided_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='decided_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='examples',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='pages',
            field=models.IntegerField(blank=True, help_text='Null until they are counted', null=True),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='places',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='proposed',
            field=models.BooleanField(db_default=False, default=False, help_text='Found by an import, not written by hand'),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='state',
            field=models.CharField(choices=[('proposed', 'To check'), ('confirmed', 'Confirmed'), ('dismissed', 'Dismissed')], db_default='confirmed', default='confirmed', max_length=10),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='whole_site',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='word',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.AddField(
            model_name='sensitiverule',
            name='word_key',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AlterField(
            model_name='sensitiverule',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sensitive_rules', to='linker.project'),
        ),
        migrations.AlterField(
            model_name='sensitiverule',
            name='url_pattern',
            field=models.CharField(blank=True, db_default='', default='', help_text='Regular expression, RE2 syntax', max_length=300),
        ),
        migrations.AddConstraint(
            model_name='sensitiverule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__isnull', False), ('url_pattern', ''), ('whole_site', False), ('word', '')), models.Q(('category__isnull', True), ('whole_site', False), ('word', ''), models.Q(('url_pattern', ''), _negated=True)), models.Q(('category__isnull', True), ('url_pattern', ''), ('whole_site', False), models.Q(('word', ''), _negated=True)), models.Q(('category__isnull', True), ('url_pattern', ''), ('whole_site', True), ('word', '')), _connector='OR'), name='sensitive_rule_names_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='sensitiverule',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'confirmed', 'dismissed'])), name='sensitive_state_known'),
        ),
        migrations.AddConstraint(
            model_name='sensitiverule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('state', 'proposed')), models.Q(('state', 'proposed'), _negated=True), _connector='OR'), name='sensitive_proposed_is_undecided'),
        ),
        migrations.AddConstraint(
            model_name='sensitiverule',
            constraint=models.UniqueConstraint(condition=models.Q(('word_key', ''), _negated=True), fields=('project', 'kind', 'word_key'), name='sensitive_word_once'),
        ),
        migrations.AddConstraint(
            model_name='sensitiverule',
            constraint=models.UniqueConstraint(condition=models.Q(('whole_site', True)), fields=('project', 'kind'), name='sensitive_site_once'),
        ),
        migrations.AddConstraint(
            model_name='sensitiverule',
            constraint=models.UniqueConstraint(condition=models.Q(('category__isnull', False), ('proposed', True)), fields=('project', 'kind', 'category'), name='sensitive_category_proposed_once'),
        ),
        migrations.AddField(
            model_name='sensitivepage',
            name='page',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page'),
        ),
        migrations.AddField(
            model_name='sensitivepage',
            name='rule',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='found', to='linker.sensitiverule'),
        ),
        migrations.AddConstraint(
            model_name='sensitivepage',
            constraint=models.UniqueConstraint(fields=('rule', 'page'), name='sensitive_page_once'),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Re-tier'), ('sensitive', 'Look for sensitive pages'), ('release', 'Release')], max_length=16),
        ),
        migrations.RunPython(find_pages, migrations.RunPython.noop),
    ]
