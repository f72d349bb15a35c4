-- Spoilt instructions that the judge of instructions notices, by kind of damage, and how many first instructions it refuses.
SELECT kind AS instructions, 'noticed' AS measure, count(*) FILTER (noticed) AS count, count(*) AS total, avg(CAST(noticed AS INTEGER)) AS share
FROM judge_trials
GROUP BY kind
UNION ALL
SELECT 'all spoilt', 'noticed', count(*) FILTER (noticed), count(*), avg(CAST(noticed AS INTEGER))
FROM judge_trials
UNION ALL
SELECT 'first instructions', 'refused', count(*) FILTER (NOT accepted), count(*), avg(CAST(NOT accepted AS INTEGER))
FROM validations
WHERE round = 1 AND len(literal_problems) = 0 AND len(coalesce(goal_problems, [])) = 0
ORDER BY measure, instructions
