"""Whether all that know needs is there and whole: the answer of `know doctor`.

`check` has what a check says, `run` the order of the checks and what happens when
one of them fails itself; the others hold the checks by subject. A check looks and
changes nothing. What it may mend it gives back as a function, which is called only
when a person asks (`--fix`), deletes nothing that git tracks, and replaces a
derived file without ever opening it for writing.
"""
