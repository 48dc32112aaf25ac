"""Capture: what agents' hooks noted, and putting our hooks into their settings.

- `queue`: what hooks noted, as a sweep sees it
- `agent_settings`: which hooks are ours, and how they get in and out
- `settings_file`: reading and writing a file that is a person's; `json_text`: editing in place
"""
