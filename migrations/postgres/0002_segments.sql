-- What of a space is in the bucket, and what isn't yet. `version` is versions.no.

-- Versions that no segment holds as they are now.
CREATE TABLE to_segment (
    space   bigint      NOT NULL,
    version bigint      NOT NULL,
    since   timestamptz NOT NULL,
    -- Changed while it waited here. A segment made before the change may still be
    -- on its way to the bucket, so the next one recorded for it only takes this mark
    -- off, and the one after that takes the row away.
    again   boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (space, version)
);

-- Versions whose body was dropped. A segment may still carry it: rewriting the
-- space's segments finds here what to look for, and takes the rows away.
CREATE TABLE dropped_bodies (
    space   bigint      NOT NULL,
    version bigint      NOT NULL,
    since   timestamptz NOT NULL,
    PRIMARY KEY (space, version)
);

-- The hosts' store writers: one per space and term.
CREATE TABLE store_writers (
    space        bigint  NOT NULL,
    term         bigint  NOT NULL,
    last_counter bigint  NOT NULL DEFAULT 0,
    announced    boolean NOT NULL DEFAULT false,
    writer       bytea   NOT NULL CHECK (octet_length(writer) = 16),
    PRIMARY KEY (space, term),
    UNIQUE (space, writer)
);

-- Segments in the bucket.
CREATE TABLE segments (
    space    bigint NOT NULL,
    counter  bigint NOT NULL,
    bytes    bigint NOT NULL,
    writer   bytea  NOT NULL CHECK (octet_length(writer) = 16),
    name     text COLLATE "C" NOT NULL,
    -- The ids of its versions in its order, 32 bytes each, end to end.
    versions bytea  NOT NULL CHECK (octet_length(versions) % 32 = 0),
    PRIMARY KEY (space, writer, counter)
);
