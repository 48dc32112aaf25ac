"""What can go wrong that a person can mend.

Owns the one exception family that the command line turns into a clear line and
an exit code. A check that finds something is a result, not an exception, and a
bug is any other exception: neither belongs here.
"""


class KnowError(Exception):
    """An expected failure: what is wrong, and what to do about it.

    ``message`` says what and where; ``hint`` says what to do next.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(KnowError):
    """The command was asked for something that it does not offer."""

    exit_code = 2


class NotARepositoryError(KnowError):
    """No knowledge repository, or no git repository, where one is needed."""


class ModelError(KnowError):
    """The embedding model is missing, damaged, or not an embedding model."""
