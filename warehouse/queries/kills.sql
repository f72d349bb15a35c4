-- Kill matrix of evaluation functions: per family of wrong and right work, how many were judged correctly and which were not.
-- parameter function: Only functions whose id or subtask contains this text [default: any]
SELECT
    f.function_id AS function_id,
    f.subtask_id AS subtask_id,
    f.accepted AS accepted,
    k.family AS family,
    k.total AS total,
    k.killed AS killed,
    k.excused AS excused,
    k.survivors AS survivors
FROM evaluation_functions AS f, unnest(f.families) AS u(k)
WHERE $function = 'any' OR contains(f.function_id, $function) OR contains(f.subtask_id, $function)
ORDER BY f.subtask_id, f.function_id, k.family
