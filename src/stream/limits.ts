/** A longer text is not read. */
export const MAX_READ_BYTES = 32 * 1024 * 1024

/** A document with more events is not read. */
export const MAX_READ_EVENTS = 40_000

/** How deep elements may be nested; the document element is at depth 1. */
export const MAX_DEPTH = 64

/** The document element and an event are not read with more attributes that are not ours. */
export const MAX_FOREIGN_ATTRIBUTES = 1_000

/**
 * No tag is read with more attributes of any kind: the parser takes the longer for each, the more there are. On top of
 * the foreign ones there is room for all that we may add, so that what is read can be written and read again.
 */
export const MAX_ATTRIBUTES = MAX_FOREIGN_ATTRIBUTES + 100

/** What lets a stream grow is refused beyond this: every heartbeat rewrites the whole document. */
export const MAX_WRITTEN_BYTES = 8 * 1024 * 1024

/** What lets a stream grow is refused beyond this many events. Half the reading limit, so that ending stays possible. */
export const MAX_WRITTEN_EVENTS = 20_000
