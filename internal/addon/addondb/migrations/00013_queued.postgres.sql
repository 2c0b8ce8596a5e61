-- Verifications that the store has not answered yet. A user who has one is a member whose purchase is pending.
CREATE TABLE queued_verifications (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_digest bytea NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    sealed       bytea NOT NULL, -- the token
    product      text COLLATE "C" NOT NULL,
    restoring    boolean NOT NULL,
    simulated    boolean NOT NULL,
    unknown      boolean NOT NULL, -- the store did not know the token
    queued_at    text COLLATE "C" NOT NULL,
    UNIQUE (user_id, token_digest)
);
