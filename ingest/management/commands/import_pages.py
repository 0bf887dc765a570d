"""A short name for `import_file pages`."""

from ingest.kinds import registry
from ingest.management.commands._import import ImportCommand


class Command(ImportCommand):
    kind = "pages"
    help = registry.get("pages").command_help
