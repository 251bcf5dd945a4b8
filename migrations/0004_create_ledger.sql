-- The truth of the quota ledger. `grants`, `grant_events`, `settlements` and `allocations` are append-only.

-- Grows by one when the database is restored from a backup, so that Redis never takes an older history for newer.
CREATE TABLE ledger_incarnation (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    incarnation bigint NOT NULL DEFAULT 1
);
INSERT INTO ledger_incarnation DEFAULT VALUES;

-- The sum of a scope's rows, kept in the transaction that writes them; version + 1 per change under the row's lock.
CREATE TABLE accounts (
    scope           text PRIMARY KEY,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    level           text NOT NULL CHECK (level IN ('tenant', 'project', 'key')),
    version         bigint NOT NULL DEFAULT 1,
    -- Sum of the grants in force (tenant) or the budget (project, key). Null: no limit.
    total           amount,
    credit_limit    amount NOT NULL DEFAULT 0 CHECK (credit_limit >= 0),
    overdraft_limit amount NOT NULL DEFAULT 0 CHECK (overdraft_limit >= 0),
    used            amount NOT NULL DEFAULT 0,
    refunded        numeric NOT NULL DEFAULT 0,
    refunds         bigint NOT NULL DEFAULT 0,
    -- Lifetime sums.
    granted_sum     numeric NOT NULL DEFAULT 0,
    spent_sum       numeric NOT NULL DEFAULT 0,
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'closed', 'halted')),
    -- The next instant at which the totals change by themselves.
    valid_until     timestamptz,
    lapse_version   bigint NOT NULL DEFAULT 0,
    lapsed_amount   amount NOT NULL DEFAULT 0,
    updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX accounts_tenant ON accounts (tenant_id);
CREATE INDEX accounts_updated ON accounts (updated_at);
CREATE INDEX accounts_due ON accounts (valid_until) WHERE valid_until IS NOT NULL;

CREATE TABLE grants (
    id              uuid PRIMARY KEY,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    kind            text NOT NULL CHECK (kind IN ('plan', 'temporary', 'gift')),
    amount          amount NOT NULL CHECK (amount > 0),
    -- Lower is spent first: gift 10, temporary 20, plan 30 unless the caller says otherwise.
    priority        integer NOT NULL,
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz,
    note            text NOT NULL DEFAULT '',
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (ends_at IS NULL OR ends_at > starts_at)
);
CREATE INDEX grants_tenant ON grants (tenant_id, created_at DESC, id DESC);

CREATE TABLE grant_events (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    grant_id        uuid NOT NULL REFERENCES grants,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    kind            text NOT NULL CHECK (kind IN ('created', 'started', 'adjusted', 'ended', 'lapsed', 'unlapsed')),
    -- Change of the tenant's total.
    delta           amount NOT NULL,
    account_version bigint NOT NULL,
    actor           text NOT NULL,
    reason          text NOT NULL DEFAULT '',
    at              timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX grant_events_grant ON grant_events (grant_id, id);
CREATE INDEX grant_events_tenant ON grant_events (tenant_id, id);

-- What is left of each grant: derived, kept in the same transactions as the rows.
CREATE TABLE grant_balances (
    grant_id        uuid PRIMARY KEY REFERENCES grants,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    kind            text NOT NULL,
    amount          amount NOT NULL CHECK (amount >= 0),
    used            amount NOT NULL DEFAULT 0 CHECK (used >= 0 AND used <= amount),
    priority        integer NOT NULL,
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz,
    created_at      timestamptz NOT NULL,
    status          text NOT NULL CHECK (status IN ('pending', 'in_force', 'ended', 'lapsed'))
);
CREATE INDEX grant_balances_tenant ON grant_balances (tenant_id, status);

-- A plan that renews: the load transaction turns each due renewal into a grant of kind `plan`.
CREATE TABLE plans (
    tenant_id       uuid PRIMARY KEY REFERENCES tenants,
    amount          amount NOT NULL CHECK (amount > 0),
    priority        integer NOT NULL,
    -- The next renewal.
    renews_at       timestamptz NOT NULL,
    -- Day of the month or weekday that the renewals stick to, in the tenant's zone: a billing day of 31 stays 31.
    anchor_day      smallint NOT NULL,
    anchor_time     time NOT NULL,
    note            text NOT NULL DEFAULT '',
    created_by      text NOT NULL
);

-- Kind 0 is the outcome of a request, exactly one; kind 1 a late correction, at most one.
CREATE TABLE settlements (
    request_id      uuid NOT NULL,
    kind            smallint NOT NULL CHECK (kind IN (0, 1)),
    tenant_id       uuid NOT NULL,
    project_id      uuid NOT NULL,
    key_id          uuid NOT NULL,
    scopes          text[] NOT NULL,
    amount          amount NOT NULL,
    outcome         text NOT NULL CHECK (outcome IN ('final', 'expired', 'rolled_back', 'late')),
    recorded_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (request_id, kind),
    CHECK ((kind = 1) = (outcome = 'late')),
    CHECK (kind = 1 OR amount >= 0)
) PARTITION BY RANGE (request_id);
CREATE INDEX settlements_tenant ON settlements (tenant_id, recorded_at);

CREATE TABLE allocations (
    request_id      uuid NOT NULL,
    kind            smallint NOT NULL,
    grant_id        uuid NOT NULL,
    amount          amount NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (request_id, kind, grant_id)
) PARTITION BY RANGE (request_id);
CREATE INDEX allocations_grant ON allocations (grant_id);

CREATE TABLE usage_records (
    request_id          uuid PRIMARY KEY,
    client_request_id   text,
    tenant_id           uuid NOT NULL,
    project_id          uuid NOT NULL,
    key_id              uuid NOT NULL,
    model               text NOT NULL,
    served_model        text,
    outcome             text NOT NULL,
    estimate            amount NOT NULL,
    frozen              amount NOT NULL,
    extensions          integer NOT NULL DEFAULT 0,
    -- Tokens by kind.
    usage               jsonb NOT NULL DEFAULT '{}',
    actual              amount NOT NULL,
    attempts            jsonb NOT NULL DEFAULT '[]',
    upstream_status     integer,
    estimated           boolean NOT NULL DEFAULT false,
    overrun             boolean NOT NULL DEFAULT false,
    late                boolean NOT NULL DEFAULT false,
    started_at          timestamptz,
    frozen_at           timestamptz,
    first_byte_at       timestamptz,
    ended_at            timestamptz,
    recorded_at         timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (request_id);
CREATE INDEX usage_records_tenant ON usage_records (tenant_id, request_id DESC);

-- One row per gateway, beaten beside Redis; `checkpoints` holds running freezes while Redis takes none.
CREATE TABLE gateway_beats (
    gateway_id      text PRIMARY KEY,
    beat            bigint NOT NULL,
    checkpoints     jsonb NOT NULL DEFAULT '[]',
    at              timestamptz NOT NULL DEFAULT now()
);

REVOKE UPDATE, DELETE, TRUNCATE ON settlements, allocations, grants, grant_events FROM tollgate_app;

-- The least UUIDv7 of an instant, as the bound of a partition.
CREATE FUNCTION uuid_v7_floor(instant timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM instant) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Creates the monthly partitions (UTC) from the month of `first` on. Runs as the owner: the services may not create tables.
CREATE FUNCTION ensure_partitions(first timestamptz, months integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    parent text;
    name text;
    month timestamp;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('tollgate.ensure_partitions'));
    FOR offset_months IN 0..least(months, 60) - 1 LOOP
        month := date_trunc('month', first AT TIME ZONE 'UTC') + make_interval(months => offset_months);
        FOREACH parent IN ARRAY ARRAY['settlements', 'allocations', 'usage_records'] LOOP
            name := parent || to_char(month, '_YYYY_MM');
            IF to_regclass(name) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', name, parent,
                    uuid_v7_floor(month AT TIME ZONE 'UTC'), uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC'));
                IF parent <> 'usage_records' THEN
                    EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM tollgate_app', name);
                END IF;
                made := made + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
GRANT EXECUTE ON FUNCTION ensure_partitions TO tollgate_app;
SELECT ensure_partitions(now() - interval '1 month', 5);
