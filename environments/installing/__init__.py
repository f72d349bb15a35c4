"""Getting applications and the browser onto this machine.

applications     installs catalogue entries, each in a place of its own
packages         runs the programs that install: apt, pip and npm, with a Node to run that
browser_finding  finds a browser and its fonts, or gets one where there is none
"""
