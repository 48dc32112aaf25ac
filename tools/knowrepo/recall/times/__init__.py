"""What a query says of time: the days that it means, and events that it names.

What is found never shuts anything out: it is evidence about dates, which the
ranking may use. So words that are something else as often (`may`, `march`,
`fall`, a number) count only with evidence beside them; versions, ids, times of
day and dates inside a path are no dates.

No library does this: the one that reads most languages takes seconds for its
first query and many milliseconds for each, and reads `may` and `3.11.7` as
dates. A recall pays for what it imports and compiles, so patterns are compiled
for scripts without spaces only.

- `periods`, `phrases`: the days that a query means, and its phrases of time
- `amounts`: what counts days from today; `spans`: days from and to
- `names`: of months, weekdays, seasons; `vocabulary`: in which languages
- `unspaced`: Chinese and Japanese; `events`: `before the migration`
"""

from __future__ import annotations

from knowrepo.recall.times.events import Event, event
from knowrepo.recall.times.periods import Period, period

__all__ = ["Event", "Period", "event", "period"]
