-- Orders of two subtasks of one application that replays have shown: how often the second worked after the first, and the message where it did not.
-- parameter application: Only this application [default: any]
SELECT application, first, second, count(*) FILTER (works) AS worked, count(*) FILTER (NOT works) AS failed,
  coalesce(max(message) FILTER (NOT works), '') AS message
FROM order_facts
WHERE $application IN ('any', application)
GROUP BY application, first, second
ORDER BY worked > 0, failed DESC, application, first, second
