-- What of a space is in the bucket, and what isn't yet.

-- Versions that no segment holds as they are now.
CREATE TABLE to_segment (
    space   INTEGER NOT NULL REFERENCES spaces,
    version INTEGER NOT NULL REFERENCES versions,
    since   INTEGER NOT NULL,
    -- 1: changed while it waited here. A segment made before the change may still be
    -- on its way to the bucket, so the next one recorded for it only takes this mark
    -- off, and the one after that takes the row away.
    again   INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),
    PRIMARY KEY (space, version)
) STRICT, WITHOUT ROWID;

-- Versions whose body was dropped. A segment may still carry it: rewriting the
-- space's segments finds here what to look for, and takes the rows away.
CREATE TABLE dropped_bodies (
    space   INTEGER NOT NULL REFERENCES spaces,
    version INTEGER NOT NULL REFERENCES versions,
    since   INTEGER NOT NULL,
    PRIMARY KEY (space, version)
) STRICT, WITHOUT ROWID;

-- This host's store writers: one per space and term.
CREATE TABLE store_writers (
    space        INTEGER NOT NULL REFERENCES spaces,
    term         INTEGER NOT NULL,
    writer       BLOB    NOT NULL CHECK (length(writer) = 16),
    last_counter INTEGER NOT NULL DEFAULT 0,
    announced    INTEGER NOT NULL DEFAULT 0 CHECK (announced IN (0, 1)),
    PRIMARY KEY (space, term),
    UNIQUE (space, writer)
) STRICT, WITHOUT ROWID;

-- Segments in the bucket.
CREATE TABLE segments (
    space    INTEGER NOT NULL REFERENCES spaces,
    writer   BLOB    NOT NULL CHECK (length(writer) = 16),
    counter  INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    bytes    INTEGER NOT NULL,
    -- The ids of its versions in its order, 32 bytes each, end to end.
    versions BLOB    NOT NULL CHECK (length(versions) % 32 = 0),
    PRIMARY KEY (space, writer, counter)
) STRICT;
