-- Sales added up, by day (in UTC) for reports of days, and by item and month for reports of
-- items. Triggers keep them, so that whatever changes a purchase changes them too, in its
-- transaction. A migration that makes the table of purchases again has to make the triggers again.
CREATE TABLE sales_days (
    workspace_id bigint NOT NULL,
    day          text NOT NULL,
    currency     text NOT NULL,
    sold         bigint NOT NULL,
    ended        bigint NOT NULL,
    revenue      bigint NOT NULL,
    PRIMARY KEY (workspace_id, day, currency)
) WITHOUT ROWID;
CREATE TABLE sales_items (
    workspace_id bigint NOT NULL,
    month        text NOT NULL,
    item_id      bigint NOT NULL,
    currency     text NOT NULL,
    sold         bigint NOT NULL,
    ended        bigint NOT NULL,
    revenue      bigint NOT NULL,
    PRIMARY KEY (workspace_id, month, item_id, currency)
) WITHOUT ROWID;

INSERT INTO sales_days SELECT workspace_id, substr(sold_at, 1, 10), currency, count(*), sum(state <> 'active'), sum(price) FROM purchases GROUP BY 1, 2, 3;
INSERT INTO sales_items SELECT workspace_id, substr(sold_at, 1, 7), item_id, currency, count(*), sum(state <> 'active'), sum(price) FROM purchases GROUP BY 1, 2, 3, 4;

CREATE TRIGGER purchases_sold AFTER INSERT ON purchases BEGIN
    INSERT INTO sales_days VALUES (new.workspace_id, substr(new.sold_at, 1, 10), new.currency, 1, new.state <> 'active', new.price)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue;
    INSERT INTO sales_items VALUES (new.workspace_id, substr(new.sold_at, 1, 7), new.item_id, new.currency, 1, new.state <> 'active', new.price)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue;
END;
CREATE TRIGGER purchases_unsold AFTER DELETE ON purchases BEGIN
    UPDATE sales_days SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price
        WHERE workspace_id = old.workspace_id AND day = substr(old.sold_at, 1, 10) AND currency = old.currency;
    UPDATE sales_items SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price
        WHERE workspace_id = old.workspace_id AND month = substr(old.sold_at, 1, 7) AND item_id = old.item_id AND currency = old.currency;
END;
CREATE TRIGGER purchases_changed AFTER UPDATE OF workspace_id, item_id, price, currency, sold_at, state ON purchases
WHEN old.workspace_id <> new.workspace_id OR old.item_id <> new.item_id OR old.price <> new.price OR old.currency <> new.currency
    OR old.sold_at <> new.sold_at OR old.state <> new.state
BEGIN
    UPDATE sales_days SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price
        WHERE workspace_id = old.workspace_id AND day = substr(old.sold_at, 1, 10) AND currency = old.currency;
    UPDATE sales_items SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price
        WHERE workspace_id = old.workspace_id AND month = substr(old.sold_at, 1, 7) AND item_id = old.item_id AND currency = old.currency;
    INSERT INTO sales_days VALUES (new.workspace_id, substr(new.sold_at, 1, 10), new.currency, 1, new.state <> 'active', new.price)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue;
    INSERT INTO sales_items VALUES (new.workspace_id, substr(new.sold_at, 1, 7), new.item_id, new.currency, 1, new.state <> 'active', new.price)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue;
END;

-- A search for items reads what it compares from the index.
DROP INDEX items_of_workspace;
CREATE INDEX items_of_workspace ON items (workspace_id, id, kind, name, category);
