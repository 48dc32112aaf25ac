"""The OKF bundle: reading concepts, checking and editing them, and what is generated from them.

Reading a concept:
- `document`: front matter and body; `causes`: why YAML fails
- `model`: what the keys mean
- `markdown`: sections, links and footnotes; `shortcuts`: what need not be parsed
- `naming`: which concept a word means

Generated files:
- `tags`: their bytes, and which folders have an index
- `listed`: what they say of one concept; `facts`: what blobs were found to say
- `for_commit`: what is generated, as the next commit should have it
- `merging`: three versions of one to one; `conflicts`: which in conflict are ours to decide
- `near_tags`: two spellings of one tag

Reading and writing the bundle:
- `bundle`: reading and writing by git's list
- `keeping`: writing and staging
- `compose`: strict YAML; `kinds`: the types that we write
- `graph`: the links; `drawing`: as Mermaid, DOT, JSON

Rooms of their own:
- `checking`: findings, and what each code means
- `editing`: changing concepts that are there
- `writing`: new concepts, and the log
"""
