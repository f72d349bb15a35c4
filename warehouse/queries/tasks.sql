-- Tasks with their levels, filtered by level and application; `any` filters nothing.
-- parameter {dimension}: Level of {dimension} complexity [default: any]
-- parameter application: Application that must take part [default: any]
-- parameter limit: Rows at most [default: 20]
SELECT task_id, node_count, edge_count, depth, width, scenario, instruction
FROM tasks
WHERE ($application = 'any' OR list_contains(applications, $application))
    AND (${dimension} = 'any' OR {dimension}_level = ${dimension})
ORDER BY task_id
LIMIT $limit::BIGINT
