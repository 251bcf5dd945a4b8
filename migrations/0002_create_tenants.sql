CREATE TABLE tenants (
    id              uuid PRIMARY KEY,
    name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    external_id     text UNIQUE CHECK (length(external_id) BETWEEN 1 AND 200),
    unit            text NOT NULL CHECK (unit IN ('credit', 'token')),
    time_zone       text NOT NULL,
    period_kind     text NOT NULL CHECK (period_kind IN ('day', 'week', 'month', 'year')),
    -- Day of the month (month), ISO weekday (week), or null for the natural start.
    period_anchor   smallint,
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'closed')),
    -- Everything of `settings` in the API: overdraft, credit line, thresholds, limits, outage steps, multiplier.
    settings        jsonb NOT NULL DEFAULT '{}',
    multiplier      numeric(12, 4) NOT NULL DEFAULT 1 CHECK (multiplier >= 0),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    last_used_at    timestamptz,
    version         bigint NOT NULL DEFAULT 1
);
CREATE INDEX tenants_created_at ON tenants (created_at DESC, id DESC);

CREATE TABLE projects (
    id              uuid PRIMARY KEY,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    budget_amount   amount CHECK (budget_amount >= 0),
    budget_period   text CHECK (budget_period IN ('day', 'week', 'month', 'year')),
    soft_budget     jsonb,
    limits          jsonb NOT NULL DEFAULT '{}',
    key_defaults    jsonb NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    version         bigint NOT NULL DEFAULT 1,
    CHECK ((budget_amount IS NULL) = (budget_period IS NULL)),
    UNIQUE (tenant_id, id)
);
CREATE INDEX projects_tenant ON projects (tenant_id, created_at DESC, id DESC);

CREATE TABLE api_keys (
    id              uuid PRIMARY KEY,
    tenant_id       uuid NOT NULL,
    project_id      uuid NOT NULL,
    name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    -- HMAC-SHA256 of the secret under the deployment's secret key; the secret itself is never stored.
    secret_hash     bytea NOT NULL UNIQUE,
    prefix          text NOT NULL,
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled', 'deleted')),
    budget_amount   amount CHECK (budget_amount >= 0),
    budget_period   text CHECK (budget_period IN ('day', 'week', 'month', 'year')),
    limits          jsonb NOT NULL DEFAULT '{}',
    -- null: every model.
    models          text[],
    ip_ranges       text[],
    safety_factor   numeric(6, 4) CHECK (safety_factor >= 1),
    expires_at      timestamptz,
    last_used_at    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    version         bigint NOT NULL DEFAULT 1,
    CHECK ((budget_amount IS NULL) = (budget_period IS NULL)),
    FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id)
);
CREATE INDEX api_keys_project ON api_keys (project_id, created_at DESC, id DESC);
