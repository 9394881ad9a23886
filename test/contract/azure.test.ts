import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { describeStoreContract } from './store-contract.ts'

describeStoreContract('Azure Blob on Azurite', {
  open: async () => openAzuriteStore((await sharedAzurite()).port),
  features: { leaseEnds: false, utf8Order: false, changeMarks: false },
})
