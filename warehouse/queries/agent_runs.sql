-- What agents completed, attempt by attempt.
-- parameter run: Only attempts of this run [default: any]
-- parameter experiment: Only attempts of this experiment [default: any]
SELECT
    agent,
    task_id,
    variant,
    repeat,
    ended,
    success,
    round(coverage_rate, 3) AS coverage_rate,
    round(logical_consistency, 3) AS logical_consistency,
    len(completed) AS completed,
    side_effects.total AS side_effects,
    clean,
    held,
    steps,
    outcome,
    termination,
    message
FROM agent_runs
WHERE ($run = 'any' OR run_id = $run) AND ($experiment = 'any' OR experiment_id = $experiment)
ORDER BY agent, task_id, variant, repeat, agent_run_id
