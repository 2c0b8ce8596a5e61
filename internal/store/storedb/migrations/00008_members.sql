CREATE TABLE members (
    workspace_id bigint NOT NULL REFERENCES workspaces,
    user_id      bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    role         text NOT NULL, -- viewer, manager, owner
    since        text NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);

CREATE INDEX members_of_user ON members (user_id);

CREATE TABLE invitations (
    id           text PRIMARY KEY, -- names it in addresses; not its token
    digest       text NOT NULL UNIQUE,
    workspace_id bigint NOT NULL REFERENCES workspaces,
    role         text NOT NULL,
    email        text NOT NULL, -- for whom it was made; anybody with the link may use it
    invited_by   text NOT NULL,
    created_at   text NOT NULL,
    expires_at   text NOT NULL
);

CREATE INDEX invitations_of_workspace ON invitations (workspace_id);
