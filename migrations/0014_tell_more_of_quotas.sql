-- What was told of an account and of a grant, so that each is told once.

ALTER TABLE accounts
    -- That it is used up; armed again by a top-up or a new period.
    ADD COLUMN exhausted        boolean NOT NULL DEFAULT false,
    -- Of the overdraft: 0 nothing, 1 that it is in use, 2 that it is used up.
    ADD COLUMN overdraft_told   smallint NOT NULL DEFAULT 0 CHECK (overdraft_told BETWEEN 0 AND 2);
-- What lies behind is not news.
UPDATE accounts SET exhausted = true WHERE total IS NOT NULL AND used >= total AND (total > 0 OR used > 0);
UPDATE accounts SET overdraft_told = 2 WHERE level = 'tenant' AND total IS NOT NULL AND used > total + credit_limit;

-- That it ends soon.
ALTER TABLE grant_balances ADD COLUMN expiry_told boolean NOT NULL DEFAULT false;
CREATE INDEX grant_balances_expiring ON grant_balances (ends_at) WHERE status = 'in_force' AND NOT expiry_told;
