"""Agents are found by name, and their settings are checked before any attempt."""

from __future__ import annotations

import pytest

from taskloom.environments.errors import AgentError
from taskloom.omnieval.lookup import check_agent_settings


def test_a_value_that_an_agent_does_not_know_is_refused() -> None:
    check_agent_settings("recorded", {})
    with pytest.raises(AgentError, match="'sleeps' is unknown"):
        check_agent_settings("recorded", {"fault": "sleeps"})
