/** The JSON fields of a stream in `ls -o json`, in order. */
export const LISTING_FIELDS = [
  'name',
  'status',
  'state',
  'suspended',
  'version',
  'root',
  'created',
  'key',
  'topic',
  'tag',
  'trackingId',
  'outcome',
  'open',
  'done',
  'failed',
  'canceled',
  'total',
  'due',
  'waitingOn',
  'wakes',
  'waiting',
  'readySince',
  'abandoned',
  'running',
  'failedAt',
  'failedId',
  'failedName',
  'failure',
  'acknowledged',
  'lastBy',
  'lease',
  'modified',
  'error',
] as const

export type ListingField = (typeof LISTING_FIELDS)[number]

/** Values of `--fields`: `age` is the table's column for `created`, its JSON name. */
export const LISTING_CHOICES = [...LISTING_FIELDS, 'age'] as const

export type ListingChoice = (typeof LISTING_CHOICES)[number]
