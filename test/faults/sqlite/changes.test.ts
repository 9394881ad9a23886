import { join } from 'node:path'
import { expect, it } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized } from '../../guarantees/size.ts'
import type { ChangesOptions, ChangesRun } from './disk/child-changes.ts'
import { type Disk, openDisk, shortFolder } from './disk/disk.ts'
import { startScript } from './disk/script.ts'

const FILE = 'test/faults/sqlite/changes.test.ts'
const row = trustRow('sqlite')

/** Makes the changes in a process of their own, once for each call that fails. */
async function runs(disk: Disk, options: ChangesOptions): Promise<readonly ChangesRun[]> {
  const folder = join(shortFolder(), 'disk')
  const found: ChangesRun[] = []
  const { ended } = startScript('child-changes.ts', [folder, JSON.stringify(options)], {
    environment: disk.environment(folder),
    onLine: line => found.push(JSON.parse(line)),
  })
  const code = await ended
  if (code !== 0) throw new Error(`the changes ended with ${code}`)
  return found
}

const faultsIn = (all: readonly ChangesRun[]): string[] =>
  all.flatMap(({ errno, first, times, kinds, faults }) =>
    faults.map(fault => `${errno} at call ${first} of "${kinds}", ${times === 0 ? 'all' : times} of them: ${fault}`),
  )

let orphans = 0

it.each([
  ['EIO', 1, 'wst'],
  ['EIO', 6, 'wst'],
  ['ENOSPC', 3, 'wt'],
] as const)(
  'each change of a process is made once in spite of %s for %i calls, and its data is there or an orphan that doctor finds',
  { timeout: sized(240_000, 1_800_000) },
  async (errno, times, kinds) => {
    const disk = openDisk()
    if ('why' in disk) return row.skipped(`${errno} at each call of a process`, disk.why)
    const all = await runs(disk, { failing: { errno, times, kinds, every: sized(11, 1) } })
    expect(faultsIn(all), repeatWith(FILE, 0)).toEqual([])
    const injected = all.reduce((sum, run) => sum + run.injected, 0)
    expect(injected).toBeGreaterThanOrEqual(all.length)
    orphans += all.reduce((sum, run) => sum + run.orphans, 0)
    row.injected(`${errno} in the changes of processes`, injected)
  },
)

it('some of these changes wrote their data and failed', () => {
  if ('why' in openDisk()) return
  expect(orphans).toBeGreaterThan(0)
})

it('the test would detect a document that names data that is gone', { timeout: 120_000 }, async () => {
  const disk = openDisk()
  if ('why' in disk) return row.skipped('data is lost', disk.why)
  const failing = { errno: 'EIO', times: 1, kinds: 'wst', every: 50 } as const
  const faults = faultsIn(await runs(disk, { failing, losesData: true }))
  expect(faults.filter(fault => fault.includes('data-missing'))).not.toEqual([])
  row.control('data is lost', true)
})
