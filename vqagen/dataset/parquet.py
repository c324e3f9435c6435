"""Parquet files of rows with pictures, as Hugging Face's `datasets` read them.

The rows about a picture stand side by side in one row group, whose dictionary holds each picture once: ten questions
about a picture take the space of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import orjson

from vqagen.dataset.rows import FEATURES, Feature
from vqagen.files.output import atomic_output
from vqagen.files.parquet import pyarrow
from vqagen.language.domain_files import PathLike

LEAST_ROWS = 100
"""Rows after which a row group ends with its picture. `datasets` writes pictures in groups of 100 rows too."""
LARGEST_DICTIONARY = 256 << 20
"""Bytes. By default a dictionary ends at 1 MB, which is six rendered pictures; all further rows repeat theirs."""


def write_rows(path: PathLike, rows: Iterable[Mapping[str, Any]], features: Mapping[str, Feature] = FEATURES) -> int:
    """Write rows into a Parquet file, which gets its name when it is complete; return the number of rows.

    Rows about a picture must follow each other. Keys of a row that are no column, such as `split`, are left out. The
    rows of one group, about LEAST_ROWS, are in memory at once. The same rows give the same bytes. Raises VqagenError
    if the file cannot be written.
    """
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    schema, written = schema_of(features), 0
    with (
        atomic_output(str(path)) as file,
        parquet.ParquetWriter(
            file, schema, compression="zstd", dictionary_pagesize_limit=LARGEST_DICTIONARY, write_page_index=True
        ) as writer,
    ):
        for group in _groups(rows):
            columns = [arrow.array([row[name] for row in group], schema.field(name).type) for name in features]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema), row_group_size=len(group))
            written += len(group)
    return written


def schema_of(features: Mapping[str, Feature]) -> Any:
    """Return the `pyarrow.Schema` of columns; its metadata tells `datasets` which of them are pictures."""
    metadata = {"huggingface": orjson.dumps({"info": {"features": features}})}
    return pyarrow().schema([(name, arrow_type(each)) for name, each in features.items()], metadata)


def arrow_type(feature: Feature | list[Feature]) -> Any:
    """Return the `pyarrow` type of a column. A list has one feature, an object one for each of its keys.

    >>> str(arrow_type({"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"}))
    'list<element: string>'
    """
    arrow = pyarrow()
    if isinstance(feature, list):
        return arrow.list_(arrow.field("element", arrow_type(feature[0])))
    if "_type" not in feature:
        return arrow.struct([(name, arrow_type(each)) for name, each in feature.items()])
    if feature["_type"] == "Image":
        return arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    if feature["_type"] == "Sequence":
        return arrow.list_(arrow.field("element", arrow_type(feature["feature"])))
    return arrow.type_for_alias(feature["dtype"])


def _groups(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows of each row group."""
    group: list[Mapping[str, Any]] = []
    for _, about in groupby(rows, key=lambda row: row["image_id"]):
        group += about
        if len(group) >= LEAST_ROWS:
            yield group
            group = []
    if group:
        yield group
