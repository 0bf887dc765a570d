
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0037_replacements'),
        ('review', '0022_draft_keys'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='heldback',
            name='held_back_reason_known',
        ),
        migrations.AlterField(
            model_name='draftlink',
            name='reason',
            field=models.CharField(blank=True, choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('barred', 'Pages that may not be linked'), ('suppressed', 'Ruled out by an editor'), ('second', 'Waits for a second person'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('rollout', 'Not rolled out yet'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor'), ('pair', 'Waits with the link it replaces'), ('changed', 'Changed since the draft was made')], default='', max_length=16),
        ),
        migrations.AlterField(
            model_name='heldback',
            name='reason',
            field=models.CharField(choices=[('gone', 'Page gone'), ('redirected', 'Page redirected'), ('not_indexable', 'Acceptor not indexable'), ('excluded', 'Excluded'), ('barred', 'Pages that may not be linked'), ('suppressed', 'Ruled out by an editor'), ('second', 'Waits for a second person'), ('sensitive', 'Sensitive, not reviewed'), ('not_looked', 'Not yet scanned for sensitive content'), ('rollout', 'Not rolled out yet'), ('linked', 'Linked already'), ('words_gone', 'Words gone from the text'), ('same_anchor', 'Anchor used too often'), ('donor_full', 'Too many links on the donor'), ('acceptor_full', 'Too many links to the acceptor'), ('pair', 'Waits with the link it replaces'), ('changed', 'Changed since the draft was made')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='heldback',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['gone', 'redirected', 'not_indexable', 'excluded', 'barred', 'suppressed', 'second', 'sensitive', 'not_looked', 'rollout', 'linked', 'words_gone', 'same_anchor', 'donor_full', 'acceptor_full', 'pair', 'changed'])), name='held_back_reason_known'),
        ),
    ]
