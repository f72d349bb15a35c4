"""Where a record comes from."""

from taskloom.resources.record import Record


class Provenance(Record):
    """Who made a record, when and at what cost."""

    run_id: str = ""
    """Run that made it."""
    stage: str = ""
    """Stage of the method, such as `exploration`."""
    provider: str = ""
    """Model provider; empty where no model was called."""
    model: str = ""
    """Model name."""
    prompt: str = ""
    """Prompt template."""
    prompt_hash: str = ""
    """SHA-256 of the template's text."""
    seed: int = 0
    """Seed of the random choices made."""
    cost_usd: float = 0.0
    """Price of the model calls made for it, in US dollars."""
