import { NotPermitted, StoreUnreachable } from '../../src/store/errors.ts'
import type { StoreFacts } from '../../src/store/facts.ts'
import type { LeaseView, StreamRow, StreamSnapshot, StreamStore } from '../../src/store/store.ts'
import { listing, storeWith } from '../unit/commands/store-with.ts'
import { run } from '../unit/ops/support.ts'

/** A store that other programs write to: the metadata beside their documents are invalid. */
export function unsummarized(store: StreamStore): StreamStore {
  const without = <Row extends StreamRow>({ summary, ...row }: Row) =>
    ['odd', 'empty', 'bad', 'e', 'settle'].includes(row.name) || summary === undefined ? row : { ...row, summary }
  return storeWith(store, {
    ...listing(store, without),
    read: async (name, signal) => {
      const stored = await store.read(name, signal)
      return stored && without(stored)
    },
  })
}

/** A stream that is gone from the second read on. */
export function vanishing(store: StreamStore): StreamStore {
  let looks = 0
  return storeWith(store, {
    async *list(query) {
      if (looks++ > 0) await store.remove('open', {})
      yield* store.list(query)
    },
  })
}

/** An unexpected error of a driver. */
export function buggy(store: StreamStore): StreamStore {
  return storeWith(store, {
    list() {
      throw new TypeError('nobody foresaw this')
    },
  })
}

/** Returns this answer for changes. */
export function answering(store: StreamStore, kind: 'unknown' | 'lost'): StreamStore {
  const outcome = kind === 'unknown' ? { kind, cause: new Error('socket closed') } : { kind, code: 'LeaseLost' }
  return storeWith(store, { update: async () => outcome })
}

/** Another write between the inspection and the change. */
export function overtaken(store: StreamStore): StreamStore {
  let first = true
  return storeWith(store, {
    async update(name, decide, options) {
      if (first) {
        first = false
        await run(store, name, { op: 'set', event: '00', attributes: { tag: 'x' } })
      }
      return store.update(name, decide, options)
    },
  })
}

/** A store that does not answer. */
export function away(store: StreamStore): StreamStore {
  const fail = async () => {
    throw new StoreUnreachable('no route to the store', { hint: 'Is the network up?' })
  }
  // biome-ignore lint/correctness/useYield: it fails before its first page
  const list = async function* () {
    await fail()
  }
  return storeWith(store, { list, read: fail, update: fail, create: fail })
}

/** Some permissions are missing. */
export function readOnly(store: StreamStore): StreamStore {
  const refuse = async () => {
    throw new NotPermitted('the right to write is missing', { hint: 'Ask for it.' })
  }
  return storeWith(store, { create: refuse, update: refuse })
}

/** Leases with an unknown holder, as the service returns them. */
export function strangersLease(store: StreamStore, state: LeaseView): StreamStore {
  const withLease = <Row extends Pick<StreamSnapshot, 'lease'>>(row: Row): Row => ({ ...row, lease: state })
  return storeWith(store, {
    ...listing(store, withLease),
    read: async (name, signal) => {
      const stored = await store.read(name, signal)
      return stored && withLease(stored)
    },
  })
}

/** The facts of other kinds of stores. */
export function elsewhere(store: StreamStore, facts: StoreFacts): StreamStore {
  return storeWith(store, { inspect: async () => facts })
}

export const SQLITE: StoreFacts = {
  kind: 'sqlite',
  address: 'sqlite:/srv/leasectl.db',
  unknown: { network: 'known on Linux only' },
  path: '/srv/leasectl.db',
  exists: true,
  creatable: true,
  sqliteVersion: '3.51.0',
  mayWrite: true,
  size: 4096,
  walSize: 0,
  names: 1,
  mode: 0o644,
  freeBytes: 1e9,
  network: '',
  journalMode: 'wal',
  synchronous: 'full',
  schemaVersion: 2,
  faults: ['row 3 is missing from an index'],
}

export const AZURE: StoreFacts = {
  kind: 'azure',
  address: 'azure:acct/box',
  unknown: {},
  emulator: false,
  container: 'box',
  auth: { kind: 'sas', expiresMs: Date.UTC(2026, 2, 2), permissions: 'rlw' },
  latencyMs: 12.5,
  clockAheadMs: -4_000,
  serviceVersion: '2025-11-05',
  accountKind: 'StorageV2',
  sku: 'Standard_LRS',
  hierarchicalNamespace: false,
  softDeleteDays: 7,
  versioning: true,
  publicAccess: 'none',
  immutabilityPolicy: false,
  legalHold: false,
  containerLease: 'available',
}

export const AZURE_KEY: StoreFacts = { ...AZURE, auth: { kind: 'key' } }
export const AZURE_ENTRA: StoreFacts = { ...AZURE, auth: { kind: 'entra', source: 'the Azure CLI' } }
