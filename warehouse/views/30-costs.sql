-- Price of the model calls, per run, stage, role and model.
-- run_id: The run.
-- stage: Stage of the method.
-- role: Model role.
-- provider: Provider.
-- model: Model.
-- calls: Calls, those answered from the ledger included.
-- calls_from_ledger: Calls answered from the ledger, free of charge.
-- input_tokens: Input tokens.
-- output_tokens: Output tokens.
-- cost_usd: Price in US dollars.
-- mean_latency_seconds: Mean time of the calls that were really made; NULL without any.
SELECT
    run_id,
    stage,
    role,
    provider,
    model,
    count(*) AS calls,
    count(*) FILTER (WHERE from_ledger) AS calls_from_ledger,
    sum(input_tokens)::BIGINT AS input_tokens,
    sum(output_tokens)::BIGINT AS output_tokens,
    sum(cost_usd) AS cost_usd,
    avg(latency_seconds) FILTER (WHERE NOT from_ledger) AS mean_latency_seconds
FROM model_calls
GROUP BY ALL
