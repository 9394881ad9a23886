import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { programFolder, warmStart } from '../../e2e/program.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized } from '../../guarantees/size.ts'
import { connectionStringAt, openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { ON_AZURE, ON_SQLITE, type Point } from './points.ts'
import { type Played, played, type Scene } from './scene.ts'
import type { WorkerProcess } from './worker-process.ts'

/**
 * Workers that are paused for longer than their lease (15 s, the shortest there is) and their claim, while another takes
 * over their event. All wait in parallel.
 */

const FILE = 'test/faults/pauses/pauses.test.ts'
/** A claim is shorter than the lease, so that only the lease is waited for; the first heartbeat is after a third, ms. */
const CLAIM_MS = { azure: 8_000, sqlite: 6_000 } as const
const ROUNDS = sized(1, 20)
const TIMEOUT_MS = 120_000 * ROUNDS

const trust = trustRow('paused')
const workers: WorkerProcess[] = []
const figures = { points: 0, staleWrites: 0, late: 0 }
let program = ''
let folder = ''
let azure: StreamStore & { readonly container: string }
let azuritePort = 0
let sqlite: StreamStore

beforeAll(async () => {
  program = await programFolder()
  folder = mkdtempSync(join(tmpdir(), 'leasectl-pauses-'))
  azuritePort = (await sharedAzurite()).port
  azure = await openAzuriteStore(azuritePort)
  sqlite = await openStore(`sqlite:${join(folder, 'a.db')}`, {})
})

afterAll(async () => {
  for (const worker of workers) worker.kill()
  await Promise.all([azure.close(), sqlite.close()])
  rmSync(folder, { recursive: true, force: true })
  if (figures.points === 0) return
  const all = (ON_AZURE.length + ON_SQLITE.length) * ROUNDS
  trust.figure('points', `${figures.points} of ${all}`, `${ON_AZURE.length} on Azurite, ${ON_SQLITE.length} on SQLite`)
  trust.figure('stale writes accepted', figures.staleWrites, '0')
  trust.injected('SIGSTOP beyond lease and claim', figures.points)
  trust.injected('requests held back until it was stopped', figures.late)
})

const canStop = process.platform === 'linux'
if (!canStop) trust.skipped('stopped processes', 'whether one is stopped is seen in /proc')

/** Workers without a protection, paused where it would have been effective. */
const UNCONDITIONAL: Point = { name: 'before the Put, which has no conditions', stopsAt: 'decided' }
const UNFENCED: Point = { name: 'between two heartbeats, before an end without its fence', stopsAt: 'work' }

/** All points in parallel, more than tests run in parallel. */
const plays = new Map<Point, Promise<readonly Played[]>>()
beforeAll(() => {
  if (!canStop) return
  for (const point of ON_AZURE)
    plays.set(
      point,
      inRounds(() => playedOnAzure(point)),
    )
  for (const point of ON_SQLITE)
    plays.set(
      point,
      inRounds(() => playedOnSqlite(point)),
    )
  const withoutConditions = { ...sceneIn(azure, CLAIM_MS.sqlite), without: 'conditions' } as const
  const withoutFence = { ...sceneIn(sqlite, CLAIM_MS.sqlite), without: 'fence' } as const
  plays.set(
    UNCONDITIONAL,
    inRounds(() => played(UNCONDITIONAL, withoutConditions)),
  )
  plays.set(
    UNFENCED,
    inRounds(() => played(UNFENCED, withoutFence)),
  )
  for (const play of plays.values()) play.catch(() => {})
})

describe.runIf(canStop)('a worker that was paused while another acts', () => {
  test.each(ON_AZURE)('on Azurite: $name', { timeout: TIMEOUT_MS }, expectHarmless)
  test.each(ON_SQLITE)('on SQLite: $name', { timeout: TIMEOUT_MS }, expectHarmless)
})

describe.runIf(canStop)('the test detects', () => {
  test('that a Put without conditions overwrites the work of another', { timeout: TIMEOUT_MS }, async () => {
    const { complaints, staleWrites } = await playOf(UNCONDITIONAL)
    expect(staleWrites).toBeGreaterThan(0)
    expect(complaints.join('\n')).toMatch(/take-01.00 was version 3 and is lost/)
    trust.control('a Put without If-Match and lease id', complaints.length > 0)
  })

  test('that a result without a fence is accepted if another has the event', { timeout: TIMEOUT_MS }, async () => {
    const { complaints, staleWrites } = await playOf(UNFENCED)
    expect(staleWrites).toBeGreaterThan(0)
    trust.control('an end by the name of its owner alone', complaints.length > 0)
  })
})

async function playOf(point: Point): Promise<Played> {
  const [play] = (await plays.get(point)) ?? []
  if (play === undefined) throw new Error(`${point.name} was not played`)
  return play
}

async function expectHarmless(point: Point): Promise<void> {
  for (const { staleWrites, complaints, told } of (await plays.get(point)) ?? []) {
    figures.points += 1
    figures.staleWrites += staleWrites
    expect(complaints, `${JSON.stringify(told)}; ${repeatWith(FILE, 1, point.name)}`).toEqual([])
    // A worker that lost its event reports that, or was rejected because of its fence; nothing else is possible.
    if (told.kind === 'unreported') expect(['fenced', 'already-final']).toContain(told.code)
    else expect(['lost', 'reported']).toContain(told.kind)
  }
}

async function inRounds(play: () => Promise<Played>): Promise<readonly Played[]> {
  const rounds: Played[] = []
  while (rounds.length < ROUNDS) rounds.push(await play())
  return rounds
}

async function playedOnAzure(point: Point) {
  const proxy = await startFaultProxy({ target: { port: azuritePort } })
  const address = `azurite://127.0.0.1:${proxy.port}/${azure.container}`
  try {
    const outcome = await played(point, { ...sceneIn(azure, CLAIM_MS.azure), address, proxy })
    if (point.request !== undefined) expect(proxy.injected).toHaveLength(1)
    figures.late += proxy.injected.length
    return outcome
  } finally {
    await proxy.stop()
  }
}

function playedOnSqlite(point: Point) {
  return played(point, sceneIn(sqlite, CLAIM_MS.sqlite))
}

function sceneIn(store: StreamStore, claimMs: number): Scene {
  const library = join(program, 'dist', 'index.js')
  const env = { AZURE_STORAGE_CONNECTION_STRING: connectionStringAt(azuritePort), ...warmStart(program) }
  return { store, address: store.address, claimMs, library, env, started: worker => workers.push(worker) }
}
