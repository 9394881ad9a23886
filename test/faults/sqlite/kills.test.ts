import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { seededRandom } from '../../support/faults.ts'
import { inFile } from '../../unit/store/sqlite/support.ts'
import { toVersion1 } from '../../unit/store/sqlite/version-1.ts'
import type { WriterOptions } from './disk/child-writer.ts'
import { type Disk, openDisk, shortFolder } from './disk/disk.ts'
import { startScript } from './disk/script.ts'
import { faultsOf } from './judgement.ts'

const FILE = 'test/faults/sqlite/kills.test.ts'
const seed = trustSeed(9_311)
const row = trustRow('sqlite')

/** Rounds of each kind; two writers are killed in each. */
const ROUNDS = sized(3, 130)
const AT_CALLS = sized(6, 220)
const FOR_LONG = 1_000_000

type Task = 'change' | 'create'

interface Writer {
  readonly kill: () => void
  /** The ids that it printed. */
  readonly acknowledged: readonly string[]
  readonly ended: Promise<number | string>
}

function start(task: Task, path: string, options: WriterOptions, more: MoreOptions = {}): Writer {
  const acknowledged: string[] = []
  const { process, ended } = startScript('child-writer.ts', [task, path, JSON.stringify(options)], {
    environment: more.environment ?? {},
    onLine: line => {
      acknowledged.push(line)
      more.onLine?.()
    },
  })
  return { kill: () => void process.kill('SIGKILL'), acknowledged, ended }
}

interface MoreOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly onLine?: () => void
}

/** Two writers on one file, both killed at a moment soon after a number of changes. Returns what was acknowledged. */
async function killTwo(task: Task, path: string, options: WriterOptions, random: () => number): Promise<string[]> {
  const writers: Writer[] = []
  let left = 1 + Math.floor(random() * (task === 'create' ? 8 : 40))
  const waitMs = random() * 6
  const kill = () => {
    for (const writer of writers) writer.kill()
  }
  const onLine = () => {
    left -= 1
    if (left === 0) setTimeout(kill, waitMs)
  }
  for (const who of ['a', 'b']) {
    writers.push(start(task, path, { ...options, who: `${options.who}${who}` }, { onLine }))
  }
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual(['SIGKILL', 'SIGKILL'])
  return writers.flatMap(({ acknowledged }) => acknowledged)
}

/** The changes of one file of several, `FILE-NUMBER`, in order: `who-NUMBER` and `who-NUMBER-made`. */
const ofFile = (ids: readonly string[], file: number): string[] => ids.filter(id => id.split('-')[1] === String(file))

/** The errors of all files that writers created or were about to create. */
async function faultsOfSeries(path: string, ids: readonly string[]): Promise<string[]> {
  const faults: string[] = []
  const last = Math.max(0, ...ids.map(id => Number(id.split('-')[1])))
  for (let file = 0; file <= last + 1; file += 1) {
    faults.push(...(await faultsOf(`${path}-${file}`, { acknowledged: ofFile(ids, file) })))
  }
  return faults
}

const KINDS = [
  ['changes are written', 'change', {}],
  ['each change is checkpointed', 'change', { checkpointPages: 1 }],
  ['stores are created', 'create', {}],
] as const

it.each(KINDS)(
  'changes acknowledged by writers that are killed while %s are kept',
  { timeout: sized(240_000, 3_600_000) },
  async (when, task, options) => {
    const random = seededRandom(seed)
    let path = ''
    let acknowledged: string[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      // The next writers continue after the killed ones; a fresh file now and then, because documents grow.
      if (round % 10 === 0 || task === 'create') {
        path = join(shortFolder(), 'new', 'streams.db')
        acknowledged = []
      }
      acknowledged.push(...(await killTwo(task, path, { ...options, who: String(round), count: FOR_LONG }, random)))
      const faults =
        task === 'create' ? await faultsOfSeries(path, acknowledged) : await faultsOf(path, { acknowledged })
      expect(faults, repeatWith(FILE, seed)).toEqual([])
    }
    row.figure('kills', 2 * ROUNDS)
    row.figure('acknowledged changes lost', 0, '0')
    row.injected(`killed while ${when}`, 2 * ROUNDS)
  },
)

/** Kills at each call, in order from the first call of creating or opening a file. */
async function killedAt(disk: Disk, call: number, path = newFile()): Promise<{ path: string; writer: Writer }> {
  const failing = { errno: 'KILL', first: call, times: 1, kinds: 'wstu' } as const
  const options = { who: 'a', count: FOR_LONG, checkpointPages: 4, failing }
  const writer = start('change', path, options, { environment: disk.environment(dirname(path)) })
  expect(await writer.ended).toBe('SIGKILL')
  return { path, writer }
}

const newFile = (): string => join(shortFolder(), 'disk', 'streams.db')

it('changes acknowledged before a kill at any call of a creation or checkpoint are kept', {
  timeout: sized(240_000, 3_600_000),
}, async () => {
  const disk = openDisk()
  if ('why' in disk) return row.skipped('kills at each call', disk.why)
  for (let at = 0; at < AT_CALLS; at += 1) {
    const call = 1 + at * sized(11, 1)
    const { path, writer } = await killedAt(disk, call)
    const faults = await faultsOf(path, writer)
    expect(faults, `killed at call ${call}; ${repeatWith(FILE, seed)}`).toEqual([])
  }
  row.figure('kills', AT_CALLS)
  row.injected('killed at a chosen call', AT_CALLS)
})

it('changes acknowledged before a kill at any call of a migration are kept', {
  timeout: sized(240_000, 3_600_000),
}, async () => {
  const disk = openDisk()
  if ('why' in disk) return row.skipped('killed during a migration', disk.why)
  const older = join(shortFolder(), 'streams.db')
  const old = start('change', older, { who: 'old', count: 12 })
  expect(await old.ended).toBe(0)
  toVersion1(older)
  let [interrupted, migrated] = [0, 0]
  for (let call = 1; migrated === 0; call += sized(2, 1)) {
    const path = join(shortFolder(), 'streams.db')
    copyFileSync(older, path)
    const { writer } = await killedAt(disk, call, path)
    const version = inFile(path, db => db.prepare('PRAGMA user_version').get()?.user_version)
    if (version === 1) interrupted += 1
    else migrated += 1
    const acknowledged = [...old.acknowledged, ...writer.acknowledged]
    expect(await faultsOf(path, { acknowledged }), `killed at call ${call}; ${repeatWith(FILE, seed)}`).toEqual([])
  }
  expect(interrupted).toBeGreaterThan(4)
  row.figure('kills', interrupted + migrated)
  row.injected('killed during a migration', interrupted)
})

it('the test would detect changes reported before their COMMIT', { timeout: 60_000 }, async () => {
  const path = join(shortFolder(), 'streams.db')
  const writer = start('change', path, { who: 'a', count: 1, tooEarly: true })
  expect(await writer.ended).toBe('SIGKILL')
  expect(await faultsOf(path, writer)).toEqual(['lost: a-0'])
  row.control('reported before the COMMIT', true)
})
