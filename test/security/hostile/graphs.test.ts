import { expect, test } from 'vitest'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { storeWith } from '../../unit/commands/store-with.ts'
import { cli, newWorld, type World } from '../../unit/commands/support.ts'
import { pacesOf, processorS, type Race, type Runner, slowestOf, tooSlow } from './pace.ts'
import { STRANGE_GRAPHS, type StrangeGraph } from './strange-graphs.ts'
import { summaryAfter } from './summary-after.ts'

const row = trustRow('graphs')

/** The maximum size of a stream and the maximum time; a busy machine and a cold program are allowed ten times that. */
const EVENTS = 20_000
const MAX_S = 1
const ALLOWANCE = 10

/** All algorithms that follow links. The first two always at full size, the others at night. */
const LINES: readonly string[] = [
  'show s',
  'doctor s -o json',
  'show s -o table',
  'show s -o timeline',
  'show s -o json',
  'show s -o mermaid',
  'show s --select //Event[@id="00"]',
  'log s',
  'tail s -n all',
  'stats s',
  'check --stuck-after 0s',
  'wait s --within 1ms',
  'export s -o chrome',
  'export s -o otlp',
  'retry s --dry-run',
  'cancel s -e 00',
  'abort s',
]
const FULL = sized(LINES.slice(0, 2), LINES)
const SMALL_SIZE = sized(40, 1_000)
/** In CI the time at full size is derived from its growth between two smaller ones. */
const RACE: Race = {
  rounds: sized([[400, 1_600], [EVENTS]], [[EVENTS]]),
  fullSize: EVENTS,
  mayTakeS: MAX_S * ALLOWANCE,
}

let listed: Summary | undefined

async function worldOf({ text }: StrangeGraph, size: number): Promise<World> {
  listed ??= await summaryAfter('init s')
  const world = newWorld()
  await world.store.create('s', Buffer.from(text(size)), listed)
  return world
}

interface Took {
  readonly what: string
  readonly exit: number
  readonly stdout: string
  /** Processor time. */
  readonly s: number
}

/** @param through between the program and the store */
async function take(graph: StrangeGraph, line: string, size: number, through = (store: StreamStore) => store) {
  const world = await worldOf(graph, size)
  const store = through(world.store)
  const start = process.cpuUsage()
  const { exit, stdout } = await cli(world, line.split(' '), { store })
  return { what: `${line} on ${graph.what}`, exit, stdout, s: processorS(start) } satisfies Took
}

/** One command on one graph, of any size. */
function runner(graph: StrangeGraph, line: string, through?: (store: StreamStore) => StreamStore): Runner {
  return { what: `${line} on ${graph.what}`, take: async size => (await take(graph, line, size, through)).s }
}

/** 0 done, 5 refused because of the state of the stream, 12 errors found by `doctor`, 124 still waiting. */
const SURVIVED = [0, 5, 7, 124]

test('each command survives each graph', { timeout: sized(120_000, 600_000) }, async () => {
  const ends: Took[] = []
  for (const graph of STRANGE_GRAPHS) for (const line of LINES) ends.push(await take(graph, line, SMALL_SIZE))
  expect(ends.filter(({ exit }) => !SURVIVED.includes(exit)).map(({ what, exit }) => ({ what, exit }))).toEqual([])
  row.figure('graphs', STRANGE_GRAPHS.length)
  row.injected('commands on strange graphs', ends.length)
})

test('doctor reports the problems of each graph', async () => {
  const named = async (graph: StrangeGraph, size = 50) =>
    (await take(graph, 'doctor s -o json', size)).stdout.includes(`"code":"${graph.finding}"`)
  for (const graph of STRANGE_GRAPHS.filter(({ finding }) => finding !== undefined)) {
    expect(await named(graph), `${graph.what}: ${graph.finding}`).toBe(true)
  }
  // without the problem it is not reported: the check can fail
  const straight = STRANGE_GRAPHS.find(({ what }) => what === 'a chain of all')
  if (straight === undefined) throw new Error('no straight graph')
  const codes = new Set(STRANGE_GRAPHS.flatMap(({ finding }) => finding ?? []))
  for (const finding of codes) expect(await named({ ...straight, finding })).toBe(false)
  row.control('a graph with nothing wrong', true)
})

test('the maximum number of events takes a second or two, however they are linked', {
  timeout: sized(240_000, 900_000),
}, async () => {
  const runners = STRANGE_GRAPHS.flatMap(graph => FULL.map(line => runner(graph, line)))
  // the first ones would be slow because of loading and compiling
  for (const { take } of runners.slice(0, FULL.length)) await take(SMALL_SIZE)
  const paces = await pacesOf(runners, RACE)
  expect(tooSlow(paces, RACE)).toEqual([])
  const { what, s } = slowestOf(paces)
  const how = sized(`${what}; from how smaller ones grow`, what)
  row.figure('s per 20 000 events', `${s.toFixed(2)} (${how})`, `at most ${sized(RACE.mayTakeS, MAX_S)}`)
})

test('the test detects an algorithm that searches the text for each link', {
  timeout: 120_000,
}, async () => {
  const walking = (store: StreamStore) =>
    storeWith(store, {
      read: async (name, signal) => {
        const stored = await store.read(name, signal)
        expect(linksIn(Buffer.from(stored?.body ?? []).toString())).toBeGreaterThan(0)
        return stored
      },
    })
  const chain = STRANGE_GRAPHS.filter(({ what }) => what === 'a chain of all')
  const runners = chain.map(graph => runner(graph, 'show s', walking))
  // compiling would make the smaller size the slower one
  for (const { take } of runners) await take(300)
  // smaller, because at full size it would take minutes
  const sizes = [300, 1_200]
  const race = { ...RACE, rounds: [sizes, sizes] }
  const slow = tooSlow(await pacesOf(runners, race), race)
  expect(slow.map(({ what }) => what)).toEqual(['show s on a chain of all'])
  row.control('a walk of quadratic time', slow.length === 1)
})

/** The number of links, with a search of the whole text for both ends of each. */
function linksIn(text: string): number {
  const events = () =>
    Array.from(text.matchAll(/ id="([^"]*)"[^>]* prev="([^"]*)"/g), ([, id = '', prev = '']) => ({
      id,
      prev: prev.split('|'),
    }))
  const linkedWith = (end: { id: string; prev: readonly string[] }) =>
    events().filter(({ id }) => end.prev.includes(id)).length +
    events().filter(({ prev }) => prev.includes(end.id)).length
  return events().reduce((found, event) => found + linkedWith(event), 0)
}
