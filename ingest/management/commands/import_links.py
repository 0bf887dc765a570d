"""A short name for `import_file links`."""

from ingest.kinds import registry
from ingest.management.commands._import import ImportCommand


class Command(ImportCommand):
    kind = "links"
    help = registry.get("links").command_help
