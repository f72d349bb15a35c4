"""The paper's protocol (section 4.1): the unchanged instruction, and N steps of patience.

The graph evaluator follows the attempt; it ends when every subtask is completed, when the agent stops, or
when nothing was completed for N steps. The paper does not give N; 20 is the length of its longest subtasks.
"""

from taskloom.omnieval.answers import ProtocolLimits, quoted_answer
from taskloom.omnieval.brief import AgentTask

LIMITS = ProtocolLimits(steps_per_subtask=30, patience=20)
"""Limits of attempts."""


def instruction(task: AgentTask) -> str:
    """The instruction, followed by the question."""
    return f"{task.instruction} {task.question}".strip()


def answer(said: str) -> str:
    """The quoted answer, otherwise the whole message."""
    return quoted_answer(said) or said.strip()
