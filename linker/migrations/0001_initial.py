"""The core's tables, and what the database holds beside what models can say."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import linker.models.project
import pgvector.django
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models

# Rows of these tables are neither changed nor deleted; the message is the trigger's argument. Only a purge of a whole
# project deletes them, and says so in its transaction.
APPEND_ONLY = """
CREATE FUNCTION anchorline_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('anchorline.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER linker_change_append_only BEFORE UPDATE OR DELETE ON linker_change
    FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('the log of changes is append-only');
"""
NOT_APPEND_ONLY = """
DROP TRIGGER linker_change_append_only ON linker_change;
DROP FUNCTION anchorline_append_only();
"""


class Migration(migrations.Migration):

    initial = True

    # What databases of before version 0.2 have applied in its place.
    replaces = [
        ('linker', '0001_extensions'),
        ('linker', '0002_core'),
        ('linker', '0003_ranking'),
        ('linker', '0004_pagequery'),
        ('linker', '0005_packed_candidates'),
        ('linker', '0006_edge_indexes'),
        ('linker', '0007_edge_sentence'),
        ('linker', '0008_edge_reviewed'),
        ('linker', '0009_anchor_length'),
        ('linker', '0010_import_indexes'),
        ('linker', '0011_change_log'),
        ('linker', '0020_traffic'),
        ('linker', '0024_withdrawn'),
        ('linker', '0025_link_blocks'),
        ('linker', '0026_vector_sets'),
        ('linker', '0027_sensitive_rules'),
        ('linker', '0028_labels'),
        ('linker', '0031_rejected_for'),
        ('linker', '0032_approval_bounds'),
        ('linker', '0033_page_roles'),
        ('linker', '0034_copies'),
        ('linker', '0035_languages'),
        ('linker', '0036_page_lists'),
        ('linker', '0037_worth'),
        ('linker', '0038_gap_paragraphs'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        pgvector.django.VectorExtension(),
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('path', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), size=None)),
                ('path_key', models.CharField(max_length=64)),
                ('depth', models.PositiveSmallIntegerField()),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='linker.category')),
            ],
            options={
                'verbose_name_plural': 'categories',
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('manager', 'Manager')], default='editor', max_length=8)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('base_url', models.URLField(help_text='Start of every address of the site, https://www.example.com', max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('trailing_slash', models.CharField(choices=[('keep', 'Different pages'), ('strip', 'The same page')], default='keep', max_length=8)),
                ('www', models.CharField(choices=[('keep', 'Different pages'), ('strip', 'The same page')], default='keep', max_length=8)),
                ('parameter_urls', models.CharField(choices=[('auto', 'Leave out variants of another page, sorting, filters and pagination'), ('exclude', 'Leave out every URL with a query'), ('allow', 'Leave out pagination only')], default='auto', max_length=8)),
                ('vector_source', models.CharField(choices=[('encoder', 'Embed the pages here'), ('imported', 'Use the vectors the crawl brought along')], default='encoder', max_length=10)),
                ('model_name', models.CharField(default=linker.models.project.default_model, max_length=200)),
                ('text_recipe', models.CharField(choices=[('full', 'Title, H1, headings and the first part of the body'), ('title', 'Title and H1 only'), ('body', 'Body only')], default='full', max_length=8)),
                ('title_patterns', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, help_text='Regular expressions removed from titles, beside the template found automatically', size=None)),
                ('banned_anchors', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('anchor_max_length', models.PositiveSmallIntegerField(default=100, validators=[django.core.validators.MinValueValidator(10), django.core.validators.MaxValueValidator(200)])),
                ('identical_anchor_limit', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(1)])),
                ('query_blend', models.FloatField(default=0.3, help_text='Weight of search queries among the anchors: 0 titles only, 1 queries first', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)])),
                ('link_languages', models.BooleanField(db_default=False, default=False, help_text='Whether pages in different languages may be linked')),
                ('tier_basis', models.CharField(choices=[('probability', 'Probability'), ('quantile', 'Quantile of the run'), ('cosine', 'Similarity')], default='probability', max_length=12)),
                ('formula_weights', models.JSONField(blank=True, default=dict, help_text='What differs from linker.engine.ranking.formula_score.FormulaWeights, by name')),
                ('role_links', models.JSONField(blank=True, default=dict, help_text='What differs from linker.engine.roles.policy.USUAL, by role')),
                ('queue_order', models.CharField(choices=[('donor', 'Surest first'), ('need', 'Most needed first'), ('score', 'Surest first, in one list')], db_default='donor', default='donor', max_length=8)),
                ('import_mappings', models.JSONField(blank=True, default=dict)),
                ('members', models.ManyToManyField(related_name='projects', through='linker.Membership', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', 'id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('query_blend__gte', 0.0), ('query_blend__lte', 1.0)), name='project_query_blend_is_share'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PageList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='The file’s name', max_length=200)),
                ('pages', models.BinaryField()),
                ('size', models.IntegerField(help_text='Pages')),
                ('lines', models.IntegerField(help_text='Lines with an address')),
                ('unknown_lines', models.IntegerField(default=0)),
                ('unknown', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='page_lists', to='linker.project')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('size__gt', 0)), name='page_list_has_a_page'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Page',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField()),
                ('canonical_url', models.TextField()),
                ('status', models.CharField(choices=[('live', 'Live'), ('merged', 'Merged'), ('redirected', 'Redirected'), ('killed', 'Killed')], default='live', max_length=10)),
                ('title', models.TextField(blank=True, default='')),
                ('h1', models.TextField(blank=True, default='')),
                ('headings', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ('description', models.TextField(blank=True, default='')),
                ('body', models.TextField(blank=True, default='')),
                ('body_hash', models.GeneratedField(db_persist=True, expression=models.Func(models.F('body'), models.Value(0), function='hashtextextended'), help_text='Tells whether the text is still the one that something was read from, without reading it', output_field=models.BigIntegerField())),
                ('language', models.CharField(blank=True, default='', max_length=35)),
                ('detected_language', models.CharField(blank=True, db_default='', default='', max_length=8)),
                ('language_sureness', models.FloatField(db_default=0.0, default=0.0)),
                ('language_read', models.BigIntegerField(blank=True, help_text='Tells whether the text is still the one that the language was detected in', null=True)),
                ('own_language', models.GeneratedField(db_persist=True, expression=models.Case(models.When(language_sureness__gte=0.9, then=models.F('detected_language')), default=models.Func(django.db.models.functions.text.Replace(django.db.models.functions.text.Lower(django.db.models.functions.text.Trim('language')), models.Value('_'), models.Value('-')), models.Value('-'), models.Value(1), function='split_part', output_field=models.CharField())), help_text='The language the page counts as; empty where it counts as the project’s usual one', output_field=models.CharField(max_length=35))),
                ('word_count', models.IntegerField(blank=True, null=True)),
                ('status_code', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('indexable', models.BooleanField(default=True)),
                ('indexability_status', models.CharField(blank=True, default='', max_length=100)),
                ('canonical_link', models.TextField(blank=True, default='', help_text='rel=canonical as the page states it')),
                ('redirect_url', models.TextField(blank=True, default='')),
                ('crawl_depth', models.IntegerField(blank=True, null=True)),
                ('last_modified', models.DateTimeField(blank=True, null=True)),
                ('value', models.FloatField(blank=True, null=True)),
                ('authority', models.FloatField(blank=True, null=True)),
                ('clicks', models.IntegerField(blank=True, null=True)),
                ('impressions', models.IntegerField(blank=True, null=True)),
                ('position', models.FloatField(blank=True, null=True)),
                ('role', models.CharField(choices=[('home', 'Home'), ('hub', 'Hub'), ('article', 'Article'), ('product', 'Product'), ('utility', 'Utility'), ('thin', 'Thin'), ('event', 'Event')], db_default='article', default='article', max_length=8)),
                ('role_why', models.CharField(blank=True, db_default='', default='', max_length=300)),
                ('role_by_rule', models.CharField(blank=True, choices=[('home', 'Home'), ('hub', 'Hub'), ('article', 'Article'), ('product', 'Product'), ('utility', 'Utility'), ('thin', 'Thin'), ('event', 'Event')], db_default='', default='', max_length=8)),
                ('role_by_hand', models.CharField(blank=True, choices=[('home', 'Home'), ('hub', 'Hub'), ('article', 'Article'), ('product', 'Product'), ('utility', 'Utility'), ('thin', 'Thin'), ('event', 'Event')], db_default='', default='', max_length=8)),
                ('role_in_force', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.functions.comparison.NullIf('role_by_hand', models.Value('')), django.db.models.functions.comparison.NullIf('role_by_rule', models.Value('')), 'role'), output_field=models.CharField(choices=[('home', 'Home'), ('hub', 'Hub'), ('article', 'Article'), ('product', 'Product'), ('utility', 'Utility'), ('thin', 'Thin'), ('event', 'Event')], max_length=8))),
                ('event_day', models.DateField(blank=True, help_text='The last day of the event that the page is about', null=True)),
                ('inlinks', models.IntegerField(default=0)),
                ('outlinks', models.IntegerField(default=0)),
                ('first_seen_at', models.DateTimeField(auto_now_add=True)),
                ('last_seen_at', models.DateTimeField(auto_now_add=True)),
                ('missing_since', models.DateTimeField(blank=True, help_text='Set when an import no longer holds the page', null=True)),
                ('category', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='pages', to='linker.category')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='linker.project')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('missing_since__isnull', True)), fields=['project', 'role_in_force', 'id'], name='page_by_role'),
                    models.Index(fields=['category', 'project'], name='page_by_category'),
                    models.Index(condition=models.Q(('missing_since__isnull', True)), fields=['project', 'own_language', 'id'], name='page_by_language'),
                    models.Index(models.F('project'), models.Func(django.db.models.functions.text.Lower(django.db.models.functions.comparison.Coalesce(django.db.models.functions.comparison.NullIf('h1', models.Value('')), 'title')), models.Value(0), function='hashtextextended'), name='page_by_name'),
                ],
                'constraints': [
                    models.UniqueConstraint(models.F('project'), django.db.models.functions.text.MD5('canonical_url'), name='page_canonical_url_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='NotTheSame',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='not_the_same', to='linker.project')),
            ],
        ),
        migrations.AddField(
            model_name='membership',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='linker.project'),
        ),
        migrations.CreateModel(
            name='ExistingLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.SmallIntegerField(choices=[(0, 'Unknown'), (1, 'Content'), (2, 'Aside'), (3, 'Header'), (4, 'Footer'), (5, 'Navigation')])),
                ('anchor', models.TextField(blank=True, default='')),
                ('follow', models.BooleanField(default=True)),
                ('last_seen_at', models.DateTimeField(auto_now_add=True)),
                ('missing_since', models.DateTimeField(blank=True, null=True)),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='links_out', to='linker.page')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links_in', to='linker.page')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
            ],
            options={
                'indexes': [
                    django.contrib.postgres.indexes.BrinIndex(fields=['project'], name='existing_link_by_project'),
                ],
                'constraints': [
                    models.UniqueConstraint(models.F('source'), models.F('target'), models.F('block'), models.Func(models.F('anchor'), models.Value(0), function='hashtextextended'), name='existing_link_once'),
                    models.CheckConstraint(condition=models.Q(('block__in', [0, 1, 2, 3, 4, 5])), name='existing_link_block_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ExclusionRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pattern', models.CharField(help_text='Regular expression, RE2 syntax, searched in the address', max_length=300)),
                ('side', models.CharField(choices=[('donor', 'Donors'), ('acceptor', 'Acceptors'), ('both', 'Both')], default='both', max_length=8)),
                ('note', models.CharField(blank=True, default='', max_length=200)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusion_rules', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('project', 'pattern', 'side'), name='exclusion_rule_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('version', models.CharField(max_length=100)),
                ('recipe', models.CharField(blank=True, db_default='', default='', max_length=40)),
                ('made_of', models.TextField(blank=True, db_default='', default='')),
                ('dimensions', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='linker.project')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('name', 'version', 'recipe', 'project'), name='embedding_model_once', nulls_distinct=False),
                ],
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('kind', models.CharField(choices=[('project', 'Project created'), ('settings', 'Settings'), ('tiers', 'Tiers'), ('ranking', 'Ranking'), ('sensitive', 'Sensitive pages'), ('exclusions', 'Exclusions'), ('roles', 'Page roles'), ('copies', 'Copies and variants'), ('members', 'Members'), ('vectors', 'Vectors'), ('import', 'Import'), ('release', 'Release')], max_length=12)),
                ('subject', models.CharField(blank=True, default='', help_text='What was changed, for people', max_length=300)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
                ('code_version', models.CharField(max_length=60)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='linker.project')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [
                    models.Index(fields=['project', '-id'], name='change_recent'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind__in', ['project', 'settings', 'tiers', 'ranking', 'sensitive', 'exclusions', 'roles', 'copies', 'members', 'vectors', 'import', 'release'])), name='change_kind_known'),
                ],
            },
        ),
        migrations.AddField(
            model_name='category',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='linker.project'),
        ),
        migrations.CreateModel(
            name='RoleRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pattern', models.CharField(help_text='Regular expression, RE2 syntax, searched in the address', max_length=300)),
                ('role', models.CharField(choices=[('home', 'Home'), ('hub', 'Hub'), ('article', 'Article'), ('product', 'Product'), ('utility', 'Utility'), ('thin', 'Thin'), ('event', 'Event')], max_length=8)),
                ('note', models.CharField(blank=True, default='', max_length=200)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='role_rules', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('project', 'pattern'), name='role_rule_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Read tiers anew'), ('sensitive', 'Look for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release')], max_length=16)),
                ('status', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('succeeded', 'Finished'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('params', models.JSONField(default=dict)),
                ('report', models.JSONField(default=dict)),
                ('stage', models.CharField(blank=True, default='', help_text='What it is doing now, in words', max_length=200)),
                ('done', models.BigIntegerField(default=0)),
                ('total', models.BigIntegerField(default=0)),
                ('error', models.TextField(blank=True, default='', help_text='Why it failed, for the user')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('code_version', models.CharField(blank=True, default='', max_length=60)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('model', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.embeddingmodel')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='linker.project')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [
                    models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['status'], name='run_active'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running'))), fields=('project', 'kind'), name='run_one_active_of_a_kind'),
                    models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'running', 'succeeded', 'failed', 'cancelled'])), name='run_status_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Ranker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=8)),
                ('version', models.CharField(max_length=20)),
                ('labels', models.IntegerField(default=0, help_text='Links it could learn from')),
                ('quality', models.JSONField(default=dict)),
                ('weights', models.JSONField(default=dict)),
                ('model', models.BinaryField(default=b'')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='ranker', to='linker.run')),
            ],
        ),
        migrations.CreateModel(
            name='Pilot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pages', models.BinaryField()),
                ('size', models.IntegerField()),
                ('out_of', models.IntegerField()),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='pilot', to='linker.run')),
            ],
        ),
        migrations.CreateModel(
            name='PageGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('copy', 'Near-copy'), ('variant', 'Variant'), ('translation', 'Translation')], max_length=12)),
                ('pages', models.IntegerField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='page_groups', to='linker.project')),
                ('run', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.run')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['project', '-pages', 'id'], name='page_group_list'),
                    models.Index(fields=['project', 'kind', '-pages', 'id'], name='page_group_list_of_kind'),
                    models.Index(fields=['run'], name='page_group_by_run'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind__in', ['copy', 'variant', 'translation'])), name='page_group_kind_known'),
                    models.CheckConstraint(condition=models.Q(('pages__gte', 2)), name='page_group_of_two'),
                ],
            },
        ),
        migrations.CreateModel(
            name='LeftOut',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.BigIntegerField()),
                ('targets', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('scores', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('reasons', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), size=None)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.run')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'source'), name='left_out_donor_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RunBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('slices', models.JSONField()),
                ('cost', models.BigIntegerField(help_text='Pairs to compare')),
                ('done', models.BooleanField(default=False)),
                ('candidates', models.IntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often its worker was lost')),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='linker.run')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('done', False)), fields=['run'], name='run_batch_pending'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'number'), name='run_batch_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RunBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('donor_ids', models.BinaryField()),
                ('target_ids', models.BinaryField()),
                ('category', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.category')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='linker.run')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'number'), name='run_block_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RunCandidate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pairs', models.BinaryField()),
                ('batch', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.runbatch')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.run')),
            ],
        ),
        migrations.CreateModel(
            name='SensitiveRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('medical', 'Medical'), ('legal', 'Legal'), ('financial', 'Financial'), ('other', 'Other')], default='medical', max_length=10)),
                ('url_pattern', models.CharField(blank=True, db_default='', default='', help_text='Regular expression, RE2 syntax', max_length=300)),
                ('word', models.CharField(blank=True, db_default='', default='', max_length=100)),
                ('word_key', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('whole_site', models.BooleanField(db_default=False, default=False)),
                ('state', models.CharField(choices=[('proposed', 'To check'), ('confirmed', 'Confirmed'), ('dismissed', 'Dismissed')], db_default='confirmed', default='confirmed', max_length=10)),
                ('proposed', models.BooleanField(db_default=False, default=False, help_text='Found by an import, not written by hand')),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('pages', models.IntegerField(blank=True, help_text='Null until they are counted', null=True)),
                ('places', models.JSONField(default=dict)),
                ('examples', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('category', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.category')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sensitive_rules', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('category__isnull', False), ('url_pattern', ''), ('whole_site', False), ('word', '')), models.Q(('category__isnull', True), ('whole_site', False), ('word', ''), models.Q(('url_pattern', ''), _negated=True)), models.Q(('category__isnull', True), ('url_pattern', ''), ('whole_site', False), models.Q(('word', ''), _negated=True)), models.Q(('category__isnull', True), ('url_pattern', ''), ('whole_site', True), ('word', '')), _connector='OR'), name='sensitive_rule_names_one_thing'),
                    models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'confirmed', 'dismissed'])), name='sensitive_state_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('state', 'proposed')), models.Q(('state', 'proposed'), _negated=True), _connector='OR'), name='sensitive_proposed_is_undecided'),
                    models.UniqueConstraint(condition=models.Q(('word_key', ''), _negated=True), fields=('project', 'kind', 'word_key'), name='sensitive_word_once'),
                    models.UniqueConstraint(condition=models.Q(('whole_site', True)), fields=('project', 'kind'), name='sensitive_site_once'),
                    models.UniqueConstraint(condition=models.Q(('category__isnull', False), ('proposed', True)), fields=('project', 'kind', 'category'), name='sensitive_category_proposed_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SensitivePage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.CharField(help_text='linker.engine.sensitivity.matcher.Place', max_length=8)),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page')),
                ('rule', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='found', to='linker.sensitiverule')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('rule', 'page'), name='sensitive_page_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Tier',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('basis', models.CharField(choices=[('probability', 'Probability'), ('quantile', 'Quantile of the run'), ('cosine', 'Similarity')], default='cosine', max_length=12)),
                ('name', models.CharField(max_length=40)),
                ('lower_bound', models.FloatField(validators=[django.core.validators.MinValueValidator(-1.0), django.core.validators.MaxValueValidator(1.0)])),
                ('placement', models.CharField(choices=[('inline', 'In the text'), ('related', 'Related block')], default='related', max_length=8)),
                ('rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], default='nofollow', max_length=8, verbose_name='rel while unreviewed')),
                ('confirmed_rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], default='follow', max_length=8, verbose_name='rel once accepted')),
                ('export_unreviewed', models.BooleanField(default=False, verbose_name='may be exported unreviewed')),
                ('held', models.BooleanField(default=False, help_text='Kept out of the queue until asked for', verbose_name='held back')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tiers', to='linker.project')),
            ],
            options={
                'ordering': ['-lower_bound'],
                'constraints': [
                    models.UniqueConstraint(fields=('project', 'basis', 'name'), name='tier_name_once'),
                    models.UniqueConstraint(fields=('project', 'basis', 'lower_bound'), name='tier_bound_once'),
                    models.CheckConstraint(condition=models.Q(('basis__in', ['probability', 'quantile', 'cosine'])), name='tier_basis_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('basis', 'cosine'), ('lower_bound__gte', -1.0), ('lower_bound__lte', 1.0)), models.Q(('lower_bound__gte', 0.0), ('lower_bound__lte', 1.0)), _connector='OR'), name='tier_bound_fits_basis'),
                    models.CheckConstraint(condition=models.Q(('export_unreviewed', True), ('held', True), _negated=True), name='tier_held_is_not_exported_unreviewed'),
                ],
            },
        ),
        migrations.CreateModel(
            name='CandidateEdge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], default='suggested', max_length=10)),
                ('reviewed', models.BooleanField(db_default=False, default=False, help_text='A person decided on it')),
                ('rejected_for', models.CharField(blank=True, db_default='', default='', help_text='The reason given when it was last rejected', max_length=16)),
                ('stale', models.BooleanField(default=False)),
                ('generators', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), help_text='Who proposed it: linker.engine.candidates.registry', size=None)),
                ('ranked_by', models.CharField(choices=[('cosine', 'Cosine'), ('formula', 'Formula'), ('learned', 'Learned')], max_length=8)),
                ('level', models.PositiveSmallIntegerField()),
                ('similarity', models.FloatField()),
                ('score', models.FloatField()),
                ('probability', models.FloatField(blank=True, null=True)),
                ('quantile', models.FloatField()),
                ('why', models.TextField(blank=True, default='', help_text='One sentence, in plain words')),
                ('evidence', models.JSONField(default=dict, help_text="The few numbers behind it, by the feature's name")),
                ('donor_best', models.FloatField(help_text="The donor's best score in the run: groups of a donor sort by it")),
                ('need', models.FloatField(db_default=0.0, default=0.0, help_text='How much the target lacks, from 0 to 1')),
                ('lacks', models.CharField(blank=True, db_default='', default='', help_text='The same in words', max_length=200)),
                ('authority', models.FloatField(blank=True, help_text="How the donor stands among the site's pages, from 0 to 1", null=True)),
                ('worth', models.FloatField(db_default=0.0, default=0.0, help_text='Its chance of approval, weighted by the need')),
                ('donor_worth', models.FloatField(db_default=0.0, default=0.0, help_text='The most that one of the donor is worth: its group sorts by it')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now_add=True)),
                ('placement', models.CharField(choices=[('inline', 'In the text'), ('related', 'Related block')], default='related', max_length=8)),
                ('rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], default='nofollow', max_length=8)),
                ('sensitive', models.CharField(blank=True, default='', help_text='Why a person must look, or empty', max_length=300)),
                ('span_start', models.PositiveIntegerField(blank=True, null=True)),
                ('span_end', models.PositiveIntegerField(blank=True, null=True)),
                ('sentence', models.TextField(blank=True, db_default='', default='')),
                ('section_heading', models.TextField(blank=True, db_default='', default='')),
                ('body_hash', models.BigIntegerField(blank=True, null=True)),
                ('content_gap', models.BooleanField(default=False, help_text='Belongs into the text, which has no words for it')),
                ('paragraph_start', models.PositiveIntegerField(blank=True, null=True)),
                ('paragraph_end', models.PositiveIntegerField(blank=True, null=True)),
                ('paragraph_heading', models.TextField(blank=True, db_default='', default='')),
                ('paragraph_hash', models.BigIntegerField(blank=True, null=True)),
                ('anchor', models.TextField()),
                ('anchor_source', models.CharField(max_length=20)),
                ('anchor_alternatives', models.JSONField(default=list)),
                ('edited', models.BooleanField(default=False, help_text='An editor wrote the anchor: runs leave it alone')),
                ('block', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.category')),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='edges_out', to='linker.page')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='edges_in', to='linker.page')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='edges', to='linker.project')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='edges', to='linker.run')),
                ('tier', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.tier')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['project', 'status', '-score', 'id'], name='edge_by_score'),
                    models.Index(fields=['project', 'status', '-donor_best', 'source', '-score', 'id'], name='edge_by_donor'),
                    models.Index(fields=['project', 'status', '-donor_worth', 'source', '-worth', 'id'], name='edge_by_worth'),
                    models.Index(fields=['project', 'source', '-score', 'id'], name='edge_export_order'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('source', 'target'), name='edge_pair_once'),
                    models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='edge_not_to_itself'),
                    models.CheckConstraint(condition=models.Q(('similarity__gte', -1.0), ('similarity__lte', 1.0)), name='edge_similarity_is_cosine'),
                    models.CheckConstraint(condition=models.Q(('status__in', ['suggested', 'accepted', 'rejected', 'exported', 'withdrawn'])), name='edge_status_known'),
                    models.CheckConstraint(condition=models.Q(('anchor', ''), _negated=True), name='edge_anchor_not_empty'),
                    models.CheckConstraint(condition=models.Q(('ranked_by__in', ['cosine', 'formula', 'learned'])), name='edge_ranked_by_known'),
                    models.CheckConstraint(condition=models.Q(('generators', []), _negated=True), name='edge_has_a_generator'),
                    models.CheckConstraint(condition=models.Q(('probability', None), models.Q(('probability__gte', 0.0), ('probability__lte', 1.0)), _connector='OR'), name='edge_probability_is_one'),
                    models.CheckConstraint(condition=models.Q(('quantile__gte', 0.0), ('quantile__lte', 1.0)), name='edge_quantile_is_a_share'),
                    models.CheckConstraint(condition=models.Q(models.Q(('span_end', None), ('span_start', None)), models.Q(('span_end__gt', models.F('span_start')), ('span_start__isnull', False)), _connector='OR'), name='edge_span_is_whole'),
                    models.CheckConstraint(condition=models.Q(models.Q(('paragraph_end', None), ('paragraph_hash', None), ('paragraph_start', None)), models.Q(('paragraph_end__gt', models.F('paragraph_start')), ('paragraph_hash__isnull', False), ('paragraph_start__isnull', False)), _connector='OR'), name='edge_paragraph_is_whole'),
                    models.CheckConstraint(condition=models.Q(('content_gap', True), ('span_start__isnull', False), _negated=True), name='edge_gap_has_no_place'),
                ],
            },
        ),
        migrations.CreateModel(
            name='TrafficPeriod',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(choices=[('search_console', 'Search Console'), ('crawl', 'Search Console, with the crawl'), ('analytics', 'Analytics'), ('hits', 'A list of hits')], max_length=16)),
                ('starts', models.DateField(blank=True, null=True)),
                ('ends', models.DateField(blank=True, help_text='The last day, itself included', null=True)),
                ('imported_at', models.DateTimeField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='traffic_periods', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('project', 'source', 'starts', 'ends'), name='traffic_period_once', nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(('source__in', ['search_console', 'crawl', 'analytics', 'hits'])), name='traffic_source_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('ends', None), ('starts', None)), models.Q(('ends__gte', models.F('starts')), ('ends__isnull', False), ('starts__isnull', False)), _connector='OR'), name='traffic_period_begins_before_it_ends'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PageTraffic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('clicks', models.BigIntegerField(blank=True, null=True)),
                ('impressions', models.BigIntegerField(blank=True, null=True)),
                ('position', models.FloatField(blank=True, null=True)),
                ('hits', models.BigIntegerField(blank=True, null=True)),
                ('page', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='traffic', to='linker.page')),
                ('period', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='linker.trafficperiod')),
            ],
            options={
                'verbose_name_plural': 'page traffic',
                'constraints': [
                    models.UniqueConstraint(fields=('period', 'page'), name='page_traffic_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('clicks', None), ('clicks__gte', 0), _connector='OR'), models.Q(('impressions', None), ('impressions__gte', 0), _connector='OR'), models.Q(('hits', None), ('hits__gte', 0), _connector='OR'), models.Q(('position', None), ('position__gt', 0), _connector='OR')), name='page_traffic_not_negative'),
                    models.CheckConstraint(condition=models.Q(('clicks__isnull', False), ('impressions__isnull', False), ('position__isnull', False), ('hits__isnull', False), _connector='OR'), name='page_traffic_says_something'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ApartPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('side', models.IntegerField()),
                ('word', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='linker.notthesame')),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('word', 'page'), name='apart_page_once')],
            },
        ),
        migrations.CreateModel(
            name='PageEmbedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text_sha256', models.BinaryField(max_length=32)),
                ('vector', pgvector.django.halfvec.HalfVectorField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('model', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.embeddingmodel')),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='linker.page')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('model', 'page'), name='embedding_page_and_model_once')],
            },
        ),
        migrations.CreateModel(
            name='PageQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query', models.TextField()),
                ('clicks', models.IntegerField(blank=True, null=True)),
                ('impressions', models.IntegerField(blank=True, null=True)),
                ('position', models.FloatField(blank=True, null=True)),
                ('importance', models.FloatField(blank=True, null=True)),
                ('source', models.CharField(choices=[('search_console', 'Search Console'), ('joil', 'url, query, importance')], max_length=16)),
                ('last_seen_at', models.DateTimeField(auto_now_add=True)),
                ('page', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queries', to='linker.page')),
            ],
            options={
                'verbose_name_plural': 'page queries',
                'constraints': [models.UniqueConstraint(models.F('page'), models.F('source'), django.db.models.functions.text.MD5('query'), name='page_query_once'), models.CheckConstraint(condition=models.Q(('source__in', ['search_console', 'joil'])), name='page_query_source_known'), models.CheckConstraint(condition=models.Q(('query', ''), _negated=True), name='page_query_not_empty'), models.CheckConstraint(condition=models.Q(('importance', None), ('importance__gte', 0), _connector='OR'), name='page_query_importance_from_0')],
            },
        ),
        migrations.CreateModel(
            name='PageTwin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('copy', 'Near-copy'), ('variant', 'Variant'), ('translation', 'Translation')], max_length=12)),
                ('near', models.FloatField(blank=True, null=True)),
                ('lead', models.BooleanField(default=False)),
                ('receives', models.BooleanField(default=False)),
                ('group', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='twins', to='linker.pagegroup')),
                ('page', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='twin', to='linker.page')),
            ],
            options={
                'indexes': [models.Index(fields=['group', '-lead', 'page'], name='page_twin_of_group')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['copy', 'variant', 'translation'])), name='page_twin_kind_known'), models.CheckConstraint(condition=models.Q(('near', None), models.Q(('near__gte', 0.0), ('near__lte', 1.0)), _connector='OR'), name='page_twin_near_is_share'), models.UniqueConstraint(condition=models.Q(('lead', True)), fields=('group',), name='page_twin_one_lead'), models.CheckConstraint(condition=models.Q(('lead', False), ('receives', True), _connector='OR'), name='page_twin_lead_receives')],
            },
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('project', 'user'), name='membership_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'editor', 'manager'])), name='membership_role_known'),
        ),
        migrations.AddConstraint(
            model_name='category',
            constraint=models.UniqueConstraint(fields=('project', 'path_key'), name='category_path_once'),
        ),
        migrations.AddConstraint(
            model_name='category',
            constraint=models.CheckConstraint(condition=models.Q(('depth__gte', 1)), name='category_depth_positive'),
        ),
        # Room for a second version of each page in its own block: an import of links gives most pages new counts, and
        # one of pages a new day, which then touches no index. The room was taken before, too, by versions left behind.
        migrations.RunSQL(
            "ALTER TABLE linker_page SET (fillfactor = 50)", "ALTER TABLE linker_page RESET (fillfactor)"
        ),
        # Numbers that do not compress: trying would take longer than writing them.
        migrations.RunSQL(
            "ALTER TABLE linker_runcandidate ALTER pairs SET STORAGE EXTERNAL",
            "ALTER TABLE linker_runcandidate ALTER pairs SET STORAGE EXTENDED",
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
