import { openMemoryStore } from '../../src/store/memory.ts'
import { describeStoreContract } from './store-contract.ts'

let nowMs = 1_700_000_000_000

describeStoreContract('memory', {
  open: async () => openMemoryStore({ clock: () => nowMs }),
  advance: async ms => {
    nowMs += ms
  },
  features: { leaseEnds: true, utf8Order: true, changeMarks: true },
})
