import { afterAll } from 'vitest'
import { LIVE_STORE, NOT_LIVE, removeContainers, testAccount } from '../support/live-store.ts'
import { trustRow } from '../trust/record.ts'
import { describeStoreContract } from './store-contract.ts'

/** After a lease has ended others may have to wait so much longer on the service. Azurite is exact. */
const LATE_MS = 60_000

const account = await testAccount()
const made: string[] = []

if (LIVE_STORE === undefined) trustRow('ambiguity').skipped('the contract on a live account', NOT_LIVE)

describeStoreContract(`Azure Blob on ${LIVE_STORE ?? 'Azurite'}`, {
  open: async () => {
    const container = account.newContainer()
    made.push(container)
    const store = await account.open(container)
    await store.createContainer()
    return store
  },
  ...(account.isEmulator ? {} : { lateMs: LATE_MS }),
  features: { leaseEnds: false, utf8Order: false, changeMarks: false },
})

afterAll(() => removeContainers(account, LIVE_STORE === undefined ? [] : made))
