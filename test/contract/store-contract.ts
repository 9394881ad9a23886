import { describe } from 'vitest'
import { describeChanges } from './contract-changes.ts'
import { describeData } from './contract-data.ts'
import { describeExpiry } from './contract-expiry.ts'
import { describeInspection } from './contract-inspect.ts'
import { describeLeases } from './contract-leases.ts'
import { describeListings } from './contract-listings.ts'
import { describeLogs } from './contract-logs.ts'
import { describeMarks } from './contract-marks.ts'
import { describeNames } from './contract-names.ts'
import { describeOlderCopies } from './contract-older-copies.ts'
import { describeStreams } from './contract-streams.ts'
import type { StoreHarness } from './harness.ts'

/** The rules for every driver of `StreamStore`: one mount per driver, none of them skipped silently. */
export function describeStoreContract(label: string, harness: StoreHarness): void {
  describe(`store contract: ${label}`, () => {
    describeStreams(harness)
    describeListings(harness)
    describeChanges(harness)
    describeData(harness)
    describeLeases(harness)
    describeExpiry(harness)
    describeInspection(harness)
    describeLogs(harness)
    describeMarks(harness)
    describeNames(harness)
    describeOlderCopies(harness)
  })
}
