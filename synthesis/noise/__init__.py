"""What an application changes by itself, measured from recordings in which nobody works with it.

noise   the stage: idle recordings of one application, and what they show
places  generalises changes to places that are the same in every recording
"""
