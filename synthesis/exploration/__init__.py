"""A model proposes subtasks (`exploration`); `proposal_checks` says whether one is well formed."""
