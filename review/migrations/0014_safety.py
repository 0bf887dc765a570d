"""Releases hold back links of pages that may never be linked."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0021_safety'),
        ('review', '0013_audits'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='heldback',
            name='held_back_reason_known',
        ),
        migrations.AlterField(
            model_name='draftlink',
            name='reason',
            field=models.CharField(blank=True, choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('barred', 'Pages that may not be linked'), ('suppressed', 'Ruled out by an editor'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor'), ('changed', 'Changed since the draft was made')], default='', max_length=16),
        ),
        migrations.AlterField(
            model_name='heldback',
            name='reason',
            field=models.CharField(choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('barred', 'Pages that may not be linked'), ('suppressed', 'Ruled out by an editor'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor'), ('changed', 'Changed since the draft was made')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='heldback',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['gone', 'redirected', 'not_indexable', 'excluded', 'barred', 'suppressed', 'sensitive', 'not_looked', 'linked', 'words_gone', 'same_anchor', 'donor_full', 'acceptor_full', 'changed'])), name='held_back_reason_known'),
        ),
    ]
