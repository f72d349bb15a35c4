-- Resource links between applications: what is written in one and read in another.
-- parameter limit: Rows at most [default: 50]
SELECT p.application AS written_in, e.resource_category, c.application AS read_in, count(*) AS links, count(DISTINCT e.task_id) AS tasks
FROM task_edges AS e
JOIN task_subtasks AS p ON p.task_id = e.task_id AND p.instance_id = e.producer
JOIN task_subtasks AS c ON c.task_id = e.task_id AND c.instance_id = e.consumer
GROUP BY ALL
ORDER BY links DESC, written_in, resource_category, read_in
LIMIT $limit::BIGINT
