-- The second wall between tenants, beneath the admin API's own checks: whoever may see some tenants only works as
-- tollgate_tenant, for which Postgres hides the rows of all others. Everything else of the services works as before.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tollgate_tenant') THEN
        BEGIN
            CREATE ROLE tollgate_tenant NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server was migrated at the same instant
        END;
    END IF;
    IF NOT pg_has_role('tollgate_app', 'tollgate_tenant', 'MEMBER') THEN
        BEGIN
            GRANT tollgate_tenant TO tollgate_app;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END IF;
END
$$;
GRANT USAGE ON SCHEMA public TO tollgate_tenant;

-- The tenants that the transaction may see. Without the setting: none.
CREATE FUNCTION tenants_in_reach() RETURNS uuid[] LANGUAGE sql STABLE AS $$
    SELECT nullif(current_setting('tollgate.tenants', true), '')::uuid[]
$$;

-- Lets tollgate_tenant do that with a table's rows of which the condition holds, and the services with all. Conditions that
-- ask another guarded table see of it what the caller sees.
CREATE FUNCTION guard_tenant_rows(name regclass, privileges text, condition text DEFAULT 'tenant_id = ANY ((SELECT tenants_in_reach())::uuid[])')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY every_row ON %s TO tollgate_app USING (true) WITH CHECK (true)', name);
    EXECUTE format('CREATE POLICY in_reach ON %s TO tollgate_tenant USING (%s) WITH CHECK (%s)', name, condition, condition);
    EXECUTE format('GRANT %s ON %s TO tollgate_tenant', privileges, name);
END
$$;
REVOKE ALL ON FUNCTION guard_tenant_rows FROM PUBLIC;

SELECT guard_tenant_rows('tenants', 'SELECT, UPDATE', 'id = ANY ((SELECT tenants_in_reach())::uuid[])');
SELECT guard_tenant_rows('projects', 'SELECT, INSERT, UPDATE');
SELECT guard_tenant_rows('api_keys', 'SELECT, INSERT, UPDATE');
SELECT guard_tenant_rows('retired_key_secrets', 'SELECT, INSERT, UPDATE, DELETE',
    'EXISTS (SELECT FROM api_keys k WHERE k.id = key_id)');

SELECT guard_tenant_rows('accounts', 'SELECT, INSERT, UPDATE');
SELECT guard_tenant_rows('grants', 'SELECT, INSERT');
SELECT guard_tenant_rows('grant_events', 'SELECT, INSERT');
SELECT guard_tenant_rows('grant_balances', 'SELECT, INSERT, UPDATE');
SELECT guard_tenant_rows('plans', 'SELECT, INSERT, UPDATE, DELETE');
SELECT guard_tenant_rows('quota_changes', 'SELECT, INSERT, UPDATE');
SELECT guard_tenant_rows('settlements', 'SELECT, INSERT');
SELECT guard_tenant_rows('allocations', 'SELECT, INSERT', 'EXISTS (SELECT FROM grants g WHERE g.id = grant_id)');
SELECT guard_tenant_rows('opened_requests', 'SELECT, DELETE');

SELECT guard_tenant_rows('usage_records', 'SELECT, INSERT, UPDATE');
SELECT guard_tenant_rows('usage_quarters', 'SELECT');
SELECT guard_tenant_rows('refused_quarters', 'SELECT');
SELECT guard_tenant_rows('ingested_usage', 'SELECT, INSERT', 'EXISTS (SELECT FROM api_keys k WHERE k.id = key_id)');
SELECT guard_tenant_rows('idempotent_calls', 'SELECT', 'EXISTS (SELECT FROM api_keys k WHERE k.id = key_id)');

SELECT guard_tenant_rows('outbox', 'SELECT, INSERT');
SELECT guard_tenant_rows('webhook_endpoints', 'SELECT, INSERT, UPDATE, DELETE');
SELECT guard_tenant_rows('webhook_deliveries', 'SELECT, INSERT, UPDATE',
    'EXISTS (SELECT FROM webhook_endpoints e WHERE e.id = webhook_id)');

SELECT guard_tenant_rows('users', 'SELECT, INSERT, UPDATE, DELETE');
SELECT guard_tenant_rows('sessions', 'SELECT, UPDATE', 'EXISTS (SELECT FROM users u WHERE u.id = user_id)');
SELECT guard_tenant_rows('mailed_tokens', 'SELECT, INSERT, UPDATE, DELETE', 'EXISTS (SELECT FROM users u WHERE u.id = user_id)');
SELECT guard_tenant_rows('mail_deliveries', 'SELECT, INSERT, UPDATE', 'EXISTS (SELECT FROM users u WHERE u.id = user_id)');
SELECT guard_tenant_rows('totp_secrets', 'SELECT, INSERT, UPDATE, DELETE', 'EXISTS (SELECT FROM users u WHERE u.id = user_id)');
SELECT guard_tenant_rows('recovery_codes', 'SELECT, INSERT, DELETE', 'EXISTS (SELECT FROM users u WHERE u.id = user_id)');
-- A token that is limited to some tenants leaves entries of none of them too, such as that of a test event.
SELECT guard_tenant_rows('audit_log', 'SELECT, INSERT');
SELECT guard_tenant_rows('idempotency_keys', 'SELECT, INSERT, UPDATE', 'caller = current_setting(''tollgate.caller'', true)');

-- What is the same for all.
GRANT SELECT ON ledger_incarnation, platform_settings, models, prices TO tollgate_tenant;
