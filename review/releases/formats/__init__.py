"""The files that a release can be had as, made of the rows it keeps: a module a format, and a line in the registry."""
