"""Where agents act: the protocol, the loop, and the platforms that implement it.

environment   the protocol of environments, and controls made from what a page or server lists
agent         the protocol of agents
episode       the loop: observe, decide, act, record
aiming        resolves the target and the keys of an action, or refuses it; logs inputs
screen_words  describes screens, controls and changes in words
starting_place   goes to an application's first page before a subtask
annotated     screenshots with numbered boxes
lookup        platforms by name
task_bar      the buttons at the bottom of every screen
joint         applications of several platforms on one screen
computer_use  agents that act on pictures of the screen
platforms/    one folder per platform
machines/     machines and sandboxes: containers, folders, confinement, cleaning up
installing/   installs applications and the browser
evidence/     what the checks read: files, databases, text in pictures
"""
