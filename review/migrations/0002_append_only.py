"""Decisions can neither be changed nor deleted, unless a purge of a whole project says so in its transaction."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION review_decision_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('anchorline.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'decisions are append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER review_decision_append_only BEFORE UPDATE OR DELETE ON review_decision
    FOR EACH ROW EXECUTE FUNCTION review_decision_is_append_only();
"""
BACKWARD = """
DROP TRIGGER review_decision_append_only ON review_decision;
DROP FUNCTION review_decision_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("review", "0001_review")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
