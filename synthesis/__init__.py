"""The method, one folder or module per stage.

In the order they run: `noise/`, `exploration/`, `trajectories/`, `evaluation_functions/`, `examination/`,
`cross_verification/`, `intents`, `composition/`, `instructions`, `validation/`, `replay/`; `criticism` scores
tasks. A stage's entry point has the stage's name. A stage may import earlier ones, never later ones. `ports`
is the interface to models and environments.
"""
