-- +goose Up
CREATE TABLE meta (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE changes (
    id     integer PRIMARY KEY AUTOINCREMENT,
    origin text NOT NULL,
    topic  text NOT NULL,
    ref    text NOT NULL,
    at     text NOT NULL
);
