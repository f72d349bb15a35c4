"""Agents that taskloom brings, one module each; the module's name is what `--agent` and an experiment call
it. Those that only ask a model are rows of `taskloom.omnieval.asking.model_agents`.

A module offers `create(brief) -> Agent` (`taskloom.omnieval.brief.AgentBrief`), which is called once per
attempt, and may set `MODEL = True`: it asks a model, whose settings an experiment gives. Its docstring says
what it is. `taskloom.omnieval.lookup` finds the modules and the rows.
"""
