-- Attempts of agents and replays that changed something beyond their outcome: what, and whether they succeeded.
-- parameter task: Only this task [default: any]
-- parameter limit: Rows at most [default: 50]
WITH attempts AS (
    SELECT agent_run_id AS attempt, agent, task_id, success, side_effects FROM agent_runs
    UNION ALL
    SELECT replay_id AS attempt, 'replay' AS agent, task_id, success, side_effects FROM replays
)
SELECT
    attempt,
    agent,
    task_id,
    success,
    side_effects.total AS total,
    side_effects.files_lost AS files_lost,
    side_effects.files_added AS files_added,
    side_effects.records_lost AS records_lost,
    side_effects.records_added AS records_added,
    side_effects.values_changed AS values_changed,
    side_effects.examples AS examples
FROM attempts
WHERE side_effects.total > 0 AND ($task = 'any' OR task_id = $task)
ORDER BY total DESC, attempt
LIMIT $limit::BIGINT
