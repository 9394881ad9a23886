/** A longer text is not read. */
export const MAX_READ_BYTES = 32 * 1024 * 1024

/** A document with more events is not read. */
export const MAX_READ_EVENTS = 40_000

/** How deep elements may be nested; the document element is at depth 1. */
export const MAX_DEPTH = 64

/** A tag with more attributes is not read: the parser takes the longer for each, the more there are. */
export const MAX_ATTRIBUTES = 1_000

/** What lets a stream grow is refused beyond this: every heartbeat rewrites the whole document. */
export const MAX_WRITTEN_BYTES = 8 * 1024 * 1024

/** What lets a stream grow is refused beyond this many events. Half the reading limit, so that ending stays possible. */
export const MAX_WRITTEN_EVENTS = 20_000
