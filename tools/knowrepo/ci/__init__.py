"""What a pull request is told of the knowledge in it: annotations and a summary.

- `base`: what it is compared with
- `changes`: of the concepts; `recalls`: what is no longer found
- `summary`: all of it as Markdown
"""
