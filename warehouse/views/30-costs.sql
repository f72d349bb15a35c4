-- Price of the model calls, per run, stage, role and model.
-- run_id: The run.
-- stage: Stage of the method.
-- role: Model role.
-- provider: Provider.
-- model: Model.
-- calls: Calls that were paid for or given up; answers from the ledger do not count.
-- input_tokens: Input tokens, cached ones included.
-- cached_input_tokens: Input tokens read from the provider's cache.
-- output_tokens: Output tokens.
-- cost_usd: Price in US dollars.
-- mean_latency_seconds: Mean time from sending to the last byte.
SELECT
    run_id,
    stage,
    role,
    provider,
    model,
    count(*) AS calls,
    sum(input_tokens)::BIGINT AS input_tokens,
    sum(cached_input_tokens)::BIGINT AS cached_input_tokens,
    sum(output_tokens)::BIGINT AS output_tokens,
    sum(cost_usd) AS cost_usd,
    avg(latency_seconds) AS mean_latency_seconds
FROM model_calls
GROUP BY ALL
