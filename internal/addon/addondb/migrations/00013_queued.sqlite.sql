-- Verifications that the store has not answered yet. A user who has one is a member whose purchase is pending.
CREATE TABLE queued_verifications (
    id           integer PRIMARY KEY AUTOINCREMENT,
    token_digest blob NOT NULL,
    user_id      text NOT NULL,
    sealed       blob NOT NULL, -- the token
    product      text NOT NULL,
    restoring    boolean NOT NULL,
    simulated    boolean NOT NULL,
    unknown      boolean NOT NULL, -- the store did not know the token
    queued_at    text NOT NULL,
    UNIQUE (user_id, token_digest)
);
