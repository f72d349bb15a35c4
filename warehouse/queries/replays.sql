-- Replays that failed: task, node and message.
-- parameter limit: Rows at most [default: 50]
SELECT replay_id, task_id, failing_instance, message
FROM replays
WHERE NOT success
ORDER BY replay_id
LIMIT $limit::BIGINT
