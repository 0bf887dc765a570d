"""Makes a project from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from linker.errors import UserError
from linker.projects.create import create_project
from linker.projects.members import find_user

if TYPE_CHECKING:
    from argparse import ArgumentParser

FLAGS = {"slug": "SLUG", "base_url": "--base-url", "name": "--name"}


class Command(BaseCommand):
    help = "Makes a project with the default tiers. Exits with 1 where the slug is taken or a value is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the project's short name in addresses and commands")
        parser.add_argument(
            "--base-url", required=True, help="the start of every address of the site, https://www.example.com"
        )
        parser.add_argument("--name", help="the project's name for people (default: SLUG)")
        parser.add_argument("--manager", metavar="USERNAME", help="an existing user who becomes its manager")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manager = find_user(options["manager"]) if options["manager"] else None
            project = create_project(
                slug=options["slug"],
                name=options["name"] or options["slug"],
                base_url=options["base_url"],
                manager=manager,
            )
        except UserError as error:
            raise CommandError(str(error)) from None
        except ValidationError as error:
            raise CommandError(_sentence(error)) from None
        self.stdout.write(f"Project {project.slug} was created for {project.base_url}.")
        if manager is None:
            self.stdout.write("It has no members yet: give --manager, or add them in the administration.")


def _sentence(error: ValidationError) -> str:
    return " ".join(
        f"{FLAGS.get(field, field)}: {' '.join(messages)}" for field, messages in error.message_dict.items()
    )
