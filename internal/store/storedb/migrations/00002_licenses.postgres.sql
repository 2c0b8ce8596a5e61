-- What an item's purchases may be licensed for; every member is written.
ALTER TABLE items ADD COLUMN licensing text NOT NULL
    DEFAULT '{"regular_domains":1,"extended_domains":1,"moves_a_year":3,"move_wait_hours":24,"wildcard":false,"staging_hosts":[]}';

-- A purchase's license for a domain. The digest is the purchase's; a new key
-- file changes both. Nothing refers to the purchase by a foreign key, because
-- that would look here for each of a million purchases that get a new digest.
CREATE TABLE licenses (
    id          text COLLATE "C" PRIMARY KEY,
    code_digest bigint NOT NULL,
    domain      text COLLATE "C" NOT NULL,
    wildcard    boolean NOT NULL, -- hosts one level below the domain, too
    free        boolean NOT NULL, -- a test domain, which does not count
    issued_at   text COLLATE "C" NOT NULL,
    ended       text NOT NULL,    -- '' while it is good: moved, given_up, replaced, revoked
    ended_at    text
);

CREATE UNIQUE INDEX licenses_in_use ON licenses (code_digest, domain) WHERE ended = '';
CREATE INDEX licenses_of_purchase ON licenses (code_digest, issued_at, id);
CREATE INDEX licenses_by_date ON licenses (issued_at, id);

-- The keys that sign licenses. sealed is the private one; a key without it, or
-- retired, only checks licenses that it has signed.
CREATE TABLE license_keys (
    id         text COLLATE "C" PRIMARY KEY,
    public     bytea NOT NULL UNIQUE,
    sealed     bytea,
    created_at text COLLATE "C" NOT NULL,
    retired_at text
);

CREATE UNIQUE INDEX license_keys_current ON license_keys ((retired_at IS NULL)) WHERE retired_at IS NULL AND sealed IS NOT NULL;
