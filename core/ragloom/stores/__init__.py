"""The kit for stores: what conditions mean, chunks as JSON, checks before writing, exact search."""

from ragloom.stores.atomic import quarantine, replace_file
from ragloom.stores.filters import (
    PATH,
    as_folder,
    as_number,
    joined,
    matches,
    parse_condition,
)
from ragloom.stores.formats import check_format, format_stamp
from ragloom.stores.records import (
    check_records,
    chunk_from_record,
    chunk_to_record,
    cosines,
    dump_json,
    nearest,
    search_exactly,
)

__all__ = [
    "PATH",
    "as_folder",
    "as_number",
    "check_format",
    "check_records",
    "chunk_from_record",
    "chunk_to_record",
    "cosines",
    "dump_json",
    "format_stamp",
    "joined",
    "matches",
    "nearest",
    "parse_condition",
    "quarantine",
    "replace_file",
    "search_exactly",
]
