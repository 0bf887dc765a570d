"""Writes: what managers decide once for all suggestions, a file a subject."""
