"""What was known, and since when: concepts at a revision, and what changed between two.

Reads git's history by plumbing, without a checkout, and changes nothing.
"""
