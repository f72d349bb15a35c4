-- Effects of subtasks in terms of their parameters: what is changed where, in how many performances, essential or not.
-- parameter subtask: Only subtasks whose id contains this text [default: any]
-- parameter area: file, directory, clipboard, window or screen; lasting: the first three [default: lasting]
-- parameter limit: Rows at most [default: 200]
SELECT
    subtask_id,
    CASE WHEN essential THEN 'essential' WHEN essential IS NULL THEN 'not compared' ELSE 'incidental' END AS necessity,
    area,
    container_template AS container,
    array_to_string(address_template, ' / ') AS address,
    kind,
    left(min(before_template), 80) AS before,
    left(min(after_template), 80) AS after,
    min(source) AS source,
    count(DISTINCT trajectory_id) AS performances
FROM effects
WHERE ($subtask = 'any' OR contains(subtask_id, $subtask))
    AND (area = $area OR $area = 'any' OR ($area = 'lasting' AND area IN ('file', 'directory', 'clipboard')))
GROUP BY ALL
ORDER BY subtask_id, necessity, area, container, address, kind
LIMIT $limit::BIGINT
