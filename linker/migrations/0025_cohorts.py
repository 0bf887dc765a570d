"""Bounds of their own for a category with all below it, or for a role of pages."""

import django.db.models.deletion
from django.db import migrations, models

_BASES = [('probability', 'Probability'), ('quantile', 'Quantile of the run'), ('cosine', 'Similarity')]
_ROLES = [('home', 'Home'), ('hub', 'Hub'), ('article', 'Article'), ('product', 'Product'), ('utility', 'Utility'), ('thin', 'Thin'), ('event', 'Event')]
# A bound is of the project and the basis of its cohort, and so is its tier: bounds are never read by another basis.
ONE_BASIS = """
ALTER TABLE linker_cohortbound
    ADD CONSTRAINT cohort_bound_has_basis_of_cohort FOREIGN KEY (cohort_id, project_id, basis)
        REFERENCES linker_cohort (id, project_id, basis) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT cohort_bound_has_basis_of_tier FOREIGN KEY (tier_id, project_id, basis)
        REFERENCES linker_tier (id, project_id, basis) DEFERRABLE INITIALLY DEFERRED
"""
NOT_ONE_BASIS = """
ALTER TABLE linker_cohortbound
    DROP CONSTRAINT cohort_bound_has_basis_of_cohort, DROP CONSTRAINT cohort_bound_has_basis_of_tier
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0024_alerts'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='tier',
            constraint=models.UniqueConstraint(fields=('id', 'project', 'basis'), name='tier_of_basis'),
        ),
        migrations.CreateModel(
            name='Cohort',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('basis', models.CharField(choices=_BASES, max_length=12)),
                ('role', models.CharField(blank=True, choices=_ROLES, db_default='', default='', max_length=8)),
                ('looked_at', models.DateTimeField(help_text='When a manager last saved its bounds')),
                ('run', models.ForeignKey(blank=True, db_index=False, help_text='The match run that stood then', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.run')),
                ('category', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.category')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='cohorts', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('category__isnull', False), ('role', '')), models.Q(('category__isnull', True), ('role__in', ['home', 'hub', 'article', 'product', 'utility', 'thin', 'event'])), _connector='OR'), name='cohort_names_one_thing'),
                    models.CheckConstraint(condition=models.Q(('basis__in', ['probability', 'quantile', 'cosine'])), name='cohort_basis_known'),
                    models.UniqueConstraint(fields=('project', 'basis', 'category', 'role'), name='cohort_once', nulls_distinct=False),
                ],
            },
        ),
        migrations.CreateModel(
            name='CohortBound',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('basis', models.CharField(choices=_BASES, max_length=12)),
                ('lower_bound', models.FloatField()),
                ('cohort', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='bounds', to='linker.cohort')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('tier', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.tier')),
            ],
            options={
                'ordering': ['-lower_bound'],
                'constraints': [
                    models.UniqueConstraint(fields=('cohort', 'tier'), name='cohort_tier_once'),
                    models.UniqueConstraint(fields=('cohort', 'lower_bound'), name='cohort_bound_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('basis', 'cosine'), ('lower_bound__gte', -1.0), ('lower_bound__lte', 1.0)), models.Q(('lower_bound__gte', 0.0), ('lower_bound__lte', 1.0)), _connector='OR'), name='cohort_bound_fits_basis'),
                ],
            },
        ),
        # At once, and not when the transaction ends, which is too late for what refers to it.
        migrations.AddConstraint(
            model_name='cohort',
            constraint=models.UniqueConstraint(fields=('id', 'project', 'basis'), name='cohort_of_basis'),
        ),
        migrations.RunSQL(ONE_BASIS, NOT_ONE_BASIS),
    ]
