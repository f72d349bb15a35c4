-- A dependency inside a task: one resource that one subtask writes and another reads.
-- task_id: The task.
-- producer: Instance that writes.
-- consumer: Instance that reads.
-- resource_category: Category of the resource.
-- resource_kind: Kind of that category.
-- resource_application: Application that holds the resource; empty for files and the clipboard.
-- resource_value: Its value.
SELECT
    task_id,
    edge.producer AS producer,
    edge.consumer AS consumer,
    edge.resource.category AS resource_category,
    edge.resource.kind AS resource_kind,
    edge.resource.application AS resource_application,
    edge.resource.value AS resource_value
FROM (SELECT task_id, unnest(edges) AS edge FROM tasks)
