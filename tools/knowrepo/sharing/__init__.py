"""What clones share beside the tracked files: vector packs, through git's own refs.

Owns what is pushed, pulled and refused. How vectors are kept is `index.vectors`' business.
"""
