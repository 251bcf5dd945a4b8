-- Shared pools: tenants that share one quota above their own, each with a guaranteed part of it by weight.
CREATE TABLE pools (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL,
    unit               text NOT NULL CHECK (unit IN ('credit', 'token')),
    -- What part of the total is guaranteed to the members; the rest is first come.
    guaranteed_percent smallint NOT NULL CHECK (guaranteed_percent BETWEEN 0 AND 100),
    budget_amount      amount NOT NULL CHECK (budget_amount >= 0),
    -- Null: a budget that never renews.
    budget_period      text CHECK (budget_period IN ('day', 'week', 'month', 'year')),
    time_zone          text NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    version            bigint NOT NULL DEFAULT 1
);

-- A tenant is in one pool at most.
CREATE TABLE pool_members (
    tenant_id uuid PRIMARY KEY REFERENCES tenants,
    pool_id   uuid NOT NULL REFERENCES pools,
    weight    integer NOT NULL CHECK (weight BETWEEN 1 AND 1000000),
    joined_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pool_members_pool ON pool_members (pool_id, tenant_id);

-- Tenants on their way into a pool or out of one (null): their accounts admit nothing until it is over. What stays here
-- longer than a move can last was left by a process that is gone, and is undone by the reconciler.
CREATE TABLE pool_moves (
    tenant_id  uuid PRIMARY KEY REFERENCES tenants,
    pool_id    uuid REFERENCES pools,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The account of a pool in a period belongs to no tenant; that of a member counts what the tenant uses of it.
ALTER TABLE accounts
    ALTER COLUMN tenant_id DROP NOT NULL,
    ADD COLUMN pool_id uuid REFERENCES pools,
    -- Of a member: what it is guaranteed. Of a pool: the sum of what of its members' guarantees is not spent.
    ADD COLUMN share amount CHECK (share >= 0),
    DROP CONSTRAINT accounts_level_check,
    ADD CONSTRAINT accounts_level_check CHECK (level IN ('tenant', 'project', 'key', 'member', 'pool')),
    ADD CONSTRAINT accounts_owner_check CHECK ((tenant_id IS NULL) = (level = 'pool')
        AND (pool_id IS NULL) = (level NOT IN ('member', 'pool')) AND (share IS NULL) = (pool_id IS NULL)),
    DROP CONSTRAINT accounts_status_check,
    ADD CONSTRAINT accounts_status_check CHECK (status IN ('active', 'suspended', 'closed', 'halted', 'moving'));
CREATE INDEX accounts_pool ON accounts (pool_id) WHERE pool_id IS NOT NULL;

SELECT guard_tenant_rows('pool_members', 'SELECT');
SELECT guard_tenant_rows('pool_moves', 'SELECT');
-- Whoever charges a member charges its pool.
SELECT guard_tenant_rows('pools', 'SELECT', 'EXISTS (SELECT FROM pool_members m WHERE m.pool_id = pools.id)');
ALTER POLICY in_reach ON accounts
    USING (tenant_id = ANY ((SELECT tenants_in_reach())::uuid[])
           OR level = 'pool' AND EXISTS (SELECT FROM pool_members m WHERE m.pool_id = accounts.pool_id))
    WITH CHECK (tenant_id = ANY ((SELECT tenants_in_reach())::uuid[])
           OR level = 'pool' AND EXISTS (SELECT FROM pool_members m WHERE m.pool_id = accounts.pool_id));

-- What a member is guaranteed depends on the weights of all, also where the caller may see some of them only.
CREATE FUNCTION weights_in_pool(pool uuid) RETURNS TABLE (tenant_id uuid, weight integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
    SELECT m.tenant_id, m.weight FROM pool_members m WHERE m.pool_id = pool
$$;
REVOKE ALL ON FUNCTION weights_in_pool FROM PUBLIC;
GRANT EXECUTE ON FUNCTION weights_in_pool TO tollgate_app, tollgate_tenant;

-- Gateways look at the keys of a tenant again that has joined a pool or left it.
CREATE FUNCTION notify_member_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('tollgate_changed', 'tenants:' || coalesce(NEW.tenant_id, OLD.tenant_id));
    RETURN NULL;
END
$$;
CREATE TRIGGER notify_change AFTER INSERT OR UPDATE OR DELETE ON pool_members FOR EACH ROW EXECUTE FUNCTION notify_member_change();
