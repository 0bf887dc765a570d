"""A short name for `import_file queries`."""

from ingest.kinds import registry
from ingest.management.commands._import import ImportCommand


class Command(ImportCommand):
    kind = "queries"
    help = registry.get("queries").command_help
