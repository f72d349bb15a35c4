"""Habits of real models: what stands around the JSON, and what is said beside the point. Chosen by the
prompt's hash."""

from __future__ import annotations

import hashlib

REFUSAL = "I'm sorry, but I can't help with operating this application."
_LEADS = (
    "",
    "Sure! Here is the JSON you asked for:\n\n",
    "Looking at the screen, I can see what to do next.\n",
    "**Answer**\n\n",
)
_LONG = (
    "Let me think about this carefully before I act, because I want to be certain that I understand what is"
    " shown. The screen has several controls, and more than one of them could be meant, but the one I chose"
    " fits the words of the instruction. If it turns out to be wrong I can still go back. "
)


def draw(text: str, sides: int, purpose: str = "") -> int:
    """A number below `sides` that depends on the prompt alone."""
    digest = hashlib.sha256(f"{purpose}\0{text}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % sides


def dressed(reply: str, prompt: str) -> str:
    """The reply as models send it: bare, in a fence, or after a lead sentence."""
    lead = _LEADS[draw(prompt, len(_LEADS), "lead")]
    if draw(prompt, 2, "fence"):
        closing = "\n\nLet me know if you need anything else!" if draw(prompt, 3, "closing") == 0 else ""
        return f"{lead}```json\n{reply}\n```{closing}"
    return f"{lead}{reply}"


def thought(goal: str, prompt: str) -> str:
    """A thought about a goal; every fifth is far too long."""
    return f"{goal}. {_LONG * 12}" if draw(prompt, 5, "long") == 0 else f"{goal}."
