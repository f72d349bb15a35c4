"""Installs applications and the browser on this machine.

applications     installs catalogue entries, each in its own folder
packages         runs the installers apt, pip and npm, and finds or installs Node
browser_finding  finds a browser and its fonts, or installs one
"""
