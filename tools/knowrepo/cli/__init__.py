"""The command line: parse, one call, render, exit code. No logic of its own."""
