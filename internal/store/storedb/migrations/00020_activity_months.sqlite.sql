-- Activity of each day in all, and of each month by item: a year of it by day and item has a
-- million rows. The sum of a month's days grows with every change of the month, so it is also
-- its version.
CREATE TABLE activity_totals (
    kind         text NOT NULL, -- license or download
    workspace_id bigint NOT NULL,
    day          text NOT NULL,
    part         bigint NOT NULL, -- as in activity_days
    count        bigint NOT NULL,
    PRIMARY KEY (kind, workspace_id, day, part)
) WITHOUT ROWID;
CREATE TABLE activity_months (
    kind         text NOT NULL,
    workspace_id bigint NOT NULL,
    month        text NOT NULL,
    item_id      bigint NOT NULL,
    part         bigint NOT NULL,
    count        bigint NOT NULL,
    PRIMARY KEY (kind, workspace_id, month, item_id, part)
) WITHOUT ROWID;

INSERT INTO activity_totals SELECT kind, workspace_id, day, 0, CAST(sum(count) AS bigint) FROM activity_days GROUP BY 1, 2, 3;
INSERT INTO activity_months SELECT kind, workspace_id, substr(day, 1, 7), item_id, 0, CAST(sum(count) AS bigint) FROM activity_days GROUP BY 1, 2, 3, 4;

DROP TRIGGER licenses_issued;
DROP TRIGGER download_links_used;
CREATE TRIGGER licenses_issued AFTER INSERT ON licenses BEGIN
    INSERT INTO activity_days SELECT 'license', workspace_id, substr(new.issued_at, 1, 10), item_id, 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO activity_totals SELECT 'license', workspace_id, substr(new.issued_at, 1, 10), 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO activity_months SELECT 'license', workspace_id, substr(new.issued_at, 1, 7), item_id, 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER download_links_used AFTER UPDATE OF downloaded_at ON download_links WHEN old.downloaded_at IS NULL AND new.downloaded_at IS NOT NULL BEGIN
    INSERT INTO activity_days SELECT 'download', workspace_id, substr(new.downloaded_at, 1, 10), item_id, 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO activity_totals SELECT 'download', workspace_id, substr(new.downloaded_at, 1, 10), 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO activity_months SELECT 'download', workspace_id, substr(new.downloaded_at, 1, 7), item_id, 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
END;
