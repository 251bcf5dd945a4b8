-- Grants that end, overdraft in percent, decreases in steps, thresholds and what they announce.

ALTER TABLE accounts
    -- The overdraft as percent of the total; null: `overdraft_limit` is the amount.
    ADD COLUMN overdraft_percent smallint CHECK (overdraft_percent BETWEEN 0 AND 1000),
    -- The limit is lowered by this while a decrease is tested in Redis.
    ADD COLUMN pending_decrease  amount NOT NULL DEFAULT 0 CHECK (pending_decrease >= 0),
    -- The highest threshold crossed since a top-up or a new period armed it, percent used; 0: none.
    ADD COLUMN crossed           smallint NOT NULL DEFAULT 0;

-- Between these two versions of the tenant's account the grant was in force. A request frozen below `ended_version` may still
-- use what is left of it. Null: not yet.
ALTER TABLE grant_balances
    ADD COLUMN started_version bigint,
    ADD COLUMN ended_version   bigint;
UPDATE grant_balances SET started_version = 0 WHERE status <> 'pending';
UPDATE grant_balances SET ended_version = 0 WHERE status IN ('ended', 'lapsed');
CREATE INDEX grant_balances_ended ON grant_balances (tenant_id, ended_version) WHERE status IN ('ended', 'lapsed') AND used < amount;

-- Spending moved onto the grant by the event: what was owed and is borne by it now; negative where a decrease moves it off again.
-- `used` of a grant = its allocations + what its events repaid.
ALTER TABLE grant_events ADD COLUMN repaid amount NOT NULL DEFAULT 0;
COMMENT ON COLUMN grant_events.delta IS
    'Change of the tenant''s total. For unlapsed: what a request frozen before the end used of the ended grant; it joins the total and is spent at once, so both stay.';

-- Every change of a quota is a delta. A decrease is pending until Redis has tested it on live freezes.
CREATE TABLE quota_changes (
    id              uuid PRIMARY KEY,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    scope           text NOT NULL REFERENCES accounts,
    delta           amount NOT NULL CHECK (delta <> 0),
    recurring       boolean NOT NULL DEFAULT false,
    reason          text NOT NULL DEFAULT '',
    state           text NOT NULL CHECK (state IN ('pending', 'committed', 'cancelled')),
    actor           text NOT NULL,
    -- The four numbers as the API showed them.
    before          jsonb,
    after           jsonb,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_at      timestamptz,
    CHECK (state <> 'pending' OR delta < 0),
    CHECK ((state = 'pending') = (decided_at IS NULL))
);
CREATE UNIQUE INDEX quota_changes_pending ON quota_changes (scope) WHERE state = 'pending';
CREATE INDEX quota_changes_scope ON quota_changes (scope, id DESC);
REVOKE DELETE, TRUNCATE ON quota_changes FROM tollgate_app;

-- What happened and has to be told: written in the transaction in which it happens, read in the order of `id` by whoever delivers.
CREATE TABLE outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id        uuid NOT NULL UNIQUE,
    type            text NOT NULL,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    scope           text,
    -- Amounts are strings of units.
    data            jsonb NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX outbox_tenant ON outbox (tenant_id, id);
REVOKE UPDATE, DELETE, TRUNCATE ON outbox FROM tollgate_app;
