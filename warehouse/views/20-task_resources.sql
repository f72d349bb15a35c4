-- A resource that a subtask of a task reads or writes.
-- task_id: The task.
-- instance_id: The subtask.
-- direction: `input` or `output`.
-- resource_category: Category.
-- resource_kind: Kind of the category.
-- resource_application: Application that holds the resource; empty for files and the clipboard.
-- resource_value: Its value.
SELECT
    task_id,
    instance_id,
    direction,
    resource.category AS resource_category,
    resource.kind AS resource_kind,
    resource.application AS resource_application,
    resource.value AS resource_value
FROM (
    SELECT task_id, instance_id, 'input' AS direction, unnest(inputs) AS resource FROM task_subtasks
    UNION ALL
    SELECT task_id, instance_id, 'output' AS direction, unnest(outputs) AS resource FROM task_subtasks
)
