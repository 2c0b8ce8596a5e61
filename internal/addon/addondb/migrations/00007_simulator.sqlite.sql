-- The simulated store that answers in test mode: its purchases, its clock and what it has
-- sold. One row, sealed.
CREATE TABLE simulator (
    id         bigint PRIMARY KEY,
    sealed     blob NOT NULL, -- empty: nothing was bought yet
    changed_at text NOT NULL
);
