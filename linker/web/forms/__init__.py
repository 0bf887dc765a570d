"""What people write into the project's pages, a file a screen."""
