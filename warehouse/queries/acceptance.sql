-- People's verdicts on tasks: rates with 95 % intervals (Wilson), and how far people agree (Cohen's kappa of two, Fleiss' of more, jackknife intervals).
WITH counting AS (
    SELECT r.task_id, r.reviewer, r.accepted, r.failed
    FROM latest_reviews AS r
    JOIN tasks AS t ON t.task_id = r.task_id AND t.instruction = r.instruction
),
per_task AS (
    SELECT task_id, count(*) AS n, count(*) FILTER (accepted) AS yes FROM counting GROUP BY task_id
),
shares AS (
    SELECT reviewer AS people, 'accepted' AS measure, 1 AS place, count(*) FILTER (accepted) AS k, count(*) AS n FROM counting GROUP BY reviewer
    UNION ALL
    SELECT 'at least one', 'accepted', 2, count(*) FILTER (yes > 0), count(*) FROM per_task
    UNION ALL
    SELECT 'the majority', 'accepted', 2, count(*) FILTER (2 * yes > n), count(*) FROM per_task
    UNION ALL
    SELECT 'everyone', 'accepted', 2, count(*) FILTER (yes = n), count(*) FROM per_task
    UNION ALL
    SELECT 'all reviews', CASE question WHEN 'graph' THEN 'graph not right' WHEN 'sense' THEN 'makes no sense' ELSE 'not ' || question END, 3, count(*) FILTER (list_contains(failed, question)), count(*)
    FROM counting, (SELECT unnest(['natural', 'graph', 'executable', 'sense']) AS question)
    GROUP BY question
),
pairs AS (
    SELECT a.reviewer || ' and ' || b.reviewer AS people, a.task_id, a.accepted::INTEGER AS x, b.accepted::INTEGER AS y
    FROM counting AS a
    JOIN counting AS b ON a.task_id = b.task_id AND a.reviewer < b.reviewer
),
pair_sums AS (
    SELECT people, count(*) AS n, sum(x) AS x, sum(y) AS y, count(*) FILTER (x = y) AS same FROM pairs GROUP BY people
),
shared AS (
    SELECT task_id, n, yes, (yes * (yes - 1) + (n - yes) * (n - yes - 1)) / (n * (n - 1)) AS agreement FROM per_task WHERE n > 1
),
shared_sums AS (
    SELECT count(*) AS tasks, sum(n) AS n, sum(yes) AS yes, sum(agreement) AS agreement FROM shared
),
-- the whole (task_id NULL), and all tasks but one
parts AS (
    SELECT people, 'Cohen''s kappa' AS measure, NULL AS task_id, n AS tasks, same, same AS agreement,
        (x / n) * (y / n) + (1 - x / n) * (1 - y / n) AS chance
    FROM pair_sums
    UNION ALL
    SELECT p.people, 'Cohen''s kappa', p.task_id, s.n - 1, NULL, s.same - (p.x = p.y)::INTEGER,
        ((s.x - p.x) / (s.n - 1)) * ((s.y - p.y) / (s.n - 1)) + (1 - (s.x - p.x) / (s.n - 1)) * (1 - (s.y - p.y) / (s.n - 1))
    FROM pairs AS p
    JOIN pair_sums AS s USING (people)
    WHERE s.n > 1
    UNION ALL
    SELECT 'all reviewers', 'Fleiss'' kappa', NULL, tasks, NULL, agreement, (yes / n) ** 2 + (1 - yes / n) ** 2
    FROM shared_sums
    WHERE (SELECT count(DISTINCT reviewer) FROM counting) > 2 AND tasks > 0
    UNION ALL
    SELECT 'all reviewers', 'Fleiss'' kappa', t.task_id, s.tasks - 1, NULL, s.agreement - t.agreement,
        ((s.yes - t.yes) / (s.n - t.n)) ** 2 + (1 - (s.yes - t.yes) / (s.n - t.n)) ** 2
    FROM shared AS t, shared_sums AS s
    WHERE (SELECT count(DISTINCT reviewer) FROM counting) > 2 AND s.tasks > 1
),
kappas AS (
    SELECT people, measure, task_id, tasks, same, CASE WHEN chance < 1 THEN (agreement / tasks - chance) / (1 - chance) END AS kappa
    FROM parts
),
-- no interval for fewer than ten tasks, or where no task changes kappa: full agreement says nothing about its error
spreads AS (
    SELECT people, measure,
        CASE WHEN count(*) = count(kappa) AND count(*) >= 10 AND var_pop(kappa) > 1e-12 THEN sqrt((count(*) - 1) * var_pop(kappa)) END AS error
    FROM kappas
    WHERE task_id IS NOT NULL
    GROUP BY people, measure
),
answers AS (
    SELECT people, measure, place, k AS count, n AS total, k / n AS value,
        CASE WHEN k = 0 THEN 0.0 ELSE greatest(0.0, (k / n + z * z / (2 * n) - z * sqrt(k / n * (1 - k / n) / n + z * z / (4 * n * n))) / (1 + z * z / n)) END AS low,
        CASE WHEN k = n THEN 1.0 ELSE least(1.0, (k / n + z * z / (2 * n) + z * sqrt(k / n * (1 - k / n) / n + z * z / (4 * n * n))) / (1 + z * z / n)) END AS high
    FROM shares, (SELECT 1.959963984540054 AS z)
    WHERE n > 0
    UNION ALL
    SELECT people, measure, 4, same, tasks, kappa,
        CASE WHEN kappa IS NOT NULL AND error IS NOT NULL THEN greatest(-1.0, kappa - 1.959963984540054 * error) END,
        CASE WHEN kappa IS NOT NULL AND error IS NOT NULL THEN least(1.0, kappa + 1.959963984540054 * error) END
    FROM kappas
    LEFT JOIN spreads USING (people, measure)
    WHERE task_id IS NULL
)
SELECT people, measure, count, total, value, low, high
FROM answers
ORDER BY place, measure, people
