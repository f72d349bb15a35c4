-- A person's current verdict on a task: the latest review by each person of each task, without withdrawn ones.
-- task_id: The task.
-- reviewer: Name of the person.
-- accepted: Whether the person answered all four questions with yes.
-- failed: Questions answered with no.
-- note: Reason, in the person's words.
-- reviewed_at: Time of the review, ISO 8601 in UTC.
-- instruction: The instruction that the person read.
SELECT task_id, reviewer, verdict = 'accepted' AS accepted, failed, note, reviewed_at, instruction
FROM (
    SELECT *, row_number() OVER (PARTITION BY task_id, reviewer ORDER BY reviewed_at DESC, review_id DESC) AS recency
    FROM reviews
)
WHERE recency = 1 AND verdict <> 'withdrawn'
