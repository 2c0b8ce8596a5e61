-- Lists of purchases by item, and of those that are not active, newest first.
CREATE INDEX purchases_by_item ON purchases (item_id, sold_at, code_digest);
CREATE INDEX purchases_ended ON purchases (workspace_id, state, sold_at, code_digest) WHERE state <> 'active';
