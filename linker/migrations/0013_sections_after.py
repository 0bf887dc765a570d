"""An import moves suggestions into the categories of their donors after it is committed (linker.storage.sections)."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION linker_section_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {before}
    UPDATE linker_candidateedge SET section = coalesce(NEW.category_id, 0) WHERE source_id = NEW.id;
    RETURN NULL;
END $$;
"""
UNLESS_LATER = "IF current_setting('anchorline.sections_later', true) = 'on' THEN RETURN NULL; END IF;"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0012_gap_links'),
    ]

    operations = [
        migrations.RunSQL(FUNCTION.format(before=UNLESS_LATER), FUNCTION.format(before="")),
    ]
