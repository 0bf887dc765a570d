"""A short name for `import_file traffic`."""

from ingest.kinds import registry
from ingest.management.commands._import import ImportCommand


class Command(ImportCommand):
    kind = "traffic"
    help = registry.get("traffic").command_help
