-- The funnel: how many items reached each step, and why the others did not. Items that were rejected and later verified count as verified.
-- position: Place of the step in the method.
-- step: What was counted.
-- reason: Reason of rejection; empty for items that reached the step.
-- items: How many.
SELECT position, step, reason, items
FROM (
    SELECT 1 AS position, 'subtasks proposed' AS step, '' AS reason,
        (SELECT count(*) FROM subtasks)
        + (SELECT count(DISTINCT item_id) FROM rejections
            WHERE item_kind = 'subtask' AND item_id NOT IN (SELECT subtask_id FROM subtasks)) AS items
    UNION ALL
    SELECT 2, 'subtasks verified', '', count(DISTINCT subtask_id) FROM evaluation_functions WHERE accepted
    UNION ALL
    SELECT 3, 'intents', '', count(*) FROM intents
    UNION ALL
    SELECT 4, 'tasks composed', '',
        (SELECT count(*) FROM tasks WHERE status <> 'imported')
        + (SELECT count(DISTINCT item_id) FROM rejections
            WHERE item_kind = 'task' AND stage <> 'import' AND item_id NOT IN (SELECT task_id FROM tasks))
    UNION ALL
    SELECT 5, 'tasks validated', '', count(*) FROM tasks WHERE status = 'validated'
    UNION ALL
    SELECT 6, 'tasks covered by replays', '', count(*) FROM tasks WHERE status = 'validated' AND covered
    UNION ALL
    SELECT 7, 'tasks replayed', '', count(DISTINCT task_id) FROM replays WHERE success
    UNION ALL
    SELECT 8, 'tasks imported', '', count(*) FROM tasks WHERE status = 'imported' HAVING count(*) > 0
    UNION ALL
    SELECT 8, 'tasks retired', '', count(*) FROM tasks WHERE status = 'retired' HAVING count(*) > 0
    UNION ALL
    SELECT
        9,
        item_kind || ' rejected',
        reason,
        count(*)
    FROM rejections
    WHERE item_kind <> 'subtask' OR item_id NOT IN (SELECT subtask_id FROM evaluation_functions WHERE accepted)
    GROUP BY item_kind, reason
)
ORDER BY position, step, items DESC, reason
