"""What an environment runs on.

machine         machines: containers of an engine
engine          podman or docker, and how it is called here
server_client   talks to the server in a machine
sandbox         the folder of one environment, with the home that applications and agents see
reaper          sees to it that this folder goes, however its maker ends
bubblewrap      shuts programs in
"""
