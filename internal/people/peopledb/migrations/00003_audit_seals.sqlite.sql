-- Each entry of the audit log that is sealed, in the order of the chain.
CREATE TABLE audit_seals (
    seq      integer PRIMARY KEY,
    audit_id bigint NOT NULL UNIQUE,
    hash     blob NOT NULL -- SHA-256 over the hash before it and the entry
);

-- The end of the chain. Its one row is made here and never again.
CREATE TABLE audit_head (
    id        integer PRIMARY KEY CHECK (id = 1),
    seq       bigint NOT NULL, -- of the last seal
    hash      blob NOT NULL,
    settled   bigint NOT NULL, -- entries with an id up to this one are all sealed
    seen_id   bigint NOT NULL, -- becomes settled when all transactions before seen_xmax are over
    seen_xmax bigint NOT NULL,
    seen_at   text,
    cut_seq   bigint NOT NULL, -- seals up to this one were pruned
    cut_hash  blob NOT NULL,
    cut_at    text,            -- the entries pruned last were older
    begun_at  text,
    inherited bigint NOT NULL, -- entries with an id up to this one are older than the chain
    mac       blob NOT NULL   -- under the key file; empty: not begun
);

INSERT INTO audit_head (id, seq, hash, settled, seen_id, seen_xmax, cut_seq, cut_hash, inherited, mac)
VALUES (1, 0, x'', 0, 0, 0, 0, x'', 0, x'');
