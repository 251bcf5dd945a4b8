-- The services connect as members of tollgate_app, which owns nothing and may do only what is granted below.
-- Migrations run as the owner of the database.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tollgate_app') THEN
        BEGIN
            CREATE ROLE tollgate_app NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server was migrated at the same instant
        END;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA public TO tollgate_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO tollgate_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO tollgate_app;

-- Amounts: integers of the unit, |x| <= 2^53 - 1.
CREATE DOMAIN amount AS bigint CHECK (VALUE BETWEEN -9007199254740991 AND 9007199254740991);
