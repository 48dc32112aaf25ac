"""Git as knowrepo sees it: where a repository keeps its things, and its plumbing.

On every hot path, without GitPython:
- `layout`: where a repository keeps its things, found without running git
- `plumbing`: git processes, NUL-separated, environment scrubbed
- `lock`: work that one process does at a time
- `partial`: what a partial clone has, without fetching the rest

Commits and hooks:
- `making`: the commit in the making: whose it is, what it changes, what git's index holds
- `merged`: the merge commit that git has just made, and giving it another tree
- `hooks`: git's hooks as plain files
- `program`: which `know` the hooks of a clone run

What history and remotes hold:
- `tips`: what branches, tags, stashes and work trees hold
- `history`: which commit changed which file, and when
- `revisions`: which commit a word names, what it holds, what changed since another
- `blame`: which commit brought each line
- `remotes`: talking to a remote: what it has, fetching and pushing refs, what a refusal says

With GitPython, for what is asked now and then:
- `repo`: which project a folder is of, and the like
- `commit`: committing the archive and nothing else
- `drivers`: the merge drivers of a clone
"""
