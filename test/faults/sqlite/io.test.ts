import { join } from 'node:path'
import { expect, it } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized } from '../../guarantees/size.ts'
import type { IoOptions, IoRun } from './disk/child-io.ts'
import { type Disk, openDisk, shortFolder } from './disk/disk.ts'
import { startScript } from './disk/script.ts'

const FILE = 'test/faults/sqlite/io.test.ts'
const row = trustRow('sqlite')

/** Runs the scenario in a process of its own, once for each call that fails. */
async function runs(disk: Disk, options: IoOptions): Promise<readonly IoRun[]> {
  const folder = join(shortFolder(), 'disk')
  const found: IoRun[] = []
  const { ended } = startScript('child-io.ts', [folder, JSON.stringify(options)], {
    environment: disk.environment(folder),
    onLine: line => found.push(JSON.parse(line)),
  })
  const code = await ended
  if (code !== 0) throw new Error(`the scenario ended with ${code}`)
  return found
}

const faultsIn = (all: readonly IoRun[]): string[] =>
  all.flatMap(({ errno, first, times, kinds, faults }) =>
    faults.map(fault => `${errno} at call ${first} of "${kinds}", ${times === 0 ? 'all' : times} of them: ${fault}`),
  )

const once = (kinds: string) => ({ times: 1, kinds, every: 1 })
/** All calls until the disk is repaired. */
const allOf = (kinds: string) => ({ times: 0, kinds, every: sized(13, 1) })
const MORE = sized([], ['r', 'u', 'wrstu'])
const longer = (kinds: string) => [2, 5].map(times => ({ times, kinds, every: 1 }))

/** A sync on a full disk is an error of the disk to SQLite. */
const FAILINGS = {
  EIO: [once('wst'), allOf('wst'), ...MORE.flatMap(kinds => [once(kinds), ...longer(kinds), allOf(kinds)])],
  ENOSPC: [once('wt'), allOf('wt'), ...sized([], ['wst']).flatMap(kinds => [once(kinds), ...longer(kinds)])],
} as const

it.each(['EIO', 'ENOSPC'] as const)(
  'the store reports %s of each write, sync and truncation, loses nothing and continues',
  { timeout: sized(240_000, 1_800_000) },
  async errno => {
    const disk = openDisk()
    if ('why' in disk) return row.skipped(`${errno} at each call`, disk.why)
    const all = await runs(disk, { failings: FAILINGS[errno].map(failing => ({ ...failing, errno })) })
    expect(faultsIn(all), repeatWith(FILE, 0)).toEqual([])
    const injected = all.reduce((sum, run) => sum + run.injected, 0)
    expect(injected).toBeGreaterThanOrEqual(all.length)
    row.figure('injected I/O errors', injected)
    row.figure('acknowledged changes lost', 0, '0')
    row.injected(errno, injected)
  },
)

it('the test would detect failures reported as success', { timeout: 120_000 }, async () => {
  const disk = openDisk()
  if ('why' in disk) return row.skipped('what failed is reported as done', disk.why)
  const failing = { errno: 'EIO', times: 1, kinds: 'wst', every: 17 } as const
  const faults = faultsIn(await runs(disk, { failings: [failing], lies: true }))
  expect(faults.filter(fault => fault.includes('lost: '))).not.toEqual([])
  row.control('what failed is reported as done', true)
})
