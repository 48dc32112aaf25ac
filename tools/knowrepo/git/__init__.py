"""Git as knowrepo sees it: where a repository keeps its things, and its plumbing."""
