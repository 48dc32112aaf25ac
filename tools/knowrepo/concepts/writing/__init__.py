"""New concepts, and the log of what became of them.

- `create`: what is typed becomes a concept; `templates`: the questions of each type
- `log`: entries from history; `log_file`: bringing them into log.md
"""
