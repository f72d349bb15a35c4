"""What an environment runs on.

sandbox      the folder of one environment, with the home that applications and agents see
bubblewrap   shuts programs in
reaper       cleans up after a parent that ended, however it ended
"""
