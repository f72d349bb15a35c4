-- Tasks per scenario (App. A.5).
SELECT scenario, count(*) AS tasks, round(avg(node_count), 1) AS mean_subtasks
FROM tasks
GROUP BY scenario
ORDER BY tasks DESC, scenario
