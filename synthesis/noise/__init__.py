"""What an application changes by itself, measured from recordings in which nobody works with it.

noise   the stage: idle recordings of one application, and what they show
places  from changes to places that mean the same in every recording
"""
