-- What the hosts of a deployment keep, in one Postgres database.
--
-- The space comes first in the key of every table that holds something of a
-- space, so that a distributed Postgres can split them by it. `space` is the
-- number this database gave it (spaces.space), which stands for the 32 bytes of
-- its id. Versions, collections, accounts and notes are numbered within their
-- space. What the protocol hashes is kept as its bytes, never as json, which
-- loses them. Texts compare by their bytes (COLLATE "C"), so that no index
-- depends on a locale that a system's update changes. Times are this database's.
--
-- No foreign keys: each would cost a look-up for every row written. Whoever
-- writes has locked the space's row, and takes the numbers it writes from what
-- it has read since.

-- How this database is divided. One row, written by the first migration.
CREATE TABLE deployment (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- A space's shard is its id's first 8 bytes, as a big-endian number, modulo this.
    shards integer NOT NULL CHECK (shards > 0)
);

-- Who may write which shard.
CREATE TABLE leases (
    shard    integer     PRIMARY KEY,
    -- NULL once it was given back.
    holder   bytea       CHECK (octet_length(holder) = 16),
    term     bigint      NOT NULL,
    runs_out timestamptz NOT NULL
);

CREATE TABLE host_facts (
    name  text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);

-- Every space ever carried.
CREATE TABLE spaces (
    space            bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Sums over the space's versions, moved by the commits that move them.
    bytes            bigint  NOT NULL DEFAULT 0,
    versions         bigint  NOT NULL DEFAULT 0,
    revision         bigint  NOT NULL,
    -- The last numbers given within the space.
    last_version     bigint  NOT NULL DEFAULT 0,
    last_collection  integer NOT NULL DEFAULT 0,
    last_account     integer NOT NULL DEFAULT 0,
    last_note        integer NOT NULL DEFAULT 0,
    shard            integer NOT NULL,
    -- `since` of the space's first row in to_segment; NULL where it has none.
    to_segment_since timestamptz,
    carried          boolean NOT NULL,
    id               bytea   NOT NULL UNIQUE CHECK (octet_length(id) = 32),
    -- The current read key's DID; NULL in a public space.
    read_key         text COLLATE "C"
)
-- Every commit writes the row anew, and finds room for that on its page.
WITH (fillfactor = 50);

CREATE INDEX spaces_to_segment ON spaces (shard, to_segment_since, space)
    WHERE carried AND to_segment_since IS NOT NULL;

-- Apart from `spaces`, so that no commit writes them anew.
CREATE TABLE constitutions (
    space bigint PRIMARY KEY,
    bytes bytea  NOT NULL
);

-- Collections with at least one version, with count and sum of their ids.
CREATE TABLE collections (
    space      bigint  NOT NULL,
    items      bigint  NOT NULL,
    collection integer NOT NULL,
    sum        bytea   NOT NULL CHECK (octet_length(sum) = 32),
    name       text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, collection),
    UNIQUE (space, name)
) WITH (fillfactor = 70);

-- Runs of neighbouring items of a collection, with count and sum.
CREATE TABLE runs (
    space      bigint  NOT NULL,
    items      bigint  NOT NULL,
    collection integer NOT NULL,
    -- Timestamp (8 bytes, big-endian) and id of the least item: sorts as items do.
    first      bytea   NOT NULL CHECK (octet_length(first) = 40),
    sum        bytea   NOT NULL CHECK (octet_length(sum) = 32),
    PRIMARY KEY (space, collection, first)
) WITH (fillfactor = 70);

-- Accounts that versions speak for, once per space.
CREATE TABLE accounts (
    space   bigint  NOT NULL,
    account integer NOT NULL,
    did     text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, account),
    UNIQUE (space, did)
);

-- Notes in `proof`, once per space. A version keeps its note for as long as it
-- is kept, a stub too, and versions are never deleted one by one: so a note in
-- use stays in use, and goes with its space.
CREATE TABLE notes (
    space  bigint  NOT NULL,
    note   integer NOT NULL,
    sha256 bytea   NOT NULL CHECK (octet_length(sha256) = 32),
    bytes  bytea   NOT NULL,
    PRIMARY KEY (space, note),
    UNIQUE (space, sha256)
);

-- Versions, whole or as stubs.
CREATE TABLE versions (
    space      bigint  NOT NULL,
    -- Its place in the order of writing within the space, by which other tables
    -- name it in a few bytes.
    no         bigint  NOT NULL,
    timestamp  bigint  NOT NULL CHECK (timestamp >= 0),
    seq        bigint  NOT NULL CHECK (seq >= 0),
    collection integer NOT NULL,
    account    integer NOT NULL,
    note       integer,
    retain     boolean NOT NULL,
    deleted    boolean NOT NULL,
    id         bytea   NOT NULL CHECK (octet_length(id) = 32),
    genesis    bytea   CHECK (octet_length(genesis) = 32),
    key        text COLLATE "C" NOT NULL,
    envelope   bytea   NOT NULL,
    -- NULL in a stub, and in most deletes.
    body       bytea,
    PRIMARY KEY (space, no),
    UNIQUE (space, id)
);

-- The items of a collection in sync's order.
CREATE UNIQUE INDEX versions_by_item ON versions (space, collection, timestamp, id);

-- The heads of records: versions by their `no`.
CREATE TABLE records (
    space   bigint NOT NULL,
    current bigint NOT NULL,
    first   bigint,
    key     text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, key)
) WITH (fillfactor = 80);
