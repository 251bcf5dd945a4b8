-- What is learnt of each model's answers, and which project has reached its soft budget in an account's period.

-- The length in tokens that 90 % of a model's latest answers stay below; kept by the reconciler. Null: too few answers yet.
ALTER TABLE models ADD COLUMN p90_output_tokens bigint CHECK (p90_output_tokens >= 0);
-- `budget.soft_reached` was told for this account's period.
ALTER TABLE accounts ADD COLUMN soft_reached boolean NOT NULL DEFAULT false;
