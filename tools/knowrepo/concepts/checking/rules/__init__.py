"""The rules of a check, one module a subject: each rule a function that yields findings."""
