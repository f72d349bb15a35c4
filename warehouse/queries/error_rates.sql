-- Error rates of the accepted evaluation functions on labelled outcomes, with 95 % intervals (Wilson), by application and kind.
-- parameter by: application, kind, subtask_id, or all [default: all]
WITH counted AS (
    SELECT
        CASE $by WHEN 'application' THEN application WHEN 'kind' THEN kind WHEN 'subtask_id' THEN subtask_id ELSE 'all' END AS outcomes,
        CASE WHEN "right" THEN 'right work accepted' ELSE 'wrong work rejected' END AS measure,
        count(*) AS n,
        count(*) FILTER (accepted = "right") AS k
    FROM judged_outcomes
    WHERE function_id IN (SELECT function_id FROM evaluation_functions WHERE accepted)
    GROUP BY ALL
),
shares AS (SELECT *, k / n AS p, 1.959963984540054 AS z FROM counted)
SELECT
    outcomes,
    measure,
    k AS count,
    n AS total,
    p AS rate,
    CASE WHEN k = 0 THEN 0.0 ELSE greatest(0.0, (p + z * z / (2 * n) - z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)) END AS low,
    CASE WHEN k = n THEN 1.0 ELSE least(1.0, (p + z * z / (2 * n) + z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)) END AS high
FROM shares
ORDER BY outcomes, measure
