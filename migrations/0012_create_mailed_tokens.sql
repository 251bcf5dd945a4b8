-- Invitations, password resets, second factors.

-- A one-time token that is mailed to a person. Using it removes it.
CREATE TABLE mailed_tokens (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    purpose         text NOT NULL CHECK (purpose IN ('invitation', 'password_reset')),
    secret_hash     bytea NOT NULL UNIQUE,
    -- Sealed for the row's id, for the mail; null once that is sent.
    sealed_secret   bytea,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL
);
CREATE INDEX mailed_tokens_user ON mailed_tokens (user_id, purpose);
CREATE INDEX mailed_tokens_expires ON mailed_tokens (expires_at);

-- A mail is about an event, or carries a token.
ALTER TABLE mail_deliveries
    ALTER COLUMN event_id DROP NOT NULL,
    ADD COLUMN token_id uuid UNIQUE REFERENCES mailed_tokens ON DELETE CASCADE,
    ADD CHECK ((event_id IS NULL) <> (token_id IS NULL));

-- Time-based one-time passwords (RFC 6238).
CREATE TABLE totp_secrets (
    user_id         uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- Sealed for the user's id.
    sealed_secret   bytea NOT NULL,
    -- Null: a first code was not given yet, and none is asked for at sign-in.
    confirmed_at    timestamptz,
    -- The step of the last code that was taken: each is taken once.
    last_step       bigint NOT NULL DEFAULT 0
);

-- Each is taken once in place of a code, and goes with that.
CREATE TABLE recovery_codes (
    code_hash       bytea PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE
);
CREATE INDEX recovery_codes_user ON recovery_codes (user_id);
REVOKE TRUNCATE ON mailed_tokens, totp_secrets, recovery_codes FROM tollgate_app;

CREATE INDEX users_tenant ON users (tenant_id) WHERE tenant_id IS NOT NULL;

-- The audit log is read by who, what and when.
CREATE INDEX audit_log_actor ON audit_log (actor, id);
CREATE INDEX audit_log_target ON audit_log (target, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE INDEX audit_log_at ON audit_log (at);
