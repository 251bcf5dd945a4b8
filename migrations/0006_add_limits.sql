-- Limits beside the quota are part of what an account's version stands for: rpm, rpd, tpm, tpd, in_flight, max_per_request
-- (the last in units of the account), joined by ',', each empty where there is none; empty: none at all.
ALTER TABLE accounts ADD COLUMN limits text NOT NULL DEFAULT ''
    CHECK (limits ~ '^(|([1-9][0-9]{0,15})?(,([1-9][0-9]{0,15})?){5})$');
