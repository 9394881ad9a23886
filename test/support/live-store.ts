import { randomUUID } from 'node:crypto'
import {
  type BlobServiceClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { accountUrl, parseAddress, type StoreAddress } from '../../src/store/address.ts'
import { openContainer } from '../../src/store/azure/client.ts'
import { type AzureCredential, credentialFor } from '../../src/store/azure/credential.ts'
import { type AzureBlobOptions, openAzureBlobStore } from '../../src/store/azure/store.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { sharedAzurite } from './azurite.ts'
import type { Target } from './messages.ts'

type BlobAddress = StoreAddress & { kind: 'azure' | 'azurite' }

/** `LEASECTL_LIVE_STORE`: an account on which facts, contract and matrix run instead of Azurite. */
export const LIVE_STORE = process.env.LEASECTL_LIVE_STORE

/** The reason why a report has no result for a live account. */
export const NOT_LIVE = 'LEASECTL_LIVE_STORE names none'

const HOUR_MS = 3_600_000

/** The account that tests run on: the emulator of this run, or the one that `LEASECTL_LIVE_STORE` names. */
export interface TestAccount {
  /** It is Azurite, whose answers differ from the service in a few cases. */
  readonly isEmulator: boolean
  service(): Promise<BlobServiceClient>
  /** A unique name for a container. */
  newContainer(): string
  open(container: string, options?: Partial<AzureBlobOptions>): Promise<StreamStore>
  /** For clients of the service's own kit. */
  direct(container: string): Promise<{ address: BlobAddress; credential: AzureCredential }>
  /** For a proxy in front of the account. */
  readonly target: Target
  /** A container over a proxy at a port: with a SAS, because a signature by key would not allow its address. */
  over(port: number, container: string): Promise<{ address: BlobAddress; credential: AzureCredential }>
}

export async function testAccount(): Promise<TestAccount> {
  const address = await addressOfAccount()
  const credential = credentialFor(address, LIVE_STORE === undefined ? {} : process.env)
  const url = accountUrl(address)
  const account = address.kind === 'azure' ? address.account : 'devstoreaccount1'
  const service = async () => (await openContainer(url, address.container, credential)).service()
  return {
    isEmulator: address.kind === 'azurite',
    service,
    newContainer: () => `${address.container.slice(0, 40)}-${randomUUID().slice(0, 18)}`,
    open: (container, options) => openAzureBlobStore({ ...options, address: { ...address, container }, credential }),
    direct: async container => ({ address: { ...address, container }, credential }),
    target: { url: new URL(url), account },
    over: async (port, container) => ({
      address: { kind: 'azure', endpoint: `http://127.0.0.1:${port}/${account}`, account, container },
      credential: await sasFor(account, container, credential, service),
    }),
  }
}

async function addressOfAccount(): Promise<BlobAddress> {
  if (LIVE_STORE === undefined) {
    const { port } = await sharedAzurite()
    return { kind: 'azurite', host: '127.0.0.1', port, container: 'trust' }
  }
  const address = parseAddress(LIVE_STORE)
  if (address.kind === 'azure' || address.kind === 'azurite') return address
  throw new Error(`LEASECTL_LIVE_STORE is no blob store: ${LIVE_STORE}`)
}

/** Removes containers, including those that were never created. */
export async function removeContainers(account: TestAccount, containers: Iterable<string>): Promise<void> {
  const service = await account.service()
  for (const container of containers) await service.getContainerClient(container).deleteIfExists()
}

async function sasFor(
  account: string,
  containerName: string,
  credential: AzureCredential,
  service: () => Promise<BlobServiceClient>,
): Promise<AzureCredential> {
  if (credential.kind === 'sas') return credential
  const startsOn = new Date(Date.now() - HOUR_MS / 4)
  const expiresOn = new Date(Date.now() + HOUR_MS)
  const values = { containerName, permissions: ContainerSASPermissions.parse('racwdl'), startsOn, expiresOn }
  const query =
    credential.kind === 'key'
      ? generateBlobSASQueryParameters(values, new StorageSharedKeyCredential(account, credential.key))
      : generateBlobSASQueryParameters(
          values,
          await (await service()).getUserDelegationKey(startsOn, expiresOn),
          account,
        )
  return { kind: 'sas', token: query.toString(), expiresMs: expiresOn.getTime() }
}
