-- Tasks per level of each of the five complexity dimensions.
SELECT dimension, level, count(*) AS tasks
FROM (
    UNPIVOT (SELECT dependency_level, instruction_level, knowledge_level, hierarchy_level, branch_level FROM tasks)
    ON COLUMNS(*) INTO NAME dimension VALUE level
)
GROUP BY dimension, level
ORDER BY dimension, list_position(['easy', 'medium', 'hard'], level)
