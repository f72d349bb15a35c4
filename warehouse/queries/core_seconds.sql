-- Processor time of runs by stage and by use, and per subtask that the run verified.
WITH stages AS (SELECT run_id, started_at, unnest(core_seconds) AS stage FROM runs),
spent AS (SELECT run_id, started_at, stage.name AS stage, unnest(stage.value) AS part FROM stages),
verified AS (SELECT run_id, count(DISTINCT subtask_id) AS subtasks FROM evaluation_functions WHERE accepted GROUP BY run_id)
SELECT spent.run_id, stage, part.name AS spent_on, part.value AS core_seconds, round(part.value / subtasks, 2) AS per_verified_subtask
FROM spent LEFT JOIN verified ON verified.run_id = spent.run_id
ORDER BY started_at, run_id, stage, core_seconds DESC, spent_on
