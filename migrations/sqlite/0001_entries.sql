-- What a host keeps, in one SQLite file.
--
-- The space comes first in the key of every table that holds something of a
-- space. `space` is the number this file gave it (spaces.space), which stands
-- for the 32 bytes of its id. Collections, accounts and notes are numbered
-- within their space. What the protocol hashes is kept as its bytes. Times are
-- milliseconds since 1970 by this database's clock; ids are the 32 bytes of
-- their digests.

-- Who may write which shard.
CREATE TABLE leases (
    shard    INTEGER PRIMARY KEY,
    -- NULL once it was given back.
    holder   BLOB CHECK (length(holder) = 16),
    term     INTEGER NOT NULL,
    runs_out INTEGER NOT NULL
) STRICT;

CREATE TABLE host_facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Every space ever carried.
CREATE TABLE spaces (
    space            INTEGER PRIMARY KEY,
    id               BLOB    NOT NULL UNIQUE CHECK (length(id) = 32),
    shard            INTEGER NOT NULL,
    carried          INTEGER NOT NULL CHECK (carried IN (0, 1)),
    constitution     BLOB    NOT NULL,
    -- The current read key's DID; NULL in a public space.
    read_key         TEXT,
    revision         INTEGER NOT NULL,
    -- Sums over the space's versions, moved by the commits that move them.
    bytes            INTEGER NOT NULL DEFAULT 0,
    versions         INTEGER NOT NULL DEFAULT 0,
    -- `since` of the space's first row in to_segment; NULL where it has none.
    to_segment_since INTEGER
) STRICT;

CREATE INDEX spaces_to_segment ON spaces (shard, to_segment_since, space)
    WHERE carried = 1 AND to_segment_since IS NOT NULL;

-- Collections with at least one version, with count and sum of their ids.
CREATE TABLE collections (
    space      INTEGER NOT NULL REFERENCES spaces,
    collection INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    items      INTEGER NOT NULL,
    sum        BLOB    NOT NULL CHECK (length(sum) = 32),
    PRIMARY KEY (space, collection),
    UNIQUE (space, name)
) STRICT, WITHOUT ROWID;

-- Runs of neighbouring items of a collection, with count and sum.
CREATE TABLE runs (
    space      INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    -- Timestamp (8 bytes, big-endian) and id of the least item: sorts as items do.
    first      BLOB    NOT NULL CHECK (length(first) = 40),
    items      INTEGER NOT NULL,
    sum        BLOB    NOT NULL CHECK (length(sum) = 32),
    PRIMARY KEY (space, collection, first),
    FOREIGN KEY (space, collection) REFERENCES collections
) STRICT, WITHOUT ROWID;

-- Accounts that versions speak for, once per space.
CREATE TABLE accounts (
    space   INTEGER NOT NULL REFERENCES spaces,
    account INTEGER NOT NULL,
    did     TEXT    NOT NULL,
    PRIMARY KEY (space, account),
    UNIQUE (space, did)
) STRICT, WITHOUT ROWID;

-- Notes in `proof`, once per space. A version keeps its note for as long as it
-- is kept, a stub too, and versions are never deleted one by one: so a note in
-- use stays in use, and goes with its space.
CREATE TABLE notes (
    space  INTEGER NOT NULL REFERENCES spaces,
    note   INTEGER NOT NULL,
    sha256 BLOB    NOT NULL CHECK (length(sha256) = 32),
    bytes  BLOB    NOT NULL,
    PRIMARY KEY (space, note),
    UNIQUE (space, sha256)
) STRICT;

-- Versions, whole or as stubs.
CREATE TABLE versions (
    -- The row's place in this file, in the order of writing, so that rows land at the
    -- end and other tables can name one in a few bytes. The key is (space, id).
    no         INTEGER PRIMARY KEY,
    space      INTEGER NOT NULL REFERENCES spaces,
    id         BLOB    NOT NULL CHECK (length(id) = 32),
    collection INTEGER NOT NULL,
    timestamp  INTEGER NOT NULL CHECK (timestamp >= 0),
    key        TEXT    NOT NULL,
    seq        INTEGER NOT NULL CHECK (seq >= 0),
    genesis    BLOB    CHECK (length(genesis) = 32),
    account    INTEGER NOT NULL,
    retain     INTEGER NOT NULL CHECK (retain IN (0, 1)),
    deleted    INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    note       INTEGER,
    envelope   BLOB    NOT NULL,
    -- NULL in a stub, and in most deletes.
    body       BLOB,
    UNIQUE (space, id),
    FOREIGN KEY (space, collection) REFERENCES collections,
    FOREIGN KEY (space, account) REFERENCES accounts,
    FOREIGN KEY (space, note) REFERENCES notes
) STRICT;

-- The items of a collection in sync's order.
CREATE UNIQUE INDEX versions_by_item ON versions (space, collection, timestamp, id);

-- The heads of records.
CREATE TABLE records (
    space   INTEGER NOT NULL REFERENCES spaces,
    key     TEXT    NOT NULL,
    current INTEGER NOT NULL REFERENCES versions,
    first   INTEGER REFERENCES versions,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
