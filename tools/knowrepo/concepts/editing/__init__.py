"""Changing concepts that are there, and no byte more than is meant.

One value:
- `spans`: where each value stands
- `place`: finding one, and whether it may be changed
- `splice`: which characters change
- `edit`: the change, proven; `said`: all that a body says, to compare two

Commands on top of it:
- `chosen`: which files are edited
- `fix`: what has one right answer; `relink`: links; `mendable`: which findings a fix ends
- `migrate`: v0.1 to v0.2; `citations`: the list that v0.1 had
- `lifecycle`: draft, stable, deprecated
- `retag`: a tag renamed everywhere
"""
