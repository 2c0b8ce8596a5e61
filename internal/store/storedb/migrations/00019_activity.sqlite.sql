-- Licenses that were issued and files that buyers downloaded, counted by day (in UTC) and item.
-- Triggers count, so that whatever writes them counts, in its transaction.
CREATE TABLE activity_days (
    kind         text NOT NULL, -- license or download
    workspace_id bigint NOT NULL,
    day          text NOT NULL,
    item_id      bigint NOT NULL,
    part         bigint NOT NULL, -- on PostgreSQL, so that concurrent transactions seldom wait for each other
    count        bigint NOT NULL,
    PRIMARY KEY (kind, workspace_id, day, item_id, part)
) WITHOUT ROWID;

INSERT INTO activity_days SELECT 'license', p.workspace_id, substr(l.issued_at, 1, 10), p.item_id, 0, count(*)
    FROM licenses l JOIN purchases p ON p.id = l.purchase_id GROUP BY 2, 3, 4;
INSERT INTO activity_days SELECT 'download', p.workspace_id, substr(l.downloaded_at, 1, 10), p.item_id, 0, count(*)
    FROM download_links l JOIN purchases p ON p.id = l.purchase_id WHERE l.downloaded_at IS NOT NULL GROUP BY 2, 3, 4;

CREATE TRIGGER licenses_issued AFTER INSERT ON licenses BEGIN
    INSERT INTO activity_days SELECT 'license', workspace_id, substr(new.issued_at, 1, 10), item_id, 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER download_links_used AFTER UPDATE OF downloaded_at ON download_links WHEN old.downloaded_at IS NULL AND new.downloaded_at IS NOT NULL BEGIN
    INSERT INTO activity_days SELECT 'download', workspace_id, substr(new.downloaded_at, 1, 10), item_id, 0, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT DO UPDATE SET count = count + 1;
END;
