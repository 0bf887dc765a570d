"""A project's settings, a file a tab."""
