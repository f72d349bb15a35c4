"""Agents that say what to do as actions on a picture of the screen: carried out one gesture at a time.

actions        one action as a gesture; pictures at a size that providers do not shrink again
action_queue   batches of actions, with buttons and keys that are held between them
conversation   an agent in one conversation with a model that has a computer tool
"""
