"""Replay: composed tasks are performed from their subtasks' trajectories."""
