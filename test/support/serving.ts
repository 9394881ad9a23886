import { createInbox, type Inbox, partitionLog } from '../../src/inbox/inbox.ts'
import { parsePointer, parseRecord } from '../../src/inbox/record.ts'
import { openRegions } from '../../src/inbox/regions/open.ts'
import { type InboxStores, ServedInboxes, type StoreObserver } from '../../src/inbox/serve/served-inboxes.ts'
import { InboxServer, type ServeLimits, type ServeObserver } from '../../src/inbox/serve/server.ts'
import type { BearerTokens } from '../../src/inbox/serve/tokens.ts'
import { InboxWriter } from '../../src/inbox/writer.ts'
import { LOG_START } from '../../src/store/block-log.ts'
import type { StreamStore } from '../../src/store/store.ts'

/** A server of the inbox `orders`. */
export interface Serving {
  readonly server: InboxServer
  readonly served: ServedInboxes
  readonly port: number
  readonly url: string
  readonly inbox: Inbox
  /** Ids of the records in the inbox, sorted. */
  ids(): Promise<string[]>
}

export interface ServingOptions {
  readonly tokens?: BearerTokens
  /** The store of a second region. */
  readonly also?: StreamStore
  readonly limits?: ServeLimits
  readonly observer?: Partial<ServeObserver & StoreObserver>
}

export async function startServing(store: StreamStore, options: ServingOptions = {}): Promise<Serving> {
  const outcome = await createInbox(store, 'orders', 4, { by: 'test' })
  if (!('inbox' in outcome)) throw new Error(outcome.kind)
  const { inbox } = outcome
  const { also } = options
  const none = () => {}
  const observer = { answered: none, outage: none, recovered: none, gone: none, back: none, ...options.observer }
  const open = (each: Inbox) => new InboxWriter(store, each, { lingerMs: 1 })
  const writer = also === undefined ? open(inbox) : await bothRegions(store, also)
  const stores: InboxStores = also === undefined ? [store] : [store, also]
  const served = new ServedInboxes(stores, [{ inbox, writer }], { open, observer })
  const well = () => ({ ok: true, reasons: ['well'] })
  const metrics = () => ({ contentType: 'text/plain', text: async () => 'a 1\n' })
  const server = new InboxServer({
    address: { host: '127.0.0.1', port: 0 },
    inboxes: served,
    fields: { id: parsePointer('/id'), key: parsePointer('/key') },
    ...(options.tokens && { tokens: options.tokens }),
    ...(options.limits && { limits: options.limits }),
    probes: { livez: well, readyz: well, metrics },
    observer,
  })
  const { address } = await server.listen()
  const port = Number(address.split(':')[1])
  return { server, served, port, inbox, url: `http://${address}/inboxes/orders`, ids: () => idsIn(store, inbox) }
}

async function bothRegions(store: StreamStore, also: StreamStore) {
  await createInbox(also, 'orders', 4, { by: 'test' })
  const opened = await openRegions([store, also], 'orders', { preferMs: 1_000, lingerMs: 1 })
  if (opened.kind !== 'opened') throw new Error(opened.kind)
  return opened.writer
}

/** Ids of the records of an inbox, sorted, each as often as it is there. */
export async function idsIn(store: StreamStore, inbox: Inbox): Promise<string[]> {
  const found: string[] = []
  for (let number = 0; number < inbox.partitions; number++) {
    const { bytes } = await partitionLog(store, inbox, number).read(LOG_START, Number.MAX_SAFE_INTEGER)
    const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
    found.push(...lines.map(line => parseRecord(line).id))
  }
  return found.sort()
}
