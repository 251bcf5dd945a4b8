-- Who is told of what stands in the outbox, and what was tried to tell them.

CREATE TABLE webhook_endpoints (
    id                      uuid PRIMARY KEY,
    -- Null: the platform's own, told of every tenant.
    tenant_id               uuid REFERENCES tenants,
    url                     text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
    event_types             text[] NOT NULL CHECK (cardinality(event_types) > 0),
    description             text NOT NULL DEFAULT '',
    -- Sealed for the endpoint's id.
    sealed_secret           bytea NOT NULL,
    -- The secret before the last rotation, which signs too until then.
    previous_secret         bytea,
    previous_valid_until    timestamptz,
    status                  text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
    disabled_reason         text CHECK (disabled_reason IN ('gone', 'failing')),
    -- The first failed attempt since the last one that worked.
    failing_since           timestamptz,
    created_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    version                 bigint NOT NULL DEFAULT 1,
    CHECK ((previous_secret IS NULL) = (previous_valid_until IS NULL)),
    CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL))
);
CREATE INDEX webhook_endpoints_tenant ON webhook_endpoints (tenant_id);

-- Some events concern the platform, and some a single endpoint.
ALTER TABLE outbox ALTER COLUMN tenant_id DROP NOT NULL;
ALTER TABLE outbox
    -- Told to this endpoint alone; null: to all that want the type.
    ADD COLUMN webhook_id   uuid,
    -- `id` is given before the commit, so a smaller one may appear later. Positions are given one after the other by
    -- whoever hands the events on: a reader that has seen a position misses nothing before it. Null: not handed on yet.
    ADD COLUMN position     bigint UNIQUE,
    -- `data` as callers read it, with amounts as decimals; written with the position, never changed.
    ADD COLUMN payload      jsonb,
    ADD CHECK ((position IS NULL) = (payload IS NULL));
CREATE INDEX outbox_waiting ON outbox (id) WHERE position IS NULL;
CREATE INDEX outbox_tenant_position ON outbox (tenant_id, position);
GRANT UPDATE (position, payload) ON outbox TO tollgate_app;

-- One per endpoint and event, however often it is tried.
CREATE TABLE webhook_deliveries (
    id              uuid PRIMARY KEY,
    number          bigint GENERATED ALWAYS AS IDENTITY,
    webhook_id      uuid NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    event_id        uuid NOT NULL REFERENCES outbox (event_id),
    state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    -- Attempts of the present run through the schedule; a redelivery begins another.
    tries           smallint NOT NULL DEFAULT 0,
    -- The last 20: `at`, `status`, `ms`, `error`, `body` (at most 16 kB).
    attempts        jsonb NOT NULL DEFAULT '[]',
    -- When it is due. Whoever works on it moves it ahead first, so that it is due again if they die.
    next_at         timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, number DESC);

-- The same for mail: one per person and event.
CREATE TABLE mail_deliveries (
    id              uuid PRIMARY KEY,
    event_id        uuid NOT NULL REFERENCES outbox (event_id),
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    tries           smallint NOT NULL DEFAULT 0,
    attempts        jsonb NOT NULL DEFAULT '[]',
    next_at         timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    UNIQUE (user_id, event_id)
);
CREATE INDEX mail_deliveries_due ON mail_deliveries (next_at) WHERE state = 'pending';
-- Deliveries go with their endpoint or person only.
REVOKE DELETE, TRUNCATE ON webhook_deliveries, mail_deliveries FROM tollgate_app;
REVOKE TRUNCATE ON webhook_endpoints FROM tollgate_app;
