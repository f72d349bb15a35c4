"""What an environment runs on.

machine     machines: containers of an engine, how one talks to the server in them, and those made ahead
engine      podman or docker, and how it is called here
sandbox     the folder of one environment, with the home that applications and agents see
reaper      sees to it that this folder goes, however its maker ends
bubblewrap  shuts programs in
"""
