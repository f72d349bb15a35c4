"""Settings of cross-verification."""

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.synthesis.examination.verdict import Thresholds


class VerificationSettings(Record):
    """Settings of cross-verification."""

    rounds: int = Field(default=3, ge=1)
    """Rounds of performing and writing (N in the paper)."""
    functions_per_round: int = Field(default=3, ge=1)
    """Functions tried on the evidence of one round before the subtask is performed again."""
    parameter_sets: int = Field(default=2, ge=1)
    """Parameter sets that are performed and verified; the others are left out of the verified subtask."""
    performances_per_instance: int = Field(default=5, ge=1)
    """Most performances of one parameter set, over all rounds."""
    other_subtasks: int = Field(default=6, ge=0)
    """Performances of other subtasks that the function is held against; some may turn out to be no wrong
    evidence."""
    writers: int = Field(default=1, ge=1, le=2)
    """Functions written independently of each other, which must agree on everything that was recorded; 2
    doubles the writer's calls."""
    again: tuple[str, ...] = ()
    """Ids of rejected proposals that are tried once more, unchanged; `*` stands for any text (`tracker.*`).
    They go on with the number of their attempts, so that models are asked anew."""
    thresholds: Thresholds = Thresholds()
    """What the examination must show."""
