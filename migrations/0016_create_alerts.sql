-- What the hourly comparison of both copies found, and what it saw.

CREATE TABLE alerts (
    id              uuid PRIMARY KEY,
    grade           text NOT NULL CHECK (grade IN ('urgent', 'warning', 'hint')),
    kind            text NOT NULL,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    scope           text NOT NULL,
    -- The account when it was seen last; amounts are strings of units.
    numbers         jsonb NOT NULL,
    -- What the tenant was charged lately; amounts are strings of units. Null for projects and keys.
    trend           jsonb,
    remedy          text NOT NULL,
    opened_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Null: it still holds.
    closed_at       timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by text,
    note            text
);
-- One is open per account and kind, however many compare.
CREATE UNIQUE INDEX alerts_open ON alerts (scope, kind) WHERE closed_at IS NULL;
CREATE INDEX alerts_tenant ON alerts (tenant_id, id DESC);
REVOKE DELETE, TRUNCATE ON alerts FROM tollgate_app;

-- One per account and comparison, all columns but the last two from one reading of PostgreSQL.
CREATE TABLE snapshots (
    scope           text NOT NULL,
    at              timestamptz NOT NULL,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    version         bigint NOT NULL,
    total           amount,
    used            amount NOT NULL,
    spent_sum       numeric NOT NULL,
    -- In Redis, at the same time.
    frozen          amount NOT NULL,
    -- How Redis' copy compared.
    verdict         text NOT NULL,
    PRIMARY KEY (scope, at)
);
CREATE INDEX snapshots_tenant ON snapshots (tenant_id, at DESC);
CREATE INDEX snapshots_at ON snapshots (at);
REVOKE UPDATE, TRUNCATE ON snapshots FROM tollgate_app;

-- Comparisons, made every hour and by hand.
CREATE TABLE reconciliations (
    id              uuid PRIMARY KEY,
    -- Null: every tenant.
    tenant_id       uuid REFERENCES tenants,
    dry_run         boolean NOT NULL,
    actor           text NOT NULL,
    state           text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
    accounts        bigint NOT NULL DEFAULT 0,
    differences     bigint NOT NULL DEFAULT 0,
    repaired        bigint NOT NULL DEFAULT 0,
    alerts          bigint NOT NULL DEFAULT 0,
    started_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at        timestamptz,
    CHECK ((state = 'running') = (ended_at IS NULL))
);
CREATE INDEX reconciliations_tenant ON reconciliations (tenant_id, id DESC);
CREATE INDEX reconciliations_running ON reconciliations (started_at) WHERE state = 'running';
REVOKE DELETE, TRUNCATE ON reconciliations FROM tollgate_app;

SELECT guard_tenant_rows('alerts', 'SELECT');
SELECT guard_tenant_rows('snapshots', 'SELECT');
SELECT guard_tenant_rows('reconciliations', 'SELECT');

-- For how many days snapshots are kept. Null: for ever.
ALTER TABLE platform_settings
    ADD COLUMN keep_snapshots_days integer DEFAULT 90 CHECK (keep_snapshots_days BETWEEN 1 AND 36500);
