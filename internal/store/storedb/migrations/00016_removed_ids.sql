-- The highest id that a removed row of a kind had, so that none is used again.
CREATE TABLE removed_ids (
    kind    text PRIMARY KEY, -- the name of the table
    highest bigint NOT NULL
);
INSERT INTO removed_ids (kind, highest) VALUES ('items', 0), ('purchases', 0);
