"""What hosts a run: contexts of steps, Prefect's server, environments to lease, recording, progress, signals."""
