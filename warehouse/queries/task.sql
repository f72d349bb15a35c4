-- The subtasks of one task in topological order, with the ones that each waits for.
-- parameter id: Id of the task
SELECT
    s.position,
    s.application,
    s.instruction,
    coalesce(list(DISTINCT p.position ORDER BY p.position) FILTER (WHERE p.position IS NOT NULL), []) AS waits_for
FROM task_subtasks AS s
LEFT JOIN task_edges AS e ON e.task_id = s.task_id AND e.consumer = s.instance_id
LEFT JOIN task_subtasks AS p ON p.task_id = e.task_id AND p.instance_id = e.producer
WHERE s.task_id = $id
GROUP BY s.position, s.application, s.instruction
ORDER BY s.position
