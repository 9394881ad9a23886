/** The fields of a stream in `ls -o json`, in their order there. */
export const LISTING_FIELDS = [
  'name',
  'status',
  'version',
  'root',
  'created',
  'key',
  'topic',
  'tag',
  'trackingId',
  'outcome',
  'open',
  'failed',
  'total',
  'due',
  'waitingOn',
  'failedAt',
  'failedId',
  'failure',
  'lastBy',
  'lease',
  'modified',
  'error',
] as const

export type ListingField = (typeof LISTING_FIELDS)[number]

/** What `--fields` takes: `age` is the column of the table for `created`, which it is in JSON. */
export const LISTING_CHOICES = [...LISTING_FIELDS, 'age'] as const

export type ListingChoice = (typeof LISTING_CHOICES)[number]
