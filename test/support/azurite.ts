import { randomUUID } from 'node:crypto'
import { expect, inject } from 'vitest'
import type { StoreAddress } from '../../src/store/address.ts'
import { parseConnectionString } from '../../src/store/azure/account.ts'
import { type AzureBlobOptions, openAzureBlobStore } from '../../src/store/azure/store.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { ACCOUNT, type Azurite, connectionStringAt } from './azurite-process.ts'

export { type Azurite, connectionStringAt, startAzurite } from './azurite-process.ts'

/** The port for a test file, by its path: it uses one emulator. */
const ports = new Map<string, Promise<number>>()

/** The emulator that many test files of a run share; it starts on the first request. */
export async function sharedAzurite(): Promise<Omit<Azurite, 'stop'>> {
  const { testPath = '' } = expect.getState()
  const asked = ports.get(testPath) ?? askedFor()
  ports.set(testPath, asked)
  const port = await asked
  return { port, url: `http://127.0.0.1:${port}/${ACCOUNT}`, connectionString: connectionStringAt(port) }
}

async function askedFor(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${inject('azuriteControlPort')}`)
  return Number(await response.text())
}

/** A store in a fresh container of the emulator behind a port, or in an existing one. */
export async function openAzuriteStore(
  port: number,
  options: Partial<Omit<AzureBlobOptions, 'address' | 'credential'>> & { container?: string } = {},
): Promise<StreamStore & { container: string }> {
  const { container = `t${randomUUID()}`, ...rest } = options
  const address: StoreAddress = { kind: 'azurite', host: '127.0.0.1', port, container }
  const { credential } = parseConnectionString(connectionStringAt(port))
  if (credential === undefined) throw new Error('no key')
  const store = await openAzureBlobStore({ address, credential, ...rest })
  if (options.container === undefined) await store.createContainer()
  return Object.assign(store, { container })
}
