-- Applications with their verified subtasks and the tasks they take part in.
SELECT
    s.application,
    any_value(s.application_category) AS category,
    count(DISTINCT s.subtask_id) AS subtasks,
    count(DISTINCT f.subtask_id) AS verified,
    (SELECT count(*) FROM tasks AS t WHERE list_contains(t.applications, s.application)) AS tasks
FROM subtasks AS s
LEFT JOIN evaluation_functions AS f ON f.subtask_id = s.subtask_id AND f.accepted
GROUP BY s.application
ORDER BY tasks DESC, s.application
