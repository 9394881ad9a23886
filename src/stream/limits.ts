/** Longer texts are refused on reading. */
export const MAX_READ_BYTES = 32 * 1024 * 1024

/** Documents with more events are refused on reading. */
export const MAX_READ_EVENTS = 40_000

/** Maximum depth of elements; the document element is at depth 1. */
export const MAX_DEPTH = 64

/** Maximum number of foreign attributes of the document element and of each event, on reading. */
export const MAX_FOREIGN_ATTRIBUTES = 1_000

/**
 * Maximum number of attributes of any tag: the parser takes more time per attribute, the more a tag has. The limit
 * leaves room for the attributes that we add to the foreign ones, so that a document that was read can be written and
 * read again.
 */
export const MAX_ATTRIBUTES = MAX_FOREIGN_ATTRIBUTES + 100

/** Operations that let a stream grow are refused beyond this size: every heartbeat rewrites the whole document. */
export const MAX_WRITTEN_BYTES = 8 * 1024 * 1024

/**
 * Operations that let a stream grow are refused beyond this number of events: half the reading limit, so that ending
 * events stays possible.
 */
export const MAX_WRITTEN_EVENTS = 20_000
