import { afterAll } from 'vitest'
import { accountUrl } from '../../src/store/address.ts'
import { openContainer } from '../../src/store/azure/client.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { trustRow } from '../guarantees/record.ts'
import { LIVE_STORE, NOT_LIVE, removeContainers, testAccount } from '../support/live-store.ts'
import { given } from './harness.ts'
import { describeStoreContract } from './store-contract.ts'

/** How much longer than the lease others may have to wait on the service. Azurite is exact. */
const LATE_MS = 60_000

const account = await testAccount()
const made: string[] = []
const containers = new Map<StreamStore, string>()

if (LIVE_STORE === undefined) trustRow('ambiguity').skipped('the contract on a live account', NOT_LIVE)

describeStoreContract(`Azure Blob on ${LIVE_STORE ?? 'Azurite'}`, {
  open: async () => {
    const container = account.newContainer()
    made.push(container)
    const store = await account.open(container)
    await store.createContainer()
    containers.set(store, container)
    return store
  },
  plant: async (store, name) => {
    const { credential, address } = await account.direct(containers.get(store) ?? '')
    const { client, oddBlob } = await openContainer(accountUrl(address), address.container, credential)
    await given(store, 'planted', 'planted', { dueMs: 1 })
    const { metadata = {} } = await client.getBlobClient('planted').getProperties()
    await oddBlob(name).upload('planted', 7, { metadata })
    await client.getBlobClient('planted').delete()
  },
  ...(account.isEmulator ? {} : { lateMs: LATE_MS }),
  features: { leaseEnds: false, utf8Order: false, changeMarks: false },
})

afterAll(() => removeContainers(account, LIVE_STORE === undefined ? [] : made))
