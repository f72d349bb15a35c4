-- The critic's opinion of tasks: each scored task with its scores from 1 to 5 and the reasons, the worst first.
SELECT c.task_id, least(c.naturalness.score, c.sense.score, c.feasibility.score) AS lowest,
       c.naturalness.score AS naturalness, c.sense.score AS sense, c.feasibility.score AS feasibility,
       coalesce(t.status, 'rejected') AS status, c.instruction,
       c.naturalness.reason AS naturalness_reason, c.sense.reason AS sense_reason, c.feasibility.reason AS feasibility_reason,
       c.critic
FROM criticisms c LEFT JOIN tasks t USING (task_id)
ORDER BY lowest, c.naturalness.score + c.sense.score + c.feasibility.score, c.task_id
