"""The command line: parse, one call, render, exit code. No logic of its own.

One module a command, of its name; large ones have more (`recall_log`, `model_use`, …).

- `main`: the table of commands; `group`: loads the one that is asked for
- `ending`: from errors to exit codes
- `commit_hook`, `merge_hooks`: what git waits for, without typer; `git_calls`: what it does not
- `common`: what every command shares; `style`, `width`, `rows`: how things are printed

A module's top imports nothing but typer and `common`: a recall starts through here.
"""
