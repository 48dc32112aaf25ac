"""What clones share beside the tracked files: vector packs, through git's own refs.

Owns what is pushed, pulled and refused: `pack` (the bytes of a pack, and what is
refused of them), `objects` (a pack as a commit, and its ref), `known` (what packs
hold that were looked at, or why they are refused), `held` (which texts a remote's
branches hold), `shelf` (the packs of one remote), `sample` (whether vectors are what
the model makes of their texts), `tables` (which vectors are meant), `installed` (what
is lacking), `push`, `publish`, `compact`, `pull`, `status`. How vectors are kept is
`index.vectors`' business, and how a remote is reached `git.remotes`'.
"""
