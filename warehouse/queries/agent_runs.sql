-- What agents completed, attempt by attempt.
-- parameter run: Only attempts of this run [default: any]
SELECT
    agent,
    task_id,
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
WHERE $run = 'any' OR run_id = $run
ORDER BY agent, task_id
