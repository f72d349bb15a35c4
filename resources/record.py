"""The root of every record in taskloom."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable, validated value that may cross a boundary (file, model reply, table row).

    Guarantees that no unknown field is accepted and that no field changes after construction, so a record
    can be shared between threads, hashed by its content and stored without copying.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        protected_namespaces=(),
        ser_json_bytes="base64",
    )
