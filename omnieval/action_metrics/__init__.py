"""Metrics of what an agent did against what was recorded, without an environment, one module each.

sequence_score      OmniACT: whether the actions are the right ones in the right order
action_score        OmniACT: the sequence score without penalties for places, keys and texts
next_action_match   whether the next action is one of the right ones
grounding_accuracy  whether points lie in the controls that were meant

A metric's module offers `measure(examples)`; `taskloom.omnieval.lookup` finds it by that.
"""
