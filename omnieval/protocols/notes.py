"""The protocol of the notes on OpenAI's evaluation of its Computer-Using Agent (January 2025).

The prompt contains tips per application and the rules for answers: ```` ```Answer:…``` ````, `N/A` for
impossible tasks, no reward for any other form. The limit is 200 steps, no patience; pass@1 at temperature
0.6, or pass@k for repeated attempts. Tips are the first lines of the application's manual.
"""

from taskloom.omnieval.answers import ProtocolLimits, quoted_answer
from taskloom.omnieval.brief import AgentTask

LIMITS = ProtocolLimits(steps=200)
"""Limits of attempts."""
_MAXIMUM_TIPS = 12
_ANSWER_RULES = """\
Rules for the answer: if the task asks for a text, give it in your last message in exactly this form:
```Answer:<your answer>```
with no space after the colon, as short as possible, and with nothing else beside it; in any other form it
counts for nothing. A count is a number, 0 included. If you believe that the task cannot be done, answer
```Answer:N/A```
You have full authority until the task is done; nobody watches, so do not ask for confirmation."""


def instruction(task: AgentTask) -> str:
    """The task, the open applications, tips for each, and the rules for answers."""
    names = ", ".join(item.title for item in task.applications)
    parts = [
        f"Solve the following task: {task.instruction} {task.question}".strip(),
        f"These applications are open: {names}. All you need is in them.",
    ]
    for item in task.applications:
        tips = [line.strip(" -*•") for line in item.manual.splitlines() if line.strip(" -*•#")]
        if tips:
            listed = "\n".join(f"- {tip}" for tip in tips[:_MAXIMUM_TIPS])
            parts.append(f"Tips for {item.title}:\n{listed}")
    return "\n".join([*parts, _ANSWER_RULES])


def answer(said: str) -> str:
    """The answer in the form that the rules require; empty for any other form."""
    return quoted_answer(said)
