"""Settings of a run that belong together.

fan_out_settings    which runner, how many workers, where they find us
gate_settings       the limits of the gates
night_settings      what makes a build a night
watching_settings   what is told, and to whom
"""
