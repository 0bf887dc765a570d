"""Two tables are called after what they hold: search queries, and the pairs of a run that were not allocated.

Renaming a table, a constraint, an index or a sequence changes the catalogue alone: no row is read or written, and it
takes no longer on a big table than on an empty one.
"""

from django.db import migrations, models
from django.db.models.functions import MD5

# What renaming a table does not rename: its constraints, and the sequence of its ids. PostgreSQL 18 also names what must
# not be null; these names stay, as earlier versions have none.
CONSTRAINTS = {
    'linker_searchquery': {
        'linker_pagequery_pkey': 'linker_searchquery_pkey',
        'linker_pagequery_page_id_aea3159f_fk_linker_page_id': 'linker_searchquery_page_id_fk_linker_page_id',
        'page_query_source_known': 'search_query_source_known',
        'page_query_not_empty': 'search_query_not_empty',
        'page_query_importance_from_0': 'search_query_importance_from_0',
    },
    'linker_unallocatedpairs': {
        'linker_leftout_pkey': 'linker_unallocatedpairs_pkey',
        'linker_leftout_run_id_f52a4cc4_fk_linker_run_id': 'linker_unallocatedpairs_run_id_fk_linker_run_id',
        'left_out_donor_once': 'unallocated_pairs_donor_once',
    },
}
OTHERS = {
    'INDEX': {'page_query_once': 'search_query_once'},
    'SEQUENCE': {
        'linker_pagequery_id_seq': 'linker_searchquery_id_seq',
        'linker_leftout_id_seq': 'linker_unallocatedpairs_id_seq',
    },
}
RENAMED = [
    (f'ALTER TABLE {table} RENAME CONSTRAINT {old} TO {new}', f'ALTER TABLE {table} RENAME CONSTRAINT {new} TO {old}')
    for table, names in CONSTRAINTS.items()
    for old, new in names.items()
] + [
    (f'ALTER {kind} {old} RENAME TO {new}', f'ALTER {kind} {new} RENAME TO {old}')
    for kind, names in OTHERS.items()
    for old, new in names.items()
]


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0001_initial'),
    ]

    operations = [
        migrations.RenameModel('PageQuery', 'SearchQuery'),
        migrations.RenameModel('LeftOut', 'UnallocatedPairs'),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(sql, back) for sql, back in RENAMED],
            state_operations=[
                migrations.RemoveConstraint(model_name='searchquery', name='page_query_once'),
                migrations.RemoveConstraint(model_name='searchquery', name='page_query_source_known'),
                migrations.RemoveConstraint(model_name='searchquery', name='page_query_not_empty'),
                migrations.RemoveConstraint(model_name='searchquery', name='page_query_importance_from_0'),
                migrations.AddConstraint(
                    model_name='searchquery',
                    constraint=models.UniqueConstraint('page', 'source', MD5('query'), name='search_query_once'),
                ),
                migrations.AddConstraint(
                    model_name='searchquery',
                    constraint=models.CheckConstraint(condition=models.Q(source__in=['search_console', 'joil']), name='search_query_source_known'),
                ),
                migrations.AddConstraint(
                    model_name='searchquery',
                    constraint=models.CheckConstraint(condition=~models.Q(query=''), name='search_query_not_empty'),
                ),
                migrations.AddConstraint(
                    model_name='searchquery',
                    constraint=models.CheckConstraint(condition=models.Q(importance=None) | models.Q(importance__gte=0), name='search_query_importance_from_0'),
                ),
                migrations.RemoveConstraint(model_name='unallocatedpairs', name='left_out_donor_once'),
                migrations.AddConstraint(
                    model_name='unallocatedpairs',
                    constraint=models.UniqueConstraint(fields=['run', 'source'], name='unallocated_pairs_donor_once'),
                ),
            ],
        ),
        # Words alone: nothing changes in the database.
        migrations.AlterModelOptions(
            name='searchquery',
            options={'verbose_name_plural': 'search queries'},
        ),
        migrations.AlterModelOptions(
            name='unallocatedpairs',
            options={'verbose_name_plural': 'unallocated pairs'},
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='authority',
            field=models.FloatField(blank=True, help_text="The donor's authority among the site's pages, from 0 to 1", null=True),
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='content_gap',
            field=models.BooleanField(default=False, help_text='Belongs in the text, which has no words for it yet'),
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='donor_best',
            field=models.FloatField(help_text="The donor's best score in the run: donors are sorted by it"),
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='donor_worth',
            field=models.FloatField(db_default=0.0, default=0.0, help_text="The highest worth of the donor's suggestions: donors are sorted by it"),
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='evidence',
            field=models.JSONField(default=dict, help_text="The main numbers behind it, by the feature's name"),
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='sensitive',
            field=models.CharField(blank=True, default='', help_text='Why it needs human review, or empty', max_length=300),
        ),
        migrations.AlterField(
            model_name='page',
            name='body_hash',
            field=models.GeneratedField(db_persist=True, expression=models.Func(models.F('body'), models.Value(0), function='hashtextextended'), help_text='Shows, without reading the text, whether it has changed since something was read from it', output_field=models.BigIntegerField()),
        ),
        migrations.AlterField(
            model_name='page',
            name='language_read',
            field=models.BigIntegerField(blank=True, help_text='Shows whether the text has changed since the language was detected', null=True),
        ),
        migrations.AlterField(
            model_name='project',
            name='queue_order',
            field=models.CharField(choices=[('donor', 'Highest score first'), ('need', 'Most needed first'), ('score', 'Highest score first, in one list')], db_default='donor', default='donor', max_length=8),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release')], max_length=16),
        ),
        migrations.AlterField(
            model_name='trafficperiod',
            name='ends',
            field=models.DateField(blank=True, help_text='The last day, inclusive', null=True),
        ),
    ]
