-- Sales added up, by day (in UTC) for reports of days, and by item and month for reports of
-- items. Triggers keep them, so that whatever changes a purchase changes them too, in its
-- transaction: once for a statement, because an import is one.
CREATE TABLE sales_days (
    workspace_id bigint NOT NULL,
    day          text COLLATE "C" NOT NULL,
    currency     text COLLATE "C" NOT NULL,
    sold         bigint NOT NULL,
    ended        bigint NOT NULL,
    revenue      bigint NOT NULL,
    PRIMARY KEY (workspace_id, day, currency)
);
CREATE TABLE sales_items (
    workspace_id bigint NOT NULL,
    month        text COLLATE "C" NOT NULL,
    item_id      bigint NOT NULL,
    currency     text COLLATE "C" NOT NULL,
    sold         bigint NOT NULL,
    ended        bigint NOT NULL,
    revenue      bigint NOT NULL,
    PRIMARY KEY (workspace_id, month, item_id, currency)
);

INSERT INTO sales_days SELECT workspace_id, left(sold_at, 10), currency, count(*), count(*) FILTER (WHERE state <> 'active'), sum(price) FROM purchases GROUP BY 1, 2, 3;
INSERT INTO sales_items SELECT workspace_id, left(sold_at, 7), item_id, currency, count(*), count(*) FILTER (WHERE state <> 'active'), sum(price) FROM purchases GROUP BY 1, 2, 3, 4;

CREATE FUNCTION countersign_count_sales() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := TG_ARGV[0];
BEGIN
    -- Whoever changes many sums waits for those who change one, and they for it: or each could wait for the other.
    IF (SELECT count(*) FROM (SELECT 1 FROM changed LIMIT 2) few) > 1 THEN
        LOCK TABLE sales_days IN SHARE ROW EXCLUSIVE MODE;
    END IF;
    INSERT INTO sales_days AS s
        SELECT workspace_id, left(sold_at, 10), currency, sign * count(*), sign * count(*) FILTER (WHERE state <> 'active'), sign * sum(price)
        FROM changed GROUP BY 1, 2, 3
        ON CONFLICT (workspace_id, day, currency) DO UPDATE
            SET sold = s.sold + excluded.sold, ended = s.ended + excluded.ended, revenue = s.revenue + excluded.revenue;
    INSERT INTO sales_items AS s
        SELECT workspace_id, left(sold_at, 7), item_id, currency, sign * count(*), sign * count(*) FILTER (WHERE state <> 'active'), sign * sum(price)
        FROM changed GROUP BY 1, 2, 3, 4
        ON CONFLICT (workspace_id, month, item_id, currency) DO UPDATE
            SET sold = s.sold + excluded.sold, ended = s.ended + excluded.ended, revenue = s.revenue + excluded.revenue;
    RETURN NULL;
END
$$;

CREATE TRIGGER purchases_sold AFTER INSERT ON purchases REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION countersign_count_sales('1');
CREATE TRIGGER purchases_unsold AFTER DELETE ON purchases REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION countersign_count_sales('-1');
CREATE TRIGGER purchases_changed_from AFTER UPDATE ON purchases REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION countersign_count_sales('-1');
CREATE TRIGGER purchases_changed_to AFTER UPDATE ON purchases REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION countersign_count_sales('1');
