"""The rules of a check, by subject: each a function that yields findings."""
