"""Answering a query: the structured layer first, hybrid search where it does not know.

The order of it:
- `route`: from a query to an answer
- `opening`: the catalog of today; `then`: of a revision
- `ids`: what is asked for by id

The layers:
- `structured`: whether the front matter knows; `coverage`: how much of a query each concept covers
- `search`: words, meaning, dates and front matter over all chunks
- `evidence`: what the words say; `nearby`: near spellings
- `semantic`: what the vectors say
- `dates`: what the dates say; `times`: the days that a query means
- `fuse`: the weights; `rerank`: a second look, for a set time

From chunks to hits:
- `spread`, `gather`: few of a document, each text once
- `said`: what a chunk is worth for what somebody said in it
- `hits`: what an answer gives

Showing:
- `present`: lines, bodies, JSON; `written`: Markdown, places
- `shown`: what of a text; `snippet`: the part that matches
- `budget`: bodies into tokens; `tokens`: the estimate

The log of recalls:
- `journal`: writing it; `glance`: whether a query needs the redactor; `review`: what it tells
"""
