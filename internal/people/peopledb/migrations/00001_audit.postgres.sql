CREATE TABLE audit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         text NOT NULL,
    actor_kind text NOT NULL,
    actor      text NOT NULL,
    face       text NOT NULL,
    address    text NOT NULL,
    action     text NOT NULL,
    workspace  text NOT NULL,
    subject    text NOT NULL,
    detail     text NOT NULL
);
