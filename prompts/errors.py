"""Errors of prompts.

PromptError
├── UnknownTemplateError  no folder of that name under `prompts/templates`
└── TemplateBrokenError   a template uses a variable that its input does not have
"""

from taskloom.resources.errors import TaskloomError


class PromptError(TaskloomError):
    """Anything wrong with a prompt; never transient."""


class UnknownTemplateError(PromptError):
    """No template of that name; the message names the known ones."""


class TemplateBrokenError(PromptError):
    """The template cannot be rendered from its input; the message names the variable."""
