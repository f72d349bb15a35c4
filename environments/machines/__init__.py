"""What an environment runs on.

machine         the port of machines
container       machines that are containers of an engine
engine          podman or docker, and how it is called here
server_client   talks to the server in a machine
sandbox         the folder of one environment, with the home that applications and agents see
watched_folder  a temporary folder that goes away however its maker ends
reaper          sees to that
bubblewrap      shuts programs in
"""
