-- Number of tasks per combination of complexity levels that occurs.
-- dependency_level: Level of the number of dependent pairs.
-- instruction_level: Level of the number of subtasks.
-- knowledge_level: Level of the number of application categories.
-- hierarchy_level: Level of the depth.
-- branch_level: Level of the width.
-- tasks: How many tasks.
SELECT dependency_level, instruction_level, knowledge_level, hierarchy_level, branch_level, count(*) AS tasks
FROM tasks
GROUP BY ALL
