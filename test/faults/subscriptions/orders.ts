import type { AzuritePlace } from '../load/crew-orders.ts'

/** The task of a child process. */
export interface SubscriberOrders {
  readonly group: string
  readonly shards: number
  readonly intervalMs: number
  /** The file to which it writes each delivery. */
  readonly log: string
  readonly place: { readonly kind: 'sqlite'; readonly file: string } | ({ readonly kind: 'azurite' } & AzuritePlace)
}
