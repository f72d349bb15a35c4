-- Tasks per level of each complexity dimension.
SELECT dimension, level, count(*) AS tasks
FROM (
    UNPIVOT (
        SELECT
            {dimension}_level,
        FROM tasks
    )
    ON COLUMNS(*) INTO NAME dimension VALUE level
)
GROUP BY dimension, level
ORDER BY dimension, list_position(['easy', 'medium', 'hard'], level)
