-- The page Health counts items without a picture, and an upload adds up the files of its workspace.
-- Neither reads a table.
CREATE INDEX items_without_picture ON items (id) WHERE body LIKE '%"media":{"thumbnail":""%' OR body LIKE '%"preview_image":""%';
CREATE INDEX media_of_workspace ON media (workspace_id, size);
