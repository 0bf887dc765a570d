from django.apps import AppConfig


class LinkerConfig(AppConfig):
    name = "linker"
    verbose_name = "Anchorline"
