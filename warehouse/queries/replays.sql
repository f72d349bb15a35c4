-- Replays that failed, or that are invalid because their start lacked something or the environment failed.
-- parameter limit: Rows at most [default: 50]
SELECT replay_id, task_id, CASE WHEN invalid THEN 'invalid' ELSE 'failed' END AS outcome, failing_instance, message
FROM replays
WHERE NOT success
ORDER BY replay_id
LIMIT $limit::BIGINT
