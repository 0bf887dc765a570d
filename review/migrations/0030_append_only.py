"""One trigger function for all append-only tables, in the place of three that said the same."""

from django.db import migrations

TABLES = {
    "linker_change": ("linker_change_is_append_only", "the log of changes is append-only"),
    "review_decision": ("review_decision_is_append_only", "decisions are append-only"),
    "review_releaselink": ("review_release_is_append_only", "what left with a release is append-only"),
    "review_heldback": ("review_release_is_append_only", "what left with a release is append-only"),
}
# The message is the trigger's argument. Only a purge of a whole project deletes, and says so in its transaction.
FUNCTION = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('anchorline.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION {message} USING ERRCODE = 'restrict_violation';
END $$;
"""
TRIGGER = """
DROP TRIGGER {table}_append_only ON {table};
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION {function};
"""
OLD = dict(TABLES.values())


def function(name: str, message: str) -> str:
    return FUNCTION.format(name=name, message=message)


def drop(names: list[str]) -> str:
    return "".join(f"DROP FUNCTION {name}();\n" for name in names)


FORWARD = (
    function("anchorline_append_only", "'%', TG_ARGV[0]")
    + "".join(
        TRIGGER.format(table=table, function=f"anchorline_append_only('{message}')")
        for table, (_, message) in TABLES.items()
    )
    + drop(list(OLD))
)
BACKWARD = (
    "".join(function(name, f"'{message}'") for name, message in OLD.items())
    + "".join(TRIGGER.format(table=table, function=f"{name}()") for table, (name, _) in TABLES.items())
    + drop(["anchorline_append_only"])
)


class Migration(migrations.Migration):
    dependencies = [("review", "0029_source_before"), ("linker", "0028_labels")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
