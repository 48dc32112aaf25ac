"""Whether all that know needs is there and whole: the answer of `know doctor`.

- `check`: what a check says
- `run`: their order, and what happens when one fails itself
- `trial`: trying what may take a process down
- `machine`, `repository`, `configuration`, `hooks`, `agents`, `catalog`, `vectors`, `model`,
  `files`: the checks by subject

A check looks and changes nothing. What it may mend it gives back as a function, which is
called only when a person asks (`--fix`), deletes nothing that git tracks, and replaces a
derived file without ever opening it for writing.
"""
