"""Built-in agents, one module each; the module's name is the agent's name for `--agent` and in experiments.
Those that only ask a model are rows of `taskloom.omnieval.asking.model_agents`.

A module offers `create(brief) -> Agent` (`taskloom.omnieval.brief.AgentBrief`), which is called once per
attempt, and sets `MODEL = True` if it asks a model, whose settings an experiment gives. Its docstring
describes the agent. `taskloom.omnieval.lookup` finds the modules and the rows.
"""
