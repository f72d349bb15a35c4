"""Getting applications and the browser onto this machine.

applications       installs catalogue entries, each in a place of its own
node_finding       finds or installs Node, for npm
system_packages    by apt, and Python packages by pip
browser_finding    finds a browser, or gets one where there is none
fonts              names that pages ask for, given to the fonts that are there
machine_commands   runs the programs that install
"""
