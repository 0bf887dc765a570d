"""Links that have no words in the text may have bounds of their own."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0059_link_rules_by_place'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='cohort',
            name='cohort_names_one_thing',
        ),
        migrations.AddField(
            model_name='cohort',
            name='wordless',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name='cohort',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__isnull', False), ('role', ''), ('wordless', False)), models.Q(('category__isnull', True), ('role__in', ['home', 'hub', 'article', 'product', 'utility', 'thin', 'event']), ('wordless', False)), models.Q(('basis', 'probability'), ('category__isnull', True), ('role', ''), ('wordless', True)), _connector='OR'), name='cohort_names_one_thing'),
        ),
    ]
