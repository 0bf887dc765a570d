"""Errors that a user can cause. Their text is shown to the user; everything else crashes loudly."""


class UserError(Exception):
    """Something the user can put right. The text says what is wrong, where, and what to do."""


class RunCancelled(Exception):
    """Raised out of a progress call after somebody asked the run to stop."""
