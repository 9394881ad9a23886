import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { streamFindings } from '../../src/ops/doctor/stream.ts'
import { readStream, viewOf } from '../../src/ops/read-stream.ts'
import { transact } from '../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../src/store/store.ts'
import type { Operation } from '../../src/stream/operations/operation.ts'
import { changeOptions, type StoreHarness, stored, withStore } from './harness.ts'

const START = { op: 'start', event: '01.00', claimMs: 60_000 } as const

async function run(store: StreamStore, operation: Operation) {
  return transact(store, 'a', operation, { commandId: randomUUID(), by: 'ada', leaseWaitMs: 10_000 })
}

async function fenceOf(store: StreamStore, owner: string): Promise<number> {
  const outcome = await run(store, { ...START, owner })
  if (outcome.kind !== 'done') throw new Error(`start: ${JSON.stringify(outcome)}`)
  return outcome.result.claim?.fence ?? 0
}

/** Claimed with fence 2 and ended; then the copy from between is restored, beside the metadata of the latest. */
async function putBack(store: StreamStore): Promise<number> {
  const root = { name: 'Start' }
  await run(store, { op: 'init', root, forks: [{ name: 'A' }, { name: 'B' }], hold: false, born: randomUUID() })
  const fence = await fenceOf(store, 'w1')
  const { body } = await stored(store, 'a')
  await run(store, { op: 'complete', event: '01.00', fence })
  await run(store, { op: 'complete', event: '02.00' })
  await store.update(
    'a',
    ({ summary }) => (summary === undefined ? { kind: 'leave' } : { kind: 'put', body, summary }),
    changeOptions(),
  )
  return fence
}

const historyOf = async (store: StreamStore) =>
  (await readStream(store, 'a'))?.transactions().map(({ version, op, provisional }) => ({ version, op, provisional }))

/** The metadata beside a document have the highest version, so that an older copy does not pass for the latest. */
export function describeOlderCopies(harness: StoreHarness): void {
  describe('an older copy of a document of ours', () => {
    it('is returned before it is recorded', () =>
      withStore(harness, async store => {
        await putBack(store)
        expect(await historyOf(store)).toEqual([
          { version: 1, op: 'init', provisional: false },
          { version: 2, op: 'start', provisional: false },
          { version: 2, op: 'foreign', provisional: true },
        ])
        const findings = streamFindings(viewOf(await stored(store, 'a'), store.nowMs()))
        expect(findings).toContainEqual(expect.objectContaining({ code: 'version-back', severity: 'warning' }))
      }))

    it('ends its claims: the earlier holder is rejected, and its fence is never issued again', () =>
      withStore(harness, async store => {
        const fence = await putBack(store)
        const refused = await run(store, { op: 'complete', event: '01.00', fence })
        expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'fenced' } })
        expect(await fenceOf(store, 'w2')).toBe(6)
        expect(await historyOf(store)).toEqual([
          { version: 1, op: 'init', provisional: false },
          { version: 2, op: 'start', provisional: false },
          { version: 5, op: 'foreign', provisional: false },
          { version: 6, op: 'start', provisional: false },
        ])
        const again = await run(store, { op: 'touch', event: '01.00', fence, claimMs: 60_000 })
        expect(again).toMatchObject({ kind: 'refused', refusal: { code: 'fenced' } })
        expect(streamFindings(viewOf(await stored(store, 'a'), store.nowMs())).map(({ code }) => code)).toEqual([])
      }))
  })
}
