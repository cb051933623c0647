"""A DataFrame as documents: which of its columns are needed, and as what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from simdup.session import STAGE_ERROR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILES_ALWAYS = ("files-from", "null", "input-format", "glob", "pre", "pre-glob")
"""Settings about the files that are read, of which a DataFrame has none."""
FILES_ALONE = ("hidden", "follow", "encoding", "delimiter")
"""The same, but with `against` they say how its files are read."""

NUMBERS = ("byte", "short", "integer", "long", "decimal")
FRACTIONS = ("float", "double")
TEXTS = ("string", "varchar", "char")
LISTED_MAX = 20
"""Columns that a message lists."""


def documents(
    table: DataFrame, arguments: Sequence[str], id_column: str | None, text_column: str | None
) -> DataFrame:
    """Return what is read of a table: its ids, its texts, and columns that settings name.

    Each is called as the program looks it up. Raises ValueError if a setting names a column that
    is not there or cannot be used, or if it is about files.
    """
    named = _named(arguments)
    _check_files(named)
    columns = _Columns(table)
    fields = named.get("text-field", [])
    texts = [name for value in fields for name in value.split(",")]
    ids = named.get("id-field", [])
    _check_alone("id_field", ids, "id_column", id_column)
    _check_alone("text_field", texts, "text_column", text_column)
    if ids:
        columns.add_id(ids[-1], ids[-1], "id_field")
    else:
        columns.add_id("url", id_column or "url", "id_column")
    if texts:
        columns.add_texts([(name, name) for name in dict.fromkeys(texts)], "text_field")
    else:
        columns.add_texts([("text", text_column or "text")], "text_column")
    for value in named.get("keep", [])[-1:]:
        order, _, field = value.partition(":")
        if order in ("max", "min") and field:
            columns.add_value(field, "keep")
    for value in named.get("group-by", [])[-1:]:
        how, _, field = value.partition(":")
        if how == "dir":
            raise ValueError(
                f"group_by: a DataFrame has no folders for `{value}`; name a column (field:NAME)"
            )
        if how == "field" and field:
            columns.add_group(field, "group_by")
    return table.selectExpr(*columns.expressions())


def _named(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of flags that are typed `--name=value`.

    >>> _named(["--keep=max:a=b", "--wrap", "-t", "0.5"])
    {'keep': ['max:a=b'], 'wrap': ['']}
    """
    named: dict[str, list[str]] = {}
    for argument in arguments:
        if argument.startswith("--"):
            name, _, value = argument[2:].partition("=")
            named.setdefault(name, []).append(value)
    return named


def _check_files(named: dict[str, list[str]]) -> None:
    for name in FILES_ALWAYS if "against" in named else FILES_ALWAYS + FILES_ALONE:
        if name in named:
            setting = name.replace("-", "_")
            raise ValueError(f"{setting} is about files, and a DataFrame has none; leave it out")


def _check_alone(setting: str, values: Sequence[str], column: str, named: str | None) -> None:
    if values and named is not None:
        raise ValueError(f"{setting} and {column} both name a column; leave out one of them")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class _Columns:
    """Columns of a table that are read, by the names under which the program looks them up."""

    def __init__(self, table: DataFrame) -> None:
        self._fields = table.schema.fields
        self._chosen: dict[str, tuple[str, str]] = {}
        """By name, the column and the expression."""

    def expressions(self) -> Iterator[str]:
        for name, (_, expression) in self._chosen.items():
            yield f"{expression} as {_quoted(name)}"

    def add_id(self, name: str, column: str, setting: str) -> None:
        path, kind = self._find(column, setting)
        if kind.typeName() in ("array", "map", "struct"):
            self._refuse(setting, column, kind, "an id is a text or a number")
        # Without an id the program would take the place in a temporary file for it.
        problem = f"{setting}: the column `{column}` has a row without an id (NULL or empty)"
        remedy = "give each row an id, or leave such rows out"
        text = f"cast({path} as string)"
        error = f"raise_error({_literal(f'{STAGE_ERROR}{problem}; {remedy}')})"
        self._choose(name, column, f"if(coalesce({text}, '') = '', {error}, {text})", setting)

    def add_texts(self, names: Sequence[tuple[str, str]], setting: str) -> None:
        texts = []
        for name, column in names:
            path, kind = self._find(column, setting)
            if kind.typeName() in ("map", "struct"):
                self._refuse(setting, column, kind, "a text is a string or an array of strings")
            is_list = kind.typeName() == "array"
            text = f"cast({path} as {'array<string>' if is_list else 'string'})"
            empty = "cast(array() as array<string>)" if is_list else "''"
            texts.append((name, column, text, empty))
        # A document without any text is one without a word, not a record without its field.
        none = " and ".join(f"coalesce({text}, {empty}) = {empty}" for _, _, text, empty in texts)
        for name, column, text, empty in texts:
            self._choose(name, column, f"if({none}, {empty}, {text})", setting)

    def add_value(self, column: str, setting: str) -> None:
        """Add a column whose values have an order."""
        path, kind = self._find(column, setting)
        name = kind.typeName()
        if name in NUMBERS or name in TEXTS:
            expression = path
        elif name in FRACTIONS:
            # JSON has no such numbers.
            is_number = f"not isnan({path}) and abs({path}) < double('infinity')"
            expression = f"if({is_number}, {path}, null)"
        elif name == "timestamp":
            expression = f"unix_micros({path})"
        elif name in ("date", "timestamp_ntz"):
            expression = f"cast({path} as string)"
        else:
            self._refuse(setting, column, kind, "a number, a text, a date or a timestamp is needed")
        self._choose(column, column, expression, setting)

    def add_group(self, column: str, setting: str) -> None:
        """Add a column whose values are equal or not."""
        path, kind = self._find(column, setting)
        if kind.typeName() in ("array", "map", "struct", "binary"):
            self._refuse(setting, column, kind, "a text or a number is needed")
        is_plain = kind.typeName() in NUMBERS or kind.typeName() in TEXTS
        expression = path if is_plain else f"cast({path} as string)"
        self._choose(column, column, expression, setting)

    def _choose(self, name: str, column: str, expression: str, setting: str) -> None:
        if name not in self._chosen:
            self._chosen[name] = column, expression
        elif self._chosen[name][0] != column:
            other = self._chosen[name][0]
            raise ValueError(
                f"{setting}: the column `{other}` is read as `{name}`, so that `{column}` cannot "
                "be; rename the column"
            )

    def _find(self, column: str, setting: str) -> tuple[str, Any]:
        """Return how SQL names a column, which may be one of a nested one, and its type."""
        parts, fields = [column], self._fields
        found = _field(fields, column)
        if found is None:
            parts = []
            for part in column.split("."):
                found = _field(fields, part)
                if found is None:
                    break
                parts.append(found.name)
                fields = getattr(found.dataType, "fields", [])
        else:
            parts = [found.name]
        if found is None:
            names = [field.name for field in self._fields]
            more = ", …" if len(names) > LISTED_MAX else ""
            listed = ", ".join(f"`{name}`" for name in names[:LISTED_MAX])
            raise ValueError(
                f"{setting}: the DataFrame has no column `{column}`; it has {listed}{more}"
            )
        return ".".join(_quoted(part) for part in parts), found.dataType

    def _refuse(self, setting: str, column: str, kind: Any, needed: str) -> None:
        raise ValueError(
            f"{setting}: the column `{column}` is of the type {kind.simpleString()}; {needed}"
        )


def _field(fields: Sequence[Any], name: str) -> Any:
    """Return the field of a name, as it stands or else whatever its case, as Spark does."""
    same = [field for field in fields if field.name == name]
    alike = same or [field for field in fields if field.name.lower() == name.lower()]
    return alike[0] if alike else None
