CREATE TABLE users (
    id              uuid PRIMARY KEY,
    email           text NOT NULL UNIQUE CHECK (email = lower(email)),
    name            text NOT NULL DEFAULT '',
    role            text NOT NULL CHECK (role IN ('owner', 'operator', 'viewer', 'tenant_owner', 'tenant_viewer')),
    tenant_id       uuid REFERENCES tenants,
    -- argon2id; null until an invitation is accepted.
    password_hash   text,
    locale          text NOT NULL DEFAULT 'en' CHECK (locale IN ('en', 'zh')),
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('invited', 'active', 'disabled')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    CHECK ((role LIKE 'tenant_%') = (tenant_id IS NOT NULL))
);

-- One row per signed-in device. `refresh_hash` is the current refresh token; using an older one ends the session.
CREATE TABLE sessions (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    refresh_hash    bytea NOT NULL,
    address         text NOT NULL,
    agent           text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    last_seen_at    timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    ended_at        timestamptz
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE UNIQUE INDEX sessions_refresh ON sessions (refresh_hash);
-- Refresh tokens that were rotated away: seen again, they end their session.
CREATE TABLE spent_refresh_tokens (
    refresh_hash    bytea PRIMARY KEY,
    session_id      uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    spent_at        timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE service_tokens (
    id              uuid PRIMARY KEY,
    name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    secret_hash     bytea NOT NULL UNIQUE,
    prefix          text NOT NULL,
    scopes          text[] NOT NULL,
    -- null: every tenant.
    tenant_ids      uuid[],
    expires_at      timestamptz,
    last_used_at    timestamptz,
    revoked_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now()
);

-- One-time token for the first administrator; gone once used.
CREATE TABLE setup_tokens (
    secret_hash     bytea PRIMARY KEY,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL
);

-- A money-moving call's key, its body's hash and its stored reply commit together with the change.
CREATE TABLE idempotency_keys (
    caller          text NOT NULL,
    key             text NOT NULL,
    operation       text NOT NULL,
    body_hash       bytea NOT NULL,
    status          integer NOT NULL,
    reply           jsonb NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

CREATE TABLE audit_log (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at              timestamptz NOT NULL DEFAULT now(),
    actor           text NOT NULL,
    action          text NOT NULL,
    target          text NOT NULL,
    tenant_id       uuid,
    before          jsonb,
    after           jsonb,
    address         text,
    request_id      text
);
CREATE INDEX audit_log_tenant ON audit_log (tenant_id, id);
REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM tollgate_app;
