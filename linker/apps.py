from django.apps import AppConfig


class LinkerConfig(AppConfig):
    name = "linker"
    verbose_name = "Anchorline"

    def ready(self) -> None:
        from linker import checks  # noqa: F401  (registers them)
