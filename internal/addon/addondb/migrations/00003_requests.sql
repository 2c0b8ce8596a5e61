CREATE TABLE requests (
    hour    text NOT NULL, -- its beginning
    address text NOT NULL, -- settings, iap
    count   bigint NOT NULL,
    PRIMARY KEY (hour, address)
);
