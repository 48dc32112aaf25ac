"""Whether what a repository knows can still be found: its own recall tests, and the figures.

- `cases`: the form of `eval.toml`, and adding to it; `places`: on which lines things stand
- `names`: which document a case means
- `run`: asking, and when a case passes
- `metrics`: hit@k, recall@k, MRR, NDCG, bounds: what each figure means, for `bench` too
"""
