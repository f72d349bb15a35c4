"""What an environment runs on: `sandbox` is the folder of one environment, with the home that applications
and agents see; `watched_folder` a temporary folder that goes away however its maker ends, which `reaper` sees
to; `bubblewrap` shuts programs in.
"""
