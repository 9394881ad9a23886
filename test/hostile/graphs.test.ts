import { expect, test } from 'vitest'
import { cli, newWorld, type World } from '../commands/support.ts'
import { trustRow } from '../trust/record.ts'
import { sized } from '../trust/size.ts'
import { STRANGE_GRAPHS, type StrangeGraph } from './strange-graphs.ts'

const row = trustRow('graphs')

/** What a stream may have at most, and what it may take; a busy machine and a cold program are allowed ten times that. */
const EVENTS = 20_000
const MAX_S = 1
const ALLOWANCE = 10

/** Whatever follows links. The first two at full size always, the others at night. */
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
const SMALL_SIZE = sized(60, 1_000)
const FULL_SIZE = sized(2_000, EVENTS)

async function worldOf({ text }: StrangeGraph, size: number): Promise<World> {
  const other = newWorld()
  await cli(other, ['init', 's'])
  const summary = (await other.store.read('s'))?.summary
  if (summary === undefined) throw new Error('no summary')
  const world = newWorld()
  await world.store.create('s', Buffer.from(text(size)), summary)
  return world
}

interface Took {
  readonly what: string
  readonly exit: number
  readonly stdout: string
  /** Time of the processor. */
  readonly s: number
}

async function take(graph: StrangeGraph, line: string, size: number): Promise<Took> {
  const world = await worldOf(graph, size)
  const start = process.cpuUsage()
  const { exit, stdout } = await cli(world, line.split(' '))
  const { user, system } = process.cpuUsage(start)
  return { what: `${line} on ${graph.what}`, exit, stdout, s: (user + system) / 1e6 }
}

/** 0 done, 5 refused by the state of the stream, 12 what `doctor` ends with where it names errors, 124 still waiting. */
const SURVIVED = [0, 5, 7, 124]

test('each command survives each graph', { timeout: sized(120_000, 600_000) }, async () => {
  const ends: Took[] = []
  for (const graph of STRANGE_GRAPHS) for (const line of LINES) ends.push(await take(graph, line, SMALL_SIZE))
  expect(ends.filter(({ exit }) => !SURVIVED.includes(exit)).map(({ what, exit }) => ({ what, exit }))).toEqual([])
  row.figure('graphs', STRANGE_GRAPHS.length)
  row.injected('commands on strange graphs', ends.length)
})

test('doctor names what is wrong with each', async () => {
  const named = async (graph: StrangeGraph, size = 50) =>
    (await take(graph, 'doctor s -o json', size)).stdout.includes(`"code":"${graph.finding}"`)
  for (const graph of STRANGE_GRAPHS.filter(({ finding }) => finding !== undefined)) {
    expect(await named(graph), `${graph.what}: ${graph.finding}`).toBe(true)
  }
  // without what is wrong it is not named: the judgement can fail
  const straight = STRANGE_GRAPHS.find(({ what }) => what === 'a chain of all')
  if (straight === undefined) throw new Error('no straight graph')
  const codes = new Set(STRANGE_GRAPHS.flatMap(({ finding }) => finding ?? []))
  for (const finding of codes) expect(await named({ ...straight, finding })).toBe(false)
  row.control('a graph with nothing wrong', true)
})

test('as many events as a stream may have take a second or two, however they are linked', {
  timeout: sized(240_000, 900_000),
}, async () => {
  const all: Took[] = []
  for (const graph of STRANGE_GRAPHS) for (const line of FULL) all.push(await take(graph, line, FULL_SIZE))
  const scaled = all.map(({ what, s }) => ({ what, s: (s * EVENTS) / FULL_SIZE }))
  const slowest = scaled.reduce((a, b) => (b.s > a.s ? b : a))
  expect(scaled.filter(({ s }) => s > MAX_S * ALLOWANCE)).toEqual([])
  row.figure('s per 20 000 events', `${slowest.s.toFixed(2)} (${slowest.what})`, `at most ${MAX_S}`)
})

test('a walk that looks for each event from the start does not keep the pace', () => {
  const [graph] = STRANGE_GRAPHS
  const ids = Array.from(graph?.text(EVENTS).matchAll(/ id="(\d+)"/g) ?? [], ([, id]) => id)
  const start = process.cpuUsage()
  let found = 0
  const tookS = () => process.cpuUsage(start).user / 1e6
  const mayTakeS = (MAX_S * FULL_SIZE) / EVENTS
  // each link of each link, as a recursion without memory would
  for (let at = 0; at < ids.length && tookS() <= mayTakeS; at++) found += ids.filter(id => ids.indexOf(id) >= 0).length
  expect(found).toBeGreaterThan(0)
  expect(tookS()).toBeGreaterThan(mayTakeS)
  row.control('a walk of quadratic time', tookS() > mayTakeS)
})
