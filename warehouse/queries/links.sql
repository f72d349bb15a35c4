-- Resource links between applications: what is written in one and read in another.
-- parameter limit: Rows at most [default: 50]
SELECT
    link.written_in AS written_in, link.resource_category AS resource_category, link.read_in AS read_in,
    sum(link.times)::BIGINT AS links, count(*) AS tasks
FROM (SELECT unnest(links) AS link FROM tasks)
GROUP BY ALL
ORDER BY links DESC, written_in, resource_category, read_in
LIMIT $limit::BIGINT
