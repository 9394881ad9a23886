import { SaxesParser } from 'saxes'
import { describe, expect, it, vi } from 'vitest'
import type { InspectionRules } from '../../../../src/watchdog/plan.ts'
import { KnownStream } from '../../../../src/watchdog/registry/known-stream.ts'
import { StreamRegistry } from '../../../../src/watchdog/registry/registry.ts'
import { type Inspection, inspectStream } from '../../../../src/watchdog/scan/inspect.ts'
import { documentText, type EventText } from '../../../support/stream-builder.ts'
import { HOUR, MINUTE, NEVER_ABORTED, START_MS, World } from '../watch-world.ts'

const ago = (ms: number) => new Date(START_MS - ms).toISOString()
const ROOT: EventText = { id: '00', name: 'Start', status: 'inprocess', created: ago(HOUR), timestamp: ago(HOUR) }
const RULES: InspectionRules = {
  nowMs: START_MS,
  atMs: 0,
  onDue: 'abort-event',
  apartMs: 0,
  epochMs: Number.NEGATIVE_INFINITY,
  gaps: [],
}
const looking = (world: World, stream = new KnownStream('s')) =>
  inspectStream(world.base, new StreamRegistry(), stream, () => RULES, NEVER_ABORTED)
const commandIds = (looked: Inspection | undefined) => looked?.decisions.map(({ commandId }) => commandId)

/** Due events, and a journal in which each was ended with its command id before. */
function endedBefore(count: number): string {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const events = numbers.map(n => ({ id: `e${n}`, status: 'inprocess', prev: '00', timeout: ago(MINUTE) }))
  const entry = (n: number) =>
    `<lc:tx v="${n + 1}" at="${ago(MINUTE)}" by="x" on="00" op="touch" cmd="watchdog:e${n}:1:${ago(MINUTE)}"/>`
  const journal = `<lc:journal xmlns:lc="urn:leasectl:v1">${numbers.map(entry).join('')}</lc:journal>`
  return documentText(ROOT, ...events).replace('</EventStream>', `${journal}</EventStream>`)
}

async function worldOf(text: string): Promise<World> {
  const world = new World()
  await world.put('s', text)
  return world
}

describe('events whose command ids are already in the journal', () => {
  it('are ended with other ids', async () => {
    const looked = await looking(await worldOf(endedBefore(2)))
    const again = `1:${ago(MINUTE)}:v`
    expect(commandIds(looked)).toEqual([
      expect.stringContaining(`watchdog:e0:${again}`),
      expect.stringContaining(`watchdog:e1:${again}`),
    ])
  })

  it('are found in one reading of the journal, however many they are', async () => {
    const parsed = vi.spyOn(SaxesParser.prototype, 'write')
    const parses = async (count: number) => {
      const world = await worldOf(endedBefore(count))
      parsed.mockClear()
      expect(commandIds(await looking(world))).toHaveLength(count)
      return parsed.mock.calls.length
    }
    expect(await parses(20)).toBe(await parses(1))
    parsed.mockRestore()
  })
})

describe('a stream that could not be changed', () => {
  it.each<[string, EventText, number]>([
    ['as long as a decision is pending', { timeout: ago(MINUTE) }, 1],
    ['no longer once none is', {}, 0],
  ])('is remembered as such %s', async (_, event, pass) => {
    const world = await worldOf(documentText(ROOT, { id: '01.00', status: 'inprocess', prev: '00', ...event }))
    const stream = new KnownStream('s')
    stream.failedInPass = 1
    await looking(world, stream)
    expect(stream.failedInPass).toBe(pass)
  })
})

it('an expired limit is found in the millisecond in which the listing brought the stream', async () => {
  const world = await worldOf(
    documentText(ROOT, {
      id: '01.00',
      name: 'A',
      status: 'inprocess',
      prev: '00',
      created: ago(HOUR),
      timestamp: ago(HOUR),
      timeout: '00:05:00',
    }),
  )
  const stream = new KnownStream('s')
  stream.recordRow((await world.base.read('s'))?.etag ?? '', undefined, { nowMs: START_MS, atMs: 7.2 })
  const rules = { ...RULES, atMs: 7.6 }
  const looked = await inspectStream(world.base, new StreamRegistry(), stream, () => rules, NEVER_ABORTED)
  expect(looked?.decisions).toMatchObject([{ kind: 'abort-event', event: '01.00' }])
})
