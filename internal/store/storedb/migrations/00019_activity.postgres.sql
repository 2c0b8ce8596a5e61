-- Licenses that were issued and files that buyers downloaded, counted by day (in UTC) and item.
-- Triggers count, so that whatever writes them counts, in its transaction.
CREATE TABLE activity_days (
    kind         text COLLATE "C" NOT NULL, -- license or download
    workspace_id bigint NOT NULL,
    day          text COLLATE "C" NOT NULL,
    item_id      bigint NOT NULL,
    part         bigint NOT NULL, -- so that concurrent transactions seldom wait for each other
    count        bigint NOT NULL,
    PRIMARY KEY (kind, workspace_id, day, item_id, part)
);

INSERT INTO activity_days SELECT 'license', p.workspace_id, left(l.issued_at, 10), p.item_id, 0, count(*)
    FROM licenses l JOIN purchases p ON p.id = l.purchase_id GROUP BY 2, 3, 4;
INSERT INTO activity_days SELECT 'download', p.workspace_id, left(l.downloaded_at, 10), p.item_id, 0, count(*)
    FROM download_links l JOIN purchases p ON p.id = l.purchase_id WHERE l.downloaded_at IS NOT NULL GROUP BY 2, 3, 4;

-- Rows are written in one order by all, or each of two could wait for the other.
CREATE FUNCTION countersign_count_licenses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO activity_days AS a
        SELECT 'license', p.workspace_id, left(l.issued_at, 10), p.item_id, pg_backend_pid() % 16, count(*)
        FROM issued l JOIN purchases p ON p.id = l.purchase_id GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
        ON CONFLICT (kind, workspace_id, day, item_id, part) DO UPDATE SET count = a.count + excluded.count;
    RETURN NULL;
END
$$;
CREATE FUNCTION countersign_count_download() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO activity_days AS a
        SELECT 'download', workspace_id, left(new.downloaded_at, 10), item_id, pg_backend_pid() % 16, 1 FROM purchases WHERE id = new.purchase_id
        ON CONFLICT (kind, workspace_id, day, item_id, part) DO UPDATE SET count = a.count + excluded.count;
    RETURN NULL;
END
$$;

CREATE TRIGGER licenses_issued AFTER INSERT ON licenses REFERENCING NEW TABLE AS issued
    FOR EACH STATEMENT EXECUTE FUNCTION countersign_count_licenses();
CREATE TRIGGER download_links_used AFTER UPDATE ON download_links
    FOR EACH ROW WHEN (old.downloaded_at IS NULL AND new.downloaded_at IS NOT NULL) EXECUTE FUNCTION countersign_count_download();
