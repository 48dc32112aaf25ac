"""The hooks that git runs, written as plain files where pre-commit does not run them.

`scripts` makes their text, `place` finds out whose the folder is, `others` knows
pre-commit, husky and lefthook by their files, `looking` says what is there, and
`changing` is the only one that writes.
"""

BEFORE = ("pre-commit", "pre-merge-commit")
AFTER = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
"""Stages after which the work tree may hold something that is not indexed yet."""
STAGES = (*BEFORE, *AFTER)
