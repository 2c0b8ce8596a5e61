-- Activity of each day in all, and of each month by item: a year of it by day and item has a
-- million rows. The sum of a month's days grows with every change of the month, so it is also
-- its version.
CREATE TABLE activity_totals (
    kind         text COLLATE "C" NOT NULL, -- license or download
    workspace_id bigint NOT NULL,
    day          text COLLATE "C" NOT NULL,
    part         bigint NOT NULL, -- as in activity_days
    count        bigint NOT NULL,
    PRIMARY KEY (kind, workspace_id, day, part)
);
CREATE TABLE activity_months (
    kind         text COLLATE "C" NOT NULL,
    workspace_id bigint NOT NULL,
    month        text COLLATE "C" NOT NULL,
    item_id      bigint NOT NULL,
    part         bigint NOT NULL,
    count        bigint NOT NULL,
    PRIMARY KEY (kind, workspace_id, month, item_id, part)
);

INSERT INTO activity_totals SELECT kind, workspace_id, day, 0, CAST(sum(count) AS bigint) FROM activity_days GROUP BY 1, 2, 3;
INSERT INTO activity_months SELECT kind, workspace_id, substr(day, 1, 7), item_id, 0, CAST(sum(count) AS bigint) FROM activity_days GROUP BY 1, 2, 3, 4;

-- Rows are written in one order by all, or each of two could wait for the other.
CREATE OR REPLACE FUNCTION countersign_count_licenses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO activity_days AS a
        SELECT 'license', p.workspace_id, left(l.issued_at, 10), p.item_id, pg_backend_pid() % 16, count(*)
        FROM issued l JOIN purchases p ON p.id = l.purchase_id GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
        ON CONFLICT (kind, workspace_id, day, item_id, part) DO UPDATE SET count = a.count + excluded.count;
    INSERT INTO activity_totals AS a
        SELECT 'license', p.workspace_id, left(l.issued_at, 10), pg_backend_pid() % 16, count(*)
        FROM issued l JOIN purchases p ON p.id = l.purchase_id GROUP BY 2, 3 ORDER BY 2, 3
        ON CONFLICT (kind, workspace_id, day, part) DO UPDATE SET count = a.count + excluded.count;
    INSERT INTO activity_months AS a
        SELECT 'license', p.workspace_id, left(l.issued_at, 7), p.item_id, pg_backend_pid() % 16, count(*)
        FROM issued l JOIN purchases p ON p.id = l.purchase_id GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
        ON CONFLICT (kind, workspace_id, month, item_id, part) DO UPDATE SET count = a.count + excluded.count;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION countersign_count_download() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    day text := left(new.downloaded_at, 10);
    part bigint := pg_backend_pid() % 16;
    sold RECORD;
BEGIN
    SELECT p.workspace_id, p.item_id INTO sold FROM purchases p WHERE p.id = new.purchase_id;
    INSERT INTO activity_days AS a VALUES ('download', sold.workspace_id, day, sold.item_id, part, 1)
        ON CONFLICT ON CONSTRAINT activity_days_pkey DO UPDATE SET count = a.count + 1;
    INSERT INTO activity_totals AS a VALUES ('download', sold.workspace_id, day, part, 1)
        ON CONFLICT ON CONSTRAINT activity_totals_pkey DO UPDATE SET count = a.count + 1;
    INSERT INTO activity_months AS a VALUES ('download', sold.workspace_id, left(day, 7), sold.item_id, part, 1)
        ON CONFLICT ON CONSTRAINT activity_months_pkey DO UPDATE SET count = a.count + 1;
    RETURN NULL;
END
$$;
