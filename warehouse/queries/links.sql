-- Resource links between applications: what is written in one and read in another.
-- parameter limit: Rows at most [default: 50]
WITH linked AS (
    SELECT [
        {
            'written_in': nodes[list_position(names, edge.producer)].application,
            'resource_category': edge.resource.category,
            'read_in': nodes[list_position(names, edge.consumer)].application
        } FOR edge IN edges
    ] AS links
    FROM (SELECT nodes, edges, [node.instance_id FOR node IN nodes] AS names FROM tasks WHERE len(edges) > 0)
),
counted AS (
    SELECT unnest([{'link': one, 'times': len([link FOR link IN links IF link = one])} FOR one IN list_distinct(links)]) AS found
    FROM linked
)
SELECT
    found.link.written_in AS written_in, found.link.resource_category AS resource_category,
    found.link.read_in AS read_in, sum(found.times)::BIGINT AS links, count(*) AS tasks
FROM counted
GROUP BY ALL
ORDER BY links DESC, written_in, resource_category, read_in
LIMIT $limit::BIGINT
