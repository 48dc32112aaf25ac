"""Checking a bundle against OKF, and saying what is to be mended.

- `gather`: which files are looked at; `staged`: those of a commit; `tree`: what is there
- `page`: one file, parsed once; `kept_pages`: those of the last check
- `rules`: what finds, by subject
- `validate`: the order of it all
- `codes`: what each code means; `findings`: one thing to say
- `report`: lines, JSON, SARIF, annotations
"""
