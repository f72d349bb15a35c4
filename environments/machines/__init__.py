"""What an environment runs on.

machine     machines: containers, clients of the server in them, and a pool of started ones
engine      podman or docker, and the options it needs on this host
sandbox     the folder of one environment, with the home that applications and agents see
reaper      removes this folder however its creator ends
bubblewrap  confines programs
"""
