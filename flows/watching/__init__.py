"""Watching: what a run tells others while it goes on. All but the progress is off unless asked for, and costs
nothing then.

watched             begins and ends the watching of a run
progress_artifact   the progress of a run in Prefect's UI
run_logs            log lines for people, or as JSON for programs
alerts              tells an address, and Prefect, what somebody should look at
"""
