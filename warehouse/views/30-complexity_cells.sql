-- Number of tasks per combination of complexity levels that occurs.
-- {dimension}_level: Level of {dimension} complexity ({meaning}).
-- tasks: How many tasks.
SELECT
    {dimension}_level,
    count(*) AS tasks
FROM tasks
GROUP BY ALL
