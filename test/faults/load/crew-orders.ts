import { parseConnectionString } from '../../../src/store/azure/account.ts'
import type { RequestTimeouts } from '../../../src/store/azure/requests.ts'
import { openAzureBlobStore } from '../../../src/store/azure/store.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { connectionStringAt } from '../../support/azurite-process.ts'
import type { OpenChange } from './load.ts'

/** Where the store is. */
export interface AzuritePlace {
  readonly port: number
  readonly container: string
  readonly limits?: RequestTimeouts
}

/** The task of a child process. */
export interface ChildOrders extends AzuritePlace {
  readonly who: string
  readonly workers: number
  /** Of its history. */
  readonly path: string
  readonly seed: number
  readonly streams: readonly string[]
  readonly shortLived: readonly string[]
  readonly open: readonly OpenChange[]
}

/** Short, so that a missing answer costs little; long enough for a slow machine. */
export const LIMITS: RequestTimeouts = { leaseMs: 1_000, bodyMs: 1_000, pageMs: 1_000 }

/** A store in a container of an emulator, from any process. */
export function openAzurite({ port, container, limits = LIMITS }: AzuritePlace): Promise<StreamStore> {
  const { credential } = parseConnectionString(connectionStringAt(port))
  if (credential === undefined) throw new Error('no key')
  return openAzureBlobStore({ address: { kind: 'azurite', host: '127.0.0.1', port, container }, credential, limits })
}
