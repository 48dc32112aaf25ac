"""Looking after a repository's derived files: what state they are in, and what to do about it.

Owns the answers of `know status`, `know doctor` and `know stats`, and the log. It prints
nothing, and changes nothing that a check has not named.

- `status`: how things stand; `locks`: who holds what
- `doctor`: the checks
- `stats`: what an archive sums up to; `usage`: tokens as each agent tells them
- `logs`: one line a run; `background`: runs that git's hooks ask for
"""
