"""layout-truth.json: 160 modules whose every scalar a device was asked for, built again as classes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

from gpustruct import align, array, atomic, size, types

LETTER = {"f32": "f", "i32": "i", "u32": "u", "f16": "h"}
CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "layout-truth.json").read_text())["cases"]


def build(case: dict[str, Any]) -> Any:
    """The root struct of a case, through make_struct."""
    structs = {struct["struct"]: struct["members"] for struct in case["structs"]}
    made: dict[str, Any] = {}

    def type_of(spelled: Any) -> Any:
        if isinstance(spelled, dict):
            element = type_of(spelled["array"])
            return array[element, spelled["count"]] if "count" in spelled else array[element]
        if spelled in structs:
            if spelled not in made:
                made[spelled] = types.make_struct(spelled, {m["name"]: member(m) for m in structs[spelled]})
            return made[spelled]
        if match := re.fullmatch(r"atomic<(\w+)>", spelled):
            return atomic[types.PLAIN_TYPES[match[1]]]
        if match := re.fullmatch(r"(vec\d|mat\dx\d)<(\w+)>", spelled):
            return types.PLAIN_TYPES[match[1] + LETTER[match[2]]]
        return types.PLAIN_TYPES[spelled]

    def member(written: dict[str, Any]) -> Any:
        made_type = type_of(written["type"])
        if "align" in written:
            made_type = Annotated[made_type, align(written["align"])]
        if "size" in written:
            made_type = Annotated[made_type, size(written["size"])]
        return made_type

    return type_of(case["root"])
