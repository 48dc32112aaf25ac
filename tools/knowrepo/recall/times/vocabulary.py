"""The words of time: which there are, in which languages, and what each stands for.

Owns tables and nothing that looks at them. All words are folded. A word of
another language stands here only where it is no English word of coding.
"""

from __future__ import annotations

MINUTE, HOUR = "minute", "hour"
DAY, WEEK, MONTH, QUARTER, YEAR = "day", "week", "month", "quarter", "year"


def _table(text: str) -> dict[str, int]:
    """Number the lines; each names one thing in all its ways."""
    return {word: at for at, line in enumerate(text.strip().splitlines()) for word in line.split()}


MONTHS = _table("""
january jan januar janvier
february feb februar fevrier
march mar marz mars
april apr avril
may mai
june jun juni juin
july jul juli juillet
august aug aout
september sep sept septembre
october oct oktober octobre
november nov novembre
december dec dezember decembre
""")
WEEKDAYS = _table("""
monday mon montag lundi
tuesday tue tues dienstag mardi
wednesday wed mittwoch mercredi
thursday thu thur thurs donnerstag jeudi
friday fri freitag vendredi
saturday sat samstag samedi
sunday sun sonntag dimanche
""")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins."""
AMBIGUOUS = frozenset(
    "may mai march mars jan feb mar apr jun jul aug sep sept oct nov dec"
    " mon tue tues wed thu thur thurs fri sat sun spring fall".split()
)
"""Words that mean something else as often: they need evidence beside them."""

UNITS = {
    **dict.fromkeys("minute minutes min mins minuten".split(), MINUTE),
    **dict.fromkeys("hour hours hr hrs stunden heures".split(), HOUR),
    **dict.fromkeys("day days tage tagen jours".split(), DAY),
    **dict.fromkeys("week weeks woche wochen semaine semaines".split(), WEEK),
    **dict.fromkeys("month months monat monate monaten mois".split(), MONTH),
    **dict.fromkeys("quarter quarters quartal quartale quartalen".split(), QUARTER),
    **dict.fromkeys("year years jahr jahre jahren annee annees ans".split(), YEAR),
}
"""What is counted, and what last, this and past go with."""
SHORT_UNITS = {"h": HOUR, "d": DAY, "w": WEEK, "y": YEAR}
NUMBERS = {
    "a": (1, 1), "an": (1, 1), "one": (1, 1), "two": (2, 2), "three": (3, 3), "four": (4, 4),
    "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8), "nine": (9, 9),
    "ten": (10, 10), "eleven": (11, 11), "twelve": (12, 12), "couple": (2, 3), "few": (2, 5),
    "several": (3, 8), "some": (2, 8), "einem": (1, 1), "einer": (1, 1), "zwei": (2, 2),
    "drei": (3, 3), "vier": (4, 4), "funf": (5, 5), "sechs": (6, 6), "ein": (1, 1),
    "wenigen": (2, 5), "paar": (2, 5), "einigen": (2, 8), "un": (1, 1), "une": (1, 1),
    "deux": (2, 2), "trois": (3, 3), "quatre": (4, 4), "cinq": (5, 5), "quelques": (2, 5),
}  # fmt: skip
"""How many at least and at most."""
ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4,
            "4th": 4}  # fmt: skip

DAYS_AGO = {
    "today": 0, "tonight": 0, "heute": 0, "aujourd'hui": 0, "yesterday": 1, "gestern": 1,
    "vorgestern": 2, "avant-hier": 2,
}  # fmt: skip
TIMES_OF_DAY = frozenset({"morning", "afternoon", "evening", "night"})
VAGUE = frozenset(
    "recently recent lately latest newest neulich kurzlich neueste neuesten recemment".split()
)
LAST = frozenset(
    "last past previous letzte letzten letzter letztes vorige vorigen voriges"
    " vergangene vergangenen vergangenes".split()
)
LAST_BEHIND = frozenset("dernier derniere derniers dernieres passe passee".split())
"""What says last after its noun."""
THIS = frozenset("this diese diesen diesem dieser dieses ce cette".split())
THIRDS = {"early": 0, "beginning": 0, "start": 0, "anfang": 0, "debut": 0, "mid": 1, "middle": 1,
          "mitte": 1, "late": 2, "end": 2, "ende": 2, "fin": 2}  # fmt: skip
FRENCH_YESTERDAY = "hier"
"""German for here, so only a query in French says it."""
THIRDS_OF = frozenset("start end beginning middle".split())
"""Those that are verbs or nouns of code unless `of` follows."""

RELATIONS = {
    "since": "since", "seit": "since", "depuis": "since", "after": "after", "nach": "after",
    "before": "before", "vor": "before", "avant": "before", "until": "until", "till": "until",
    "through": "until", "by": "until", "bis": "until", "between": "between",
    "zwischen": "between", "entre": "between", "from": "from", "von": "from", "vom": "from",
}  # fmt: skip
WITHIN = frozenset("in on during over within throughout im am wahrend en".split())
TO = frozenset("to until till through bis zum - – — .. and und et".split())
AND = frozenset("and und et".split())
FILLERS = frozenset("the of der dem den des de la le du".split())
EVIDENCE = frozenset(
    "in during since before after until till from between im seit en depuis".split()
)
"""What stands before a month or a year, and before few other things of its spelling."""
NOUNS = frozenset().union(
    MONTHS, WEEKDAYS, SEASONS, UNITS, VAGUE, DAYS_AGO, TIMES_OF_DAY,
    ("ago", "hui", "hier", "weekend"),
)  # fmt: skip
"""One of these, or a digit, stands in each phrase of time."""
STARTS = frozenset().union(
    MONTHS, WEEKDAYS, SEASONS, UNITS, NUMBERS, ORDINALS, DAYS_AGO, VAGUE, LAST, THIS, THIRDS,
    ("day", "other", "weekend", "il", FRENCH_YESTERDAY),
)  # fmt: skip
"""What a phrase may begin with beside a relation, a preposition or a digit."""
