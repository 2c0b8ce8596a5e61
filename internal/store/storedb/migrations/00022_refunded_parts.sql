-- Parts of a purchase that were paid back, as rows of imported files say: later files may have the rest.
CREATE TABLE refunded_parts (
    purchase_id bigint NOT NULL,
    part        text NOT NULL, -- what tells the row apart
    amount      bigint NOT NULL, -- hundredths
    import_id   bigint NOT NULL, -- 0 for one that can't be undone
    PRIMARY KEY (purchase_id, part)
);
