"""Settings files: TOML that a person wrote, and values of the type that they must have.

Owns the errors that say which value of which file is wrong. What a setting means,
and which there are, is `config`'s.
"""

from __future__ import annotations

from pathlib import Path

from knowrepo.errors import KnowError


def read_toml(path: Path) -> dict[str, object]:
    """Return what a file holds; an absent file is an empty one."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise KnowError(f"{path}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise KnowError(
            f"{path}: not valid TOML: {error}", hint="mend the line, or move the file away"
        ) from error


def text_of(table: dict[str, object], key: str, where: str) -> str:
    """Return a string; where there is none, an empty one."""
    value = table.get(key, "")
    if not isinstance(value, str):
        raise KnowError(f"{where}: `{key}` must be a string")
    return value


def table_of(data: dict[str, object], key: str, where: str) -> dict[str, object]:
    """Return a table; where there is none, an empty one."""
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise KnowError(f"{where}: `{key}` must be a table")
    return value


def texts_of(table: dict[str, object], key: str, where: str) -> tuple[str, ...]:
    """Return a list of strings; where there is none, an empty one."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise KnowError(f"{where}: `{key}` must be a list of strings")
    return tuple(value)


def flag_of(table: dict[str, object], key: str, where: str, *, default: bool = False) -> bool:
    """Return true or false; where there is none, the default."""
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise KnowError(f"{where}: `{key}` must be true or false")
    return value


def whole_of(
    table: dict[str, object], key: str, where: str, default: int, bounds: tuple[int, int]
) -> int:
    """Return a whole number within ``bounds``; where there is none, the default."""
    if key not in table:
        return default
    value = table[key]
    least, most = bounds
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise KnowError(f"{where}: `{key}` must be from {least} to {most}")
    return value


def number_of(
    table: dict[str, object], key: str, where: str, default: float, bounds: tuple[float, float]
) -> float:
    """Return a number within ``bounds``; where there is none, the default."""
    value = table.get(key, default)
    least, most = bounds
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise KnowError(f"{where}: `{key}` must be from {least:g} to {most:g}")
    return float(value)


def price_of(table: dict[str, object], key: str, where: str) -> float:
    """Return an amount of money; where there is none, 0."""
    value = table.get(key, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise KnowError(f"{where}: `{key}` must be a number, in whatever currency you pay")
    return float(value)
