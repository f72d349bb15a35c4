"""Applications of a Linux desktop, in machines that are thrown away.

platform     what the platform offers, and the image: its base, its layers, what is in it
settings     its settings
environment  the environment
files        the files of a machine, as a copy of its home
image/       the build file, process 1 and the home of a machine
server/      what runs in a machine
"""
