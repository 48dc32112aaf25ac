"""From sessions to proposed concepts: what was decided, found out and wished, with its sources.

Whoever finds:
- `model`: statements, proposals, finders; `reading`: a session as finders take it
- `run`: which sessions, and the order of writing
- `ledger`: what went where; `looked`, `pending`: what need not be read again
- `files`: a draft's bytes; `relate`: links, and what is said already

By rules:
- `rules`: the finder
- `attempts`: goals that failed and then worked; `commands`, `signs`: what they were, and told
- `sentences`: what of a turn is prose; `answers`: what a user picked
- `cues`: what a sentence is; `english`: how English says it; `against`: what speaks against it
- `collect`: one pass over a session; `group`: what belongs together
- `join`: what was said and what was tried of one failure
- `wording`, `tagging`: titles and tags

By a language model:
- `llm`: the finder
- `prompt`: a session as a question; `form`: the form of an answer
- `answer`: what of one counts
- `asked`: the user's command or model; `command`, `chat`: running either
- `rates`: how long it took

By an agent itself:
- `skill`: what it is told
"""
