"""What was known, and since when: concepts at a revision, and what changed between two.

Reads git's history by plumbing, without a checkout, and changes nothing.

- `past`: the catalog of a revision
- `trace`: the commits of a concept; `versions`: what differs between two of its versions
- `statements`: what a concept states, line by line; `origin`: who brought each
- `between`: what became of the knowledge; `note`: as Markdown
"""
