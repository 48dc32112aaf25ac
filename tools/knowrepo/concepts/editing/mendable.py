"""Which findings of a check a fix would mend: said by mending, in memory, and checking again.

Owns the comparison, so that what the check promises is what the fix does.
"""

from __future__ import annotations

from collections.abc import Iterable

from knowrepo.concepts.checking.codes import FIXABLE
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.gather import Selection
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.editing.fix import mend
from knowrepo.concepts.editing.relink import Names


def mendable(found: Iterable[Finding], checked: Selection) -> set[Finding]:
    """Return the findings on files of ``checked`` that are gone once these are mended.

    Of two on one file that say the same, both stay where one does.
    """
    chosen = [one for one in found if one.code in FIXABLE and one.path in checked.files]
    names = Names(checked.tree, checked.root)
    files = {
        path: mend(path, checked.files[path], names).data
        for path in sorted({one.path for one in chosen})
    }
    changed = {path: data for path, data in files.items() if data != checked.files[path]}
    again = check(changed, checked.tree, root=checked.root, whole_bundle=False)
    left = {(one.path, one.code, one.message) for one in again}
    return {
        one for one in chosen
        if one.path in changed and (one.path, one.code, one.message) not in left
    }  # fmt: skip
