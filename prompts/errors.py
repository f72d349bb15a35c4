"""Errors of prompts.

PromptError
├── UnknownTemplate          no folder of that name under `prompts/templates`
└── TemplateBroken           a template uses a variable that its input does not have
"""

from __future__ import annotations


class PromptError(Exception):
    """Anything wrong with a prompt; never transient."""

    transient = False


class UnknownTemplate(PromptError):
    """No template of that name; the message names the known ones."""


class TemplateBroken(PromptError):
    """The template cannot be rendered from its input; the message names the variable."""
