-- Calls of the data plane that carried an `Idempotency-Key`: whether such a call is still running, or what it came to,
-- is decided by its settlement; here stands only which request it is, and a reply that is small enough to be given again.
CREATE TABLE idempotent_calls (
    key_id          uuid NOT NULL REFERENCES api_keys,
    -- SHA-256 of the header's value.
    name_hash       bytea NOT NULL,
    -- SHA-256 of the route and the body.
    body_hash       bytea NOT NULL,
    request_id      uuid NOT NULL,
    gateway_id      text NOT NULL,
    status          smallint,
    content_type    text,
    -- Sealed for the request's id.
    sealed_reply    bytea,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key_id, name_hash),
    CHECK ((sealed_reply IS NULL) = (status IS NULL) AND (status IS NULL) = (content_type IS NULL))
);
CREATE INDEX idempotent_calls_created ON idempotent_calls (created_at);
REVOKE TRUNCATE ON idempotent_calls FROM tollgate_app;

-- Secrets that were rotated away and work until their grace ends.
CREATE TABLE retired_key_secrets (
    secret_hash     bytea PRIMARY KEY,
    key_id          uuid NOT NULL REFERENCES api_keys,
    valid_until     timestamptz NOT NULL
);
CREATE INDEX retired_key_secrets_key ON retired_key_secrets (key_id);
CREATE TABLE retired_service_token_secrets (
    secret_hash     bytea PRIMARY KEY,
    token_id        uuid NOT NULL REFERENCES service_tokens,
    valid_until     timestamptz NOT NULL
);
CREATE INDEX retired_service_token_secrets_token ON retired_service_token_secrets (token_id);
