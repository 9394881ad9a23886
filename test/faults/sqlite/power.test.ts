import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { seededRandom } from '../../support/faults.ts'
import type { WriterOptions } from './disk/child-writer.ts'
import { type Disk, openDisk, shortFolder } from './disk/disk.ts'
import { CachedDisk, LOSSES, type Loss } from './disk/power.ts'
import { type Entry, readRecord } from './disk/record.ts'
import { startScript } from './disk/script.ts'
import { faultsOf } from './judgement.ts'

const FILE = 'test/faults/sqlite/power.test.ts'
const seed = trustSeed(4_117)
const row = trustRow('sqlite')

const WORKLOADS = sized(1, 40)
const CUTS = sized(250, 50_000)
const CHANGES = sized(24, 60)

/** Runs writers side by side on one file and returns their calls to the disk, in order. */
async function recorded(disk: Disk, writers: readonly WriterOptions[]): Promise<Recorded> {
  const root = join(shortFolder(), 'disk')
  mkdirSync(root)
  const log = join(root, '..', 'record')
  const store = join(root, 'new', 'streams.db')
  const environment = disk.environment(root, log)
  const ended = writers.map(
    options => startScript('child-writer.ts', ['change', store, JSON.stringify(options)], { environment }).ended,
  )
  for (const code of await Promise.all(ended)) if (code !== 0) throw new Error(`a writer ended with ${code}`)
  return { root, entries: readRecord(log) }
}

interface Recorded {
  readonly root: string
  readonly entries: readonly Entry[]
}

interface Found {
  readonly cuts: number
  /** Changes that were acknowledged before a cut, over all cuts. */
  readonly expected: number
  readonly lost: readonly string[]
}

/** Cuts the power after calls chosen by `random`, about `cuts` times, and judges the result each time. */
async function afterCuts({ root, entries }: Recorded, cuts: number, random: () => number, losses: readonly Loss[]) {
  const disk = new CachedDisk(root, random)
  const acknowledged: string[] = []
  const found = { cuts: 0, expected: 0, lost: [] as string[] }
  const image = shortFolder()
  const share = cuts / entries.length
  for (const [at, entry] of entries.entries()) {
    disk.apply(entry)
    if (entry.kind === 'A' && !entry.path.startsWith('injected=')) acknowledged.push(entry.path)
    for (let left = share; left > 0; left -= 1) {
      if (left < 1 && random() > left) continue
      const loss = losses[Math.floor(random() * losses.length)] ?? 'some'
      rmSync(image, { recursive: true, force: true })
      mkdirSync(image)
      disk.cut(image, loss)
      found.cuts += 1
      found.expected += acknowledged.length
      const faults = await faultsOf(join(image, 'new', 'streams.db'), { acknowledged })
      found.lost.push(...faults.map(fault => `behind call ${at} (${entry.kind}), ${loss}: ${fault}`))
    }
  }
  return found satisfies Found
}

it('every acknowledged change survives a power cut after any call', {
  timeout: sized(240_000, 7_200_000),
}, async ctx => {
  const disk = openDisk()
  if ('why' in disk) {
    row.skipped('power cuts behind any call', disk.why)
    return ctx.skip(disk.why)
  }
  const random = seededRandom(seed)
  const total = { cuts: 0, expected: 0, failedSyncs: 0, lost: [] as string[] }
  for (let workload = 0; workload < WORKLOADS; workload += 1) {
    const common = { count: CHANGES, checkpointPages: 4 + (workload % 5) * 8 }
    const record = await recorded(disk, [
      { ...common, who: 'a' },
      { ...common, who: 'b', failedSyncEvery: 5 },
    ])
    const found = await afterCuts(record, CUTS / WORKLOADS, random, LOSSES)
    total.cuts += found.cuts
    total.expected += found.expected
    total.failedSyncs += record.entries.filter(({ kind }) => kind === 'F').length
    total.lost.push(...found.lost)
  }
  expect(total.lost, repeatWith(FILE, seed)).toEqual([])
  expect(total.expected).toBeGreaterThan(CUTS)
  expect(total.failedSyncs).toBeGreaterThan(0)
  row.figure('power cuts', total.cuts)
  row.figure('acknowledged changes lost', 0, '0')
  row.injected('power cuts', total.cuts)
  row.injected('failed syncs before a power cut', total.failedSyncs)
})

const UNSAFE = [
  ['with synchronous OFF', { synchronous: 'OFF' }, () => true],
  ['with synchronous NORMAL', { synchronous: 'NORMAL' }, () => true],
  ['if the name of a new folder were not synced', {}, ({ kind, path }, root) => kind !== 'S' || path !== root],
] as const satisfies readonly Unsafe[]

type Unsafe = readonly [string, Partial<WriterOptions>, (entry: Entry, root: string) => boolean]

it.each<Unsafe>(UNSAFE)('the test would detect losses %s', { timeout: 60_000 }, async (how, options, isSeen) => {
  const disk = openDisk()
  if ('why' in disk) return row.skipped(`power cuts ${how}`, disk.why)
  const { root, entries } = await recorded(disk, [{ who: 'a', count: 12, ...options }])
  const record = { root, entries: entries.filter(entry => isSeen(entry, root)) }
  const { lost } = await afterCuts(record, 20, seededRandom(seed), ['everything'])
  expect(lost.filter(fault => fault.includes('lost: '))).not.toEqual([])
  row.control(`power cut ${how}`, true)
})
