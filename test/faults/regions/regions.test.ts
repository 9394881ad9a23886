import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { createInbox, type Inbox } from '../../../src/inbox/inbox.ts'
import { partitionStates, totalLag } from '../../../src/inbox/lag.ts'
import { InboxTail } from '../../../src/inbox/tail.ts'
import { openStore } from '../../../src/store/open.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { workLoop } from '../../../src/worker/loop.ts'
import { newUser, type Running, type User } from '../../e2e/program.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { openAzuriteStore } from '../../support/azurite.ts'
import { type RestartableAzurite, startRestartable } from '../../support/azurite-process.ts'
import { Gate } from './gate.ts'

const row = trustRow('regions')
const CARS = 25
/** Each round cuts the network of the put to each region, and kills the service of each. */
const ROUNDS = sized(1, 100)
/** The emulators write their indexes at this interval: what they have confirmed since, they forget when they are killed. */
const SAVES_MS = sized(250, 5_000)
/** By then what was fed has been put, and the next save has it. */
const SETTLES_MS = 500
const WAIT = { timeout: 60_000, interval: 50 }
const RECORDS_A_SECOND = sized(10, 100)
const PARTITIONS = 4
const LIMIT = { timeout: sized(300_000, 6 * 3_600_000) }

interface Region {
  readonly emulator: RestartableAzurite
  readonly container: string
  /** Between the put and the emulator. */
  readonly putGate: Gate
  /** Between the drain and the emulator. */
  readonly drainGate: Gate
  readonly addressBehind: (gate: Gate) => string
}

let user: User | undefined
let regions: readonly Region[] = []
afterEach(async () => {
  user?.leave()
  for (const { putGate, drainGate, emulator } of regions) {
    putGate.close()
    drainGate.close()
    await emulator.stop()
  }
  regions = []
})

async function startRegion(): Promise<Region> {
  const emulator = await startRestartable(SAVES_MS)
  const [putGate, drainGate] = [await new Gate(emulator.port).listen(), await new Gate(emulator.port).listen()]
  const store = await openAzuriteStore(emulator.port)
  expect((await createInbox(store, 'moves', PARTITIONS, { by: 'test' })).kind).toBe('created')
  await store.close()
  const { container } = store
  const addressBehind = ({ port }: Gate) => `azurite://127.0.0.1:${port}/${container}`
  return { emulator, container, putGate, drainGate, addressBehind }
}

/** The service is killed, and starts again with what it has on disk once the put has noticed. */
async function outageOf(region: Region, put: Running, pace: Pace): Promise<void> {
  const { emulator, putGate, drainGate } = region
  await emulator.kill()
  pace.isPaused = false
  await expect.poll(() => isAway(region, put), WAIT).toBe(true)
  await emulator.restart()
  for (const gate of [putGate, drainGate]) gate.target = emulator.port
}

test(
  'every acknowledged record is one step, in order, though networks are cut and the service of each region is killed',
  LIMIT,
  async () => {
    user = await newUser()
    regions = await Promise.all([startRegion(), startRegion()])
    const [east, west] = regions
    if (east === undefined || west === undefined) throw new Error('two regions')
    const journal = `sqlite:${join(user.home, 'journal.db')}`
    const store = await openStore(journal, {})
    await store.createContainer()
    const operator = user
    const put = operator.start([
      'inbox',
      'put',
      'moves',
      '--id-field',
      '/id',
      '--key-field',
      '/car',
      '--seq-field',
      '/n',
      '-o',
      'json',
      '--store',
      east.addressBehind(east.putGate),
      '--also',
      west.addressBehind(west.putGate),
      '--prefer',
      '1s',
    ])
    const startDrain = ({ drainGate, addressBehind }: Region) =>
      operator.start(
        ['inbox', 'drain', 'moves', '--store', journal, '--inbox-store', addressBehind(drainGate)].concat(
          '--append Move --name cars/{/key}'.split(' '),
        ),
      )
    const drains = regions.map(startDrain)
    const pace = { isPaused: false, isOver: false }
    const feeding = feed(put, pace)
    for (let round = 0; round < ROUNDS; round++) {
      for (const region of regions) {
        region.putGate.cut()
        await expect.poll(() => isAway(region, put), WAIT).toBe(true)
        region.putGate.mend()
        await bothWell(put)
      }
      // The drain of the first dies with its region, that of the second does not.
      for (const [at, region] of regions.entries()) {
        // A record of one region alone must not be forgotten by it, nor one that a drain has read: it would stop there.
        pace.isPaused = true
        await sleep(SETTLES_MS)
        await Promise.all(regions.map(({ emulator }) => emulator.saved()))
        if (at === 0) drains[at]?.process.kill('SIGKILL')
        await outageOf(region, put, pace)
        if (at === 0) drains[at] = startDrain(region)
        await bothWell(put)
      }
    }
    pace.isOver = true
    const records = await feeding
    const { code, stdout, stderr } = await put.ended
    expect(code, stderr).toBe(0)
    const said = JSON.parse(stdout) as { put: number; regions: { only: number }[] }
    expect(said).toMatchObject({ put: records, rejected: 0, isComplete: true })
    // The faults reached the put: each region missed records, told as often as it went away.
    expect(
      said.regions.every(({ only }) => only > 0),
      stdout + stderr,
    ).toBe(true)
    for (const region of regions) expect(stderr).toContain(`${region.addressBehind(region.putGate)} is away`)

    const inbox: Inbox = { name: 'moves', partitions: PARTITIONS, createdMs: 0, by: '' }
    const stores = await Promise.all(
      regions.map(({ emulator, container }) => openAzuriteStore(emulator.port, { container })),
    )
    await expect.poll(() => waiting(stores, inbox), { timeout: 150_000, interval: 250 }).toEqual([0, 0])
    for (const drain of drains) drain.process.kill('SIGTERM')
    const ended = await Promise.all(drains.map(drain => drain.ended))
    expect(ended.map(drain => drain.code)).toEqual([0, 0])

    const found = await Promise.all(stores.map(store => idsIn(store, inbox)))
    const lost = new Set(allIds(records)).difference(found[0]?.union(found[1] ?? new Set()) ?? new Set())
    expect([...lost]).toEqual([])
    const { miscounted, disordered } = await judge(store, records)
    expect({ miscounted, disordered }).toEqual({ miscounted: [], disordered: [] })
    row.figure('cuts and outages', 4 * ROUNDS)
    row.figure('records lost, doubled or out of order', lost.size + miscounted.length + disordered.length, '0')
    row.injected(
      'connections cut',
      regions.reduce((sum, { putGate, drainGate }) => sum + putGate.cuts + drainGate.cuts, 0),
    )
    for (const one of [store, ...stores]) await one.close()
  },
)

/** The put has said that a region is away, and not yet that it takes records again. */
function isAway({ putGate, addressBehind }: Region, { said }: Running): boolean {
  const tellings = (what: string) => said.stderr.split(`${addressBehind(putGate)} ${what}`).length
  return tellings('is away') > tellings('takes records again')
}

/** Each region that was away is used again. */
async function bothWell(put: Running): Promise<void> {
  await expect.poll(() => regions.some(region => isAway(region, put)), WAIT).toBe(false)
}

interface Pace {
  isPaused: boolean
  isOver: boolean
}

/** Writes records at an even pace until it is over, and returns their number. */
async function feed({ process: { stdin } }: Running, pace: Pace): Promise<number> {
  let [due, atMs] = [0, performance.now()]
  let records = 0
  while (!pace.isOver) {
    const nowMs = performance.now()
    if (!pace.isPaused) due += ((nowMs - atMs) / 1_000) * RECORDS_A_SECOND
    atMs = nowMs
    for (; records < due; records++) {
      const { car, n } = placeOf(records)
      stdin?.write(`${JSON.stringify({ id: `r${records}`, car, n })}\n`)
    }
    await sleep(20)
  }
  stdin?.end()
  return records
}

function placeOf(record: number) {
  return { car: `c${record % CARS}`, n: Math.floor(record / CARS) + 1 }
}

const allIds = (records: number) => Array.from({ length: records }, (_, record) => `r${record}`)

async function waiting(stores: readonly StreamStore[], inbox: Inbox): Promise<number[]> {
  return Promise.all(
    stores.map(async store => totalLag(await partitionStates(store, inbox, { countedBytes: 1e9 })).records),
  )
}

async function idsIn(store: StreamStore, inbox: Inbox): Promise<Set<string>> {
  const tail = new InboxTail(store, inbox, new AbortController().signal)
  const ids = new Set<string>()
  for (let page = await tail.next(); page.length > 0; page = await tail.next())
    for (const { found } of page) ids.add(found?.record.id ?? '?')
  return ids
}

/** What was worked on in each session, in order. */
type Worked = ReadonlyMap<string, readonly number[]>

/** Works on all steps, and compares with what was put: each once, and those of a car in order. */
async function judge(store: StreamStore, records: number) {
  const worked = new Map<string, number[]>()
  await workLoop(store, { names: ['Move'], owner: 'judge', until: 'until-empty', concurrency: 8 }, job => {
    const { n } = JSON.parse(job.event.input?.text ?? '{}') as { n: number }
    worked.set(job.stream, [...(worked.get(job.stream) ?? []), n])
    return undefined
  })
  return verdict(worked, records)
}

function verdict(worked: Worked, records: number) {
  const [miscounted, disordered]: [string[], string[]] = [[], []]
  for (let car = 0; car < CARS; car++) {
    const name = `cars/c${car}`
    const count = Array.from({ length: records }, (_, record) => record).filter(record => record % CARS === car).length
    const numbers = worked.get(name) ?? []
    if (numbers.length !== count || new Set(numbers).size !== count)
      miscounted.push(`${name}: ${numbers.length} steps of ${count} records: ${numbers}`)
    if (numbers.some((n, at) => n <= (numbers[at - 1] ?? 0))) disordered.push(`${name}: ${numbers}`)
  }
  return { miscounted, disordered }
}

test('the verdict sees a record that is lost, one that is there twice, and a session out of order', () => {
  const given = (numbers: readonly number[]) => {
    const sessions = Array.from(
      { length: CARS },
      (_, car) => [`cars/c${car}`, car === 3 ? numbers : [1, 2, 3]] as const,
    )
    const { miscounted, disordered } = verdict(new Map(sessions), 3 * CARS)
    return [miscounted.length, disordered.length]
  }
  const seen = [given([1, 2, 3]), given([1, 2]), given([1, 2, 2, 3]), given([1, 3, 2])]
  row.control(
    'a record is lost, doubled, or out of order',
    seen.slice(1).every(counts => counts.some(count => count > 0)),
  )
  expect(seen).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ])
})
