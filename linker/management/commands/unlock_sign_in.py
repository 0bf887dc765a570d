"""Lets somebody sign in again at once who has to wait after too many wrong passwords."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from linker.web import sign_in


class Command(BaseCommand):
    help = "Forgets failed sign-ins: of an account, of an address, or with --all every one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("login", nargs="?", default="", help="the account's login")
        parser.add_argument("--address", default="", help="an address that signs in, for example 203.0.113.9")
        parser.add_argument("--all", action="store_true", help="every account, from every address")

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["login"] or options["address"] or options["all"]):
            raise CommandError("Name a login, an --address, or --all.")
        failures = sign_in.lift(username=options["login"], address=options["address"])
        self.stdout.write(f"{failures} failed sign-in{'' if failures == 1 else 's'} forgotten.")
