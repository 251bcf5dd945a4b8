-- Requests that a gateway admitted while Redis was away: written before the provider is called, so that a gateway that dies
-- leaves a trace, deleted with their outcome.
CREATE TABLE opened_requests (
    request_id      uuid PRIMARY KEY,
    tenant_id       uuid NOT NULL REFERENCES tenants,
    project_id      uuid NOT NULL,
    key_id          uuid NOT NULL,
    -- Key, project, tenant, as they were when it was admitted.
    scopes          text[] NOT NULL,
    -- The gateway that holds it: while its row in `gateway_beats` is beaten, the request is alive.
    gateway_id      text NOT NULL,
    model           text NOT NULL,
    mode            text NOT NULL CHECK (mode IN ('allowance', 'bypass')),
    amount          amount NOT NULL CHECK (amount >= 0),
    -- Of the tenant's account, as far as the gateway knew.
    version         bigint NOT NULL,
    opened_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX opened_requests_opened ON opened_requests (opened_at);
CREATE INDEX gateway_beats_at ON gateway_beats (at);
