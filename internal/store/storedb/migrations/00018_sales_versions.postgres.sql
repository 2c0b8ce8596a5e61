-- Reports keep the sums of a month in memory. The number of changes of its days shows whether they are current.
ALTER TABLE sales_days ADD COLUMN changes bigint NOT NULL DEFAULT 1;

CREATE OR REPLACE FUNCTION countersign_count_sales() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := TG_ARGV[0];
BEGIN
    -- A transaction that changes many sums waits for those that change one, and they wait for it. Otherwise each could wait for the other.
    IF (SELECT count(*) FROM (SELECT 1 FROM changed LIMIT 2) few) > 1 THEN
        LOCK TABLE sales_days IN SHARE ROW EXCLUSIVE MODE;
    END IF;
    INSERT INTO sales_days AS s
        SELECT workspace_id, left(sold_at, 10), currency, sign * count(*), sign * count(*) FILTER (WHERE state <> 'active'), sign * sum(price), 1
        FROM changed GROUP BY 1, 2, 3
        ON CONFLICT (workspace_id, day, currency) DO UPDATE
            SET sold = s.sold + excluded.sold, ended = s.ended + excluded.ended, revenue = s.revenue + excluded.revenue, changes = s.changes + 1;
    INSERT INTO sales_items AS s
        SELECT workspace_id, left(sold_at, 7), item_id, currency, sign * count(*), sign * count(*) FILTER (WHERE state <> 'active'), sign * sum(price)
        FROM changed GROUP BY 1, 2, 3, 4
        ON CONFLICT (workspace_id, month, item_id, currency) DO UPDATE
            SET sold = s.sold + excluded.sold, ended = s.ended + excluded.ended, revenue = s.revenue + excluded.revenue;
    RETURN NULL;
END
$$;
