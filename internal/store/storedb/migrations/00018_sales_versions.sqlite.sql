-- Reports keep the sums of a month in memory. The number of changes of its days shows whether they are current.
ALTER TABLE sales_days ADD COLUMN changes bigint NOT NULL DEFAULT 1;

DROP TRIGGER purchases_sold;
DROP TRIGGER purchases_unsold;
DROP TRIGGER purchases_changed;
CREATE TRIGGER purchases_sold AFTER INSERT ON purchases BEGIN
    INSERT INTO sales_days VALUES (new.workspace_id, substr(new.sold_at, 1, 10), new.currency, 1, new.state <> 'active', new.price, 1)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue, changes = changes + 1;
    INSERT INTO sales_items VALUES (new.workspace_id, substr(new.sold_at, 1, 7), new.item_id, new.currency, 1, new.state <> 'active', new.price)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue;
END;
CREATE TRIGGER purchases_unsold AFTER DELETE ON purchases BEGIN
    UPDATE sales_days SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price, changes = changes + 1
        WHERE workspace_id = old.workspace_id AND day = substr(old.sold_at, 1, 10) AND currency = old.currency;
    UPDATE sales_items SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price
        WHERE workspace_id = old.workspace_id AND month = substr(old.sold_at, 1, 7) AND item_id = old.item_id AND currency = old.currency;
END;
CREATE TRIGGER purchases_changed AFTER UPDATE OF workspace_id, item_id, price, currency, sold_at, state ON purchases
WHEN old.workspace_id <> new.workspace_id OR old.item_id <> new.item_id OR old.price <> new.price OR old.currency <> new.currency
    OR old.sold_at <> new.sold_at OR old.state <> new.state
BEGIN
    UPDATE sales_days SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price, changes = changes + 1
        WHERE workspace_id = old.workspace_id AND day = substr(old.sold_at, 1, 10) AND currency = old.currency;
    UPDATE sales_items SET sold = sold - 1, ended = ended - (old.state <> 'active'), revenue = revenue - old.price
        WHERE workspace_id = old.workspace_id AND month = substr(old.sold_at, 1, 7) AND item_id = old.item_id AND currency = old.currency;
    INSERT INTO sales_days VALUES (new.workspace_id, substr(new.sold_at, 1, 10), new.currency, 1, new.state <> 'active', new.price, 1)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue, changes = changes + 1;
    INSERT INTO sales_items VALUES (new.workspace_id, substr(new.sold_at, 1, 7), new.item_id, new.currency, 1, new.state <> 'active', new.price)
        ON CONFLICT DO UPDATE SET sold = sold + excluded.sold, ended = ended + excluded.ended, revenue = revenue + excluded.revenue;
END;
