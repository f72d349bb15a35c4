-- The ledger's tables. Plain column types, so that other databases can read the file in place.

CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    outcome TEXT NOT NULL,
    run_id TEXT NOT NULL,
    stage TEXT NOT NULL,
    item_id TEXT NOT NULL,
    role TEXT NOT NULL,
    provider TEXT NOT NULL,
    base_url TEXT NOT NULL,
    model TEXT NOT NULL,
    template_hash TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    fallback INTEGER NOT NULL,
    finish_reason TEXT NOT NULL,
    error TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    cost_known INTEGER NOT NULL,
    latency_seconds REAL NOT NULL,
    retries INTEGER NOT NULL,
    batched INTEGER NOT NULL,
    provider_request_id TEXT NOT NULL,
    answering_model TEXT NOT NULL,
    finished_at TEXT NOT NULL,
    request BLOB,
    reply TEXT
);

CREATE INDEX IF NOT EXISTS calls_by_run ON calls (run_id, stage);

-- Pictures and long texts of requests, each once, by the SHA-256 of its bytes.
CREATE TABLE IF NOT EXISTS contents (
    sha256 TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    body BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS call_contents (
    key TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (key, sha256)
) WITHOUT ROWID;

-- Who is making a call right now, so that two processes do not pay for it twice.
CREATE TABLE IF NOT EXISTS leases (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    expires_at REAL NOT NULL
) WITHOUT ROWID;

-- Batches handed in, and which call is in which until it is collected.
CREATE TABLE IF NOT EXISTS batches (
    batch_id TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    submitted_at REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS batch_requests (
    key TEXT PRIMARY KEY,
    batch_id TEXT NOT NULL
) WITHOUT ROWID;
