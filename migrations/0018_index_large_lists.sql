-- Lists of 100 000 tenants and logs of millions of requests: a page of each order and of each filter is read from an index. The
-- plans are in docs/query-plans.md. Each index costs every recorded request something, so there are no more than these: a
-- project's requests are found among its tenant's, and what is rare has an index of what is rare alone.
CREATE INDEX usage_records_key ON usage_records (key_id, request_id DESC);
CREATE INDEX usage_records_model ON usage_records (model, request_id DESC);
CREATE INDEX usage_records_outcome ON usage_records (outcome, request_id DESC) WHERE outcome <> 'final';
CREATE INDEX usage_records_dear ON usage_records (actual) WHERE actual >= 100000000;

CREATE INDEX accounts_tenants_used ON accounts (used, tenant_id) WHERE level = 'tenant';
CREATE INDEX accounts_tenants_remaining ON accounts
    ((CASE WHEN total > 0 THEN round((total - used)::numeric * 100 / total, 6) ELSE 0 END), tenant_id) WHERE level = 'tenant';
