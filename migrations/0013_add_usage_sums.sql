-- Sums of usage that reports and statements are read from, what was charged from outside, who serves, and the platform's settings.

-- The model that was asked for, so that the ledger alone says what was charged for what, however old it is.
ALTER TABLE settlements ADD COLUMN model text NOT NULL DEFAULT '';
UPDATE settlements s SET model = u.model FROM usage_records u WHERE u.request_id = s.request_id;

-- Usage per quarter of an hour: the largest step that every time zone's hours, days and months are made of. The quarter is
-- that of the record, so a quarter that is over never changes, and a late correction stands where it was booked. Kept by
-- triggers in the transaction that writes the rows: exact whoever writes them. Sums are numeric: no count that a provider
-- reports may keep an outcome from being recorded.
CREATE TABLE usage_quarters (
    tenant_id           uuid NOT NULL,
    quarter             timestamptz NOT NULL,
    project_id          uuid NOT NULL,
    key_id              uuid NOT NULL,
    model               text NOT NULL,
    requests            bigint NOT NULL DEFAULT 0,
    settlements         bigint NOT NULL DEFAULT 0,
    charge              numeric NOT NULL DEFAULT 0,
    refunded            numeric NOT NULL DEFAULT 0,
    prompt_tokens       numeric NOT NULL DEFAULT 0,
    cached_tokens       numeric NOT NULL DEFAULT 0,
    completion_tokens   numeric NOT NULL DEFAULT 0,
    estimated           bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, quarter, project_id, key_id, model)
) WITH (fillfactor = 70);
CREATE INDEX usage_quarters_quarter ON usage_quarters (quarter);
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON usage_quarters FROM tollgate_app;

-- Requests that were not admitted, as the gateways count them. A gateway that dies takes its last seconds with it.
CREATE TABLE refused_quarters (
    tenant_id           uuid NOT NULL,
    quarter             timestamptz NOT NULL,
    project_id          uuid NOT NULL,
    key_id              uuid NOT NULL,
    model               text NOT NULL,
    -- The limit, such as `quota` or `rpm`; `inactive` where tenant or key may not call.
    reason              text NOT NULL,
    requests            bigint NOT NULL,
    PRIMARY KEY (tenant_id, quarter, project_id, key_id, model, reason)
);
CREATE INDEX refused_quarters_quarter ON refused_quarters (quarter);
REVOKE DELETE, TRUNCATE ON refused_quarters FROM tollgate_app;

CREATE FUNCTION quarter_of(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT date_bin('15 minutes', at, '2000-01-01 00:00:00+00')
$$;
-- Written so that Postgres puts them in line: they run for every record.
CREATE FUNCTION count_of(usage jsonb, kind text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((usage ->> kind)::numeric, 0)
$$;
CREATE FUNCTION prompt_tokens(usage jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT count_of(usage, 'input') + count_of(usage, 'cached_input') + count_of(usage, 'cache_write_5m')
        + count_of(usage, 'cache_write_1h') + count_of(usage, 'audio_input')
$$;
CREATE FUNCTION completion_tokens(usage jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT count_of(usage, 'output') + count_of(usage, 'reasoning') + count_of(usage, 'audio_output')
$$;

CREATE FUNCTION sum_settlements() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO usage_quarters AS q (tenant_id, quarter, project_id, key_id, model, requests, settlements, charge)
    SELECT tenant_id, quarter_of(recorded_at), project_id, key_id, model, count(*) FILTER (WHERE kind = 0), count(*), sum(amount)
    FROM added GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, quarter, project_id, key_id, model) DO UPDATE SET requests = q.requests + excluded.requests,
        settlements = q.settlements + excluded.settlements, charge = q.charge + excluded.charge;
    RETURN NULL;
END
$$;
CREATE TRIGGER sum_settlements AFTER INSERT ON settlements REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION sum_settlements();

CREATE FUNCTION sum_usage() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO usage_quarters AS q (tenant_id, quarter, project_id, key_id, model, refunded, prompt_tokens, cached_tokens,
        completion_tokens, estimated)
    SELECT tenant_id, quarter_of(recorded_at), project_id, key_id, model,
        coalesce(sum(frozen) FILTER (WHERE outcome = 'rolled_back'), 0), sum(prompt_tokens(usage)),
        sum(count_of(usage, 'cached_input')), sum(completion_tokens(usage)), count(*) FILTER (WHERE estimated)
    FROM added GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, quarter, project_id, key_id, model) DO UPDATE SET refunded = q.refunded + excluded.refunded,
        prompt_tokens = q.prompt_tokens + excluded.prompt_tokens, cached_tokens = q.cached_tokens + excluded.cached_tokens,
        completion_tokens = q.completion_tokens + excluded.completion_tokens, estimated = q.estimated + excluded.estimated;
    RETURN NULL;
END
$$;
CREATE TRIGGER sum_usage AFTER INSERT ON usage_records REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION sum_usage();

-- A late correction knows more of the request than its outcome did: the difference counts now.
CREATE FUNCTION correct_usage() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO usage_quarters AS q (tenant_id, quarter, project_id, key_id, model, prompt_tokens, cached_tokens,
        completion_tokens, estimated)
    SELECT n.tenant_id, quarter_of(now()), n.project_id, n.key_id, n.model,
        sum(prompt_tokens(n.usage) - prompt_tokens(o.usage)),
        sum(count_of(n.usage, 'cached_input') - count_of(o.usage, 'cached_input')),
        sum(completion_tokens(n.usage) - completion_tokens(o.usage)), sum(n.estimated::integer - o.estimated::integer)
    FROM corrected n JOIN former o USING (request_id) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, quarter, project_id, key_id, model) DO UPDATE SET
        prompt_tokens = q.prompt_tokens + excluded.prompt_tokens, cached_tokens = q.cached_tokens + excluded.cached_tokens,
        completion_tokens = q.completion_tokens + excluded.completion_tokens, estimated = q.estimated + excluded.estimated;
    RETURN NULL;
END
$$;
CREATE TRIGGER correct_usage AFTER UPDATE ON usage_records REFERENCING OLD TABLE AS former NEW TABLE AS corrected
    FOR EACH STATEMENT EXECUTE FUNCTION correct_usage();

-- What was recorded before.
INSERT INTO usage_quarters (tenant_id, quarter, project_id, key_id, model, requests, settlements, charge)
SELECT tenant_id, quarter_of(recorded_at), project_id, key_id, model, count(*) FILTER (WHERE kind = 0), count(*), sum(amount)
FROM settlements GROUP BY 1, 2, 3, 4, 5;
INSERT INTO usage_quarters AS q (tenant_id, quarter, project_id, key_id, model, refunded, prompt_tokens, cached_tokens,
    completion_tokens, estimated)
SELECT tenant_id, quarter_of(recorded_at), project_id, key_id, model,
    coalesce(sum(frozen) FILTER (WHERE outcome = 'rolled_back'), 0), sum(prompt_tokens(usage)),
    sum(count_of(usage, 'cached_input')), sum(completion_tokens(usage)), count(*) FILTER (WHERE estimated)
FROM usage_records GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (tenant_id, quarter, project_id, key_id, model) DO UPDATE SET refunded = excluded.refunded,
    prompt_tokens = excluded.prompt_tokens, cached_tokens = excluded.cached_tokens,
    completion_tokens = excluded.completion_tokens, estimated = excluded.estimated;

-- What was left of a grant when it ended: it leaves the balance then. With it a statement adds up without looking at
-- allocations: balance = started and adjusted - charged - unused + what `unlapsed` events gave back.
ALTER TABLE grant_events ADD COLUMN unused amount NOT NULL DEFAULT 0;
UPDATE grant_events e SET unused = -e.delta - (b.used - coalesce(
        (SELECT sum(u.delta) FROM grant_events u WHERE u.grant_id = e.grant_id AND u.kind = 'unlapsed'), 0))
FROM grant_balances b WHERE b.grant_id = e.grant_id AND e.kind IN ('ended', 'lapsed') AND e.delta < 0;

-- Usage metered elsewhere: each reference of a key is charged once.
CREATE TABLE ingested_usage (
    key_id          uuid NOT NULL REFERENCES api_keys,
    reference       text NOT NULL CHECK (length(reference) BETWEEN 1 AND 200),
    request_id      uuid NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key_id, reference)
);
REVOKE UPDATE, DELETE, TRUNCATE ON ingested_usage FROM tollgate_app;

-- One row per process: that it serves, and what it sees of others.
CREATE TABLE service_reports (
    id              text PRIMARY KEY,
    name            text NOT NULL CHECK (name IN ('gateway', 'reconciler')),
    version         text NOT NULL,
    -- Of a gateway: until when which targets are ejected and which upstreams parked.
    health          jsonb NOT NULL DEFAULT '{}',
    at              timestamptz NOT NULL DEFAULT now()
);
REVOKE TRUNCATE ON service_reports FROM tollgate_app;

-- What an owner sets for the whole platform.
CREATE TABLE platform_settings (
    one                     boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- Null: the reconciler's own configuration.
    mail_from               text CHECK (length(mail_from) BETWEEN 3 AND 320),
    -- Of tenants that are created without their own.
    default_time_zone       text NOT NULL DEFAULT 'UTC',
    default_thresholds      integer[] NOT NULL DEFAULT '{90,100}',
    -- For how many days is kept what is neither money nor audit. Null: for ever.
    keep_usage_records_days integer CHECK (keep_usage_records_days BETWEEN 1 AND 36500),
    keep_events_days        integer DEFAULT 90 CHECK (keep_events_days BETWEEN 7 AND 36500),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    version                 bigint NOT NULL DEFAULT 1
);
INSERT INTO platform_settings DEFAULT VALUES;
REVOKE INSERT, DELETE, TRUNCATE ON platform_settings FROM tollgate_app;

-- Removes events that were handed on before that instant, with their deliveries; never one that is still being told, nor the
-- newest, whose position the next one follows. The services may not delete events in any other way.
CREATE FUNCTION remove_old_events(before timestamptz, most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE ids uuid[];
BEGIN
    SELECT array_agg(event_id) INTO ids FROM (
        SELECT o.event_id FROM outbox o
        WHERE o.at < least(before, now() - interval '7 days') AND o.position < (SELECT max(position) FROM outbox)
            AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = o.event_id AND d.state = 'pending')
            AND NOT EXISTS (SELECT FROM mail_deliveries d WHERE d.event_id = o.event_id AND d.state = 'pending')
        ORDER BY o.at LIMIT most) old;
    DELETE FROM webhook_deliveries WHERE event_id = ANY (ids);
    DELETE FROM mail_deliveries WHERE event_id = ANY (ids);
    DELETE FROM outbox WHERE event_id = ANY (ids);
    RETURN coalesce(cardinality(ids), 0);
END
$$;
REVOKE ALL ON FUNCTION remove_old_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_old_events TO tollgate_app;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
CREATE INDEX mail_deliveries_event ON mail_deliveries (event_id);
CREATE INDEX outbox_position_at ON outbox (at) WHERE position IS NOT NULL;
