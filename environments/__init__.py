"""Where agents act: the protocol, the loop, and the platforms that implement it.

environment   the protocol: reset, observe, act, evidence
agent         the protocol of what decides
episode       the one loop: look, decide, act, record
aiming        what an action is aimed at, and what is refused
focusing      clicks a field before it is typed into
changes       what an action changed, in a few words
screen_words  what a screen shows and what a control is, in the words of a person
starting_place   going to an application's first page before a subtask
annotated     screenshots with numbered boxes
keys          key presses, with the error that environments raise
lookup        platforms by name
worked_example_agent   performs a curated worked example
platforms/    one folder per platform
machines/     sandboxes: folders, confinement, cleaning up
installing/   applications and the browser onto this machine
evidence/     what the checks read: inputs, files, databases
"""
