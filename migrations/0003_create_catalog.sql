CREATE TABLE upstreams (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    kind                text NOT NULL CHECK (kind IN ('openai', 'anthropic')),
    base_url            text NOT NULL,
    -- AES-256-GCM under the deployment's secret key: version, nonce, ciphertext. Null: the upstream wants no key.
    sealed_key          bytea,
    key_hint            text,
    key_version         integer NOT NULL DEFAULT 1,
    connect_timeout_ms  integer NOT NULL DEFAULT 5000 CHECK (connect_timeout_ms BETWEEN 1 AND 60000),
    read_timeout_ms     integer NOT NULL DEFAULT 120000 CHECK (read_timeout_ms BETWEEN 1 AND 3600000),
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    version             bigint NOT NULL DEFAULT 1
);

CREATE TABLE models (
    id                      uuid PRIMARY KEY,
    name                    text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    mode                    text NOT NULL CHECK (mode IN ('chat', 'completion', 'embedding', 'rerank', 'image', 'speech', 'transcription')),
    tokenizer               text NOT NULL,
    context_window          bigint NOT NULL CHECK (context_window > 0),
    max_output_tokens       bigint NOT NULL CHECK (max_output_tokens >= 0),
    freeze_output_tokens    bigint NOT NULL DEFAULT 1000 CHECK (freeze_output_tokens >= 0),
    hidden_reasoning        boolean NOT NULL DEFAULT false,
    safety_factor           numeric(6, 4) NOT NULL DEFAULT 1.05 CHECK (safety_factor >= 1),
    created_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    version                 bigint NOT NULL DEFAULT 1
);

CREATE TABLE targets (
    id              uuid PRIMARY KEY,
    model_id        uuid NOT NULL REFERENCES models ON DELETE CASCADE,
    upstream_id     uuid NOT NULL REFERENCES upstreams,
    upstream_model  text NOT NULL CHECK (length(upstream_model) BETWEEN 1 AND 200),
    dialects        text[] NOT NULL CHECK (cardinality(dialects) > 0 AND dialects <@ ARRAY['openai', 'anthropic']),
    priority        integer NOT NULL DEFAULT 0,
    weight          integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
    multiplier      numeric(12, 4) NOT NULL DEFAULT 1 CHECK (multiplier >= 0),
    enabled         boolean NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    version         bigint NOT NULL DEFAULT 1
);
CREATE INDEX targets_model ON targets (model_id);

-- Append-only: a price is superseded by a later valid_from, never changed. Null: the kind takes its base kind's price.
CREATE TABLE prices (
    id              uuid PRIMARY KEY,
    model_id        uuid NOT NULL REFERENCES models ON DELETE CASCADE,
    valid_from      timestamptz NOT NULL,
    input           numeric(20, 8) CHECK (input >= 0),
    cached_input    numeric(20, 8) CHECK (cached_input >= 0),
    cache_write_5m  numeric(20, 8) CHECK (cache_write_5m >= 0),
    cache_write_1h  numeric(20, 8) CHECK (cache_write_1h >= 0),
    output          numeric(20, 8) CHECK (output >= 0),
    reasoning       numeric(20, 8) CHECK (reasoning >= 0),
    audio_input     numeric(20, 8) CHECK (audio_input >= 0),
    audio_output    numeric(20, 8) CHECK (audio_output >= 0),
    image           numeric(20, 8) CHECK (image >= 0),
    per_request     numeric(20, 8) CHECK (per_request >= 0),
    token_weights   jsonb,
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (model_id, valid_from)
);
REVOKE UPDATE ON prices FROM tollgate_app;

-- Every change of keys, tenants or the catalog tells the gateways at once; the payload is `<table>:<id>`.
CREATE FUNCTION notify_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed record;
BEGIN
    IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
    PERFORM pg_notify('tollgate_changed', TG_TABLE_NAME || ':' || changed.id);
    RETURN NULL;
END
$$;
CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON models FOR EACH ROW EXECUTE FUNCTION notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON targets FOR EACH ROW EXECUTE FUNCTION notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON prices FOR EACH ROW EXECUTE FUNCTION notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON upstreams FOR EACH ROW EXECUTE FUNCTION notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR DELETE OR UPDATE OF name, status, settings, multiplier, time_zone ON tenants FOR EACH ROW EXECUTE FUNCTION notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR DELETE OR UPDATE OF status, budget_amount, budget_period, soft_budget, limits ON projects FOR EACH ROW EXECUTE FUNCTION notify_change();
CREATE TRIGGER notify_change AFTER INSERT OR DELETE OR UPDATE OF secret_hash, status, budget_amount, budget_period, limits, models, ip_ranges, safety_factor, expires_at ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_change();
