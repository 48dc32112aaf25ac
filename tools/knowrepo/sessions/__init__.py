"""Archived agent transcripts: reading, redacting, and growing them without loss.

Reading a transcript:
- `lines`: tolerant cutting
- `source`: a file before anybody knows whose it is
- `database`: other programs' SQLite, read only
- `readers`: what each agent writes; `record`: the common model

Which are archived:
- `discover`: the agents' places; `sweep`: what is worth a look
- `seen`: what need not be read again
- `projects`: what belongs here; `folders`: one spelling for paths
- `origins`: which project a session is of; `origin`: the tracked note of it
- `admission`: whether one may be archived

Archiving:
- `archive`: the lock around a run; `run`: which session each source becomes
- `intake`: one session of a source; `outcome`: what a run says of each
- `keep`: what of a line is archived; `payload`, `copies`, `written`: stubs, repeats, bytes
- `unite`, `growth`: what an archived session becomes, and joining snapshots that parted
- `publish`: the renames; `store`: files and parts
- `forget`: the one way out; `stats`: what content costs

With git:
- `tracked`: which files are the archive's
- `conflicts`: what git has in conflict; `joining`: both sides of it

Secrets:
- `redact`: what they look like, and what replaces them
- `secrets`: what a finding is, and what a commit would bring in
- `scan`: a second look at what is written

From hooks, and for people:
- `capture`: what agents' hooks noted, and our hooks in agents' settings
- `listing`: lists; `export`: pages
"""
