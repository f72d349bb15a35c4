-- Tasks with their levels, filtered by level and application; `any` filters nothing.
-- parameter dependency: Level of dependency complexity [default: any]
-- parameter instruction: Level of instruction complexity [default: any]
-- parameter knowledge: Level of knowledge complexity [default: any]
-- parameter hierarchy: Level of hierarchy complexity [default: any]
-- parameter branch: Level of branch complexity [default: any]
-- parameter application: Application that must take part [default: any]
-- parameter limit: Rows at most [default: 20]
SELECT task_id, node_count, edge_count, depth, width, scenario, instruction
FROM tasks
WHERE ($dependency = 'any' OR dependency_level = $dependency)
    AND ($instruction = 'any' OR instruction_level = $instruction)
    AND ($knowledge = 'any' OR knowledge_level = $knowledge)
    AND ($hierarchy = 'any' OR hierarchy_level = $hierarchy)
    AND ($branch = 'any' OR branch_level = $branch)
    AND ($application = 'any' OR list_contains(applications, $application))
ORDER BY task_id
LIMIT $limit::BIGINT
