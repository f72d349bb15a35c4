"""Applications of a Linux desktop, in disposable machines.

platform     the platform, and the image of its machines: base, layers and content
settings     its settings
environment  the environment
files        a local copy of the home of a machine
image/       the build file, process 1 and the home of a machine
server/      the server that runs in a machine
"""
