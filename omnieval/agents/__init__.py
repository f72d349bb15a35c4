"""Agents that taskloom brings, one module each; the module's name is what `--agent` and an experiment call
it.

A module offers `create(brief) -> Agent` (`taskloom.omnieval.brief.AgentBrief`), which is called once per
attempt, and may set `MODEL = True`: it asks a model, whose settings an experiment gives. Its docstring says
what it is and where its format comes from. `taskloom.omnieval.lookup` finds the modules.
"""
