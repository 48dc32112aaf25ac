"""Measurements that anyone can run: what the tool costs on this machine, in ratios.

Owns generated corpora and the loops that they are compared with. It is used by `know bench`
alone; nothing else imports it.

What all share:
- `measured`: a figure and its target; `sizes`: how much is measured
- `corpus`: generated sessions; `place`: a folder, an environment, clocks
- `standin`: vectors by hash; `bare`, `reader`, `indexing`: processes of their own

The index and hooks:
- `run`: the measurements, one a module: `embedding`, `appending`, `cataloging`, `idle`,
  `searching`, `reading`, `structured`, `memory`
- `hooks`: what a commit waits for

Recall on labelled sets:
- `sets`: their forms; `labelled_records`: where records stand
- `making`: a set as a repository; `shown`: what a chunk shows of a set
- `layers`: each asked alone; `baseline`: plain FTS5; `cut`: vectors cut short
- `judging`: figures; `recalling`: a run over a set
- `costs`, `warm`: what a recall costs; `counting`: in tokens
- `report`, `plots`: the page of a run
"""
