import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../src/stream/document.ts'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../src/stream/event.ts'
import { MAX_READ_EVENTS } from '../../../src/stream/limits.ts'
import { summarize } from '../../../src/stream/summarize.ts'
import {
  cutCount,
  cutList,
  decodeSummary,
  encodeSummary,
  type Summary,
  shortened,
} from '../../../src/stream/summary.ts'

const NOW = Date.parse('2026-07-01T12:00:00.000Z')
const time = (clock: string) => `2026-07-01T${clock}:00.000Z`
const ms = (clock: string) => Date.parse(time(clock))

const EMPTY: Summary = {
  version: 0,
  born: '',
  status: '',
  outcome: '',
  lastBy: '',
  root: '',
  createdMs: undefined,
  key: '',
  topic: '',
  tag: '',
  trackingId: '',
  failedAtMs: undefined,
  failedId: '',
  failedName: '',
  ackMs: undefined,
  suspendedMs: undefined,
  suspendedBy: '',
  suspendedWhy: '',
  failure: '',
  open: 0,
  failed: 0,
  done: 0,
  canceled: 0,
  total: 0,
  dueMs: undefined,
  claimEndMs: undefined,
  readySinceMs: undefined,
  waitingOn: [],
  ready: [],
  running: [],
  gated: [],
  wakeMs: undefined,
}

const sizeOf = (fields: Record<string, string>) =>
  Object.entries(fields).reduce((sum, [key, value]) => sum + 'leasectl_s_'.length + key.length + value.length, 0)

const count = fc.nat()
const events = fc.nat({ max: MAX_READ_EVENTS })
const moment = fc.option(fc.integer({ min: -8.63e15, max: 8.63e15 }), { nil: undefined })
const label = fc.string({ unit: 'grapheme', maxLength: 12 })
const id = fc.stringMatching(/^\d\d(\.\d\d){0,3}$/)
const part = label.map(encodeURIComponent)
const summaries: fc.Arbitrary<Summary> = fc.record({
  version: count,
  born: fc.uuid(),
  status: fc.constantFrom('init', 'inprocess', 'completed', 'aborted', 'canceled', ''),
  outcome: fc.constantFrom('' as const, 'errors' as const),
  lastBy: label,
  root: label,
  createdMs: moment,
  key: label,
  topic: label,
  tag: label,
  trackingId: label,
  failedAtMs: moment,
  failedId: id,
  failedName: label,
  failure: label,
  open: events,
  done: events,
  failed: events,
  total: events,
  dueMs: moment,
  claimEndMs: moment,
  readySinceMs: moment,
  waitingOn: fc.array(
    fc.oneof(
      id,
      label.filter(text => text !== ''),
    ),
    { maxLength: 4 },
  ),
  ackMs: moment,
  suspendedMs: moment,
  suspendedBy: label,
  suspendedWhy: label,
  canceled: events,
  gated: fc.constant([]),
  wakeMs: fc.option(fc.integer({ min: 0, max: 8_639_999_913_600_000 }), { nil: undefined }),
  running: fc.array(
    fc.tuple(part, part, part).map(parts => [...parts, '1', '', 'k', ''].join('|')),
    { maxLength: 2 },
  ),
  ready: fc.array(
    fc.tuple(part, part).map(parts => parts.join('|')),
    { maxLength: 3 },
  ),
})

describe('encodeSummary and decodeSummary', () => {
  it('restore every summary within the limits', () => {
    fc.assert(
      fc.property(summaries, summary => {
        expect(decodeSummary(encodeSummary(summary))).toEqual(summary)
      }),
    )
    expect(decodeSummary(encodeSummary(EMPTY))).toEqual(EMPTY)
  })

  it('write keys that metadata can have, ASCII values, and no empty ones', () => {
    fc.assert(
      fc.property(summaries, summary => {
        for (const [key, value] of Object.entries(encodeSummary(summary))) {
          expect(key).toMatch(/^[a-z][a-z_]*$/)
          expect(value).toMatch(/^[!-~]+$/)
        }
      }),
    )
  })

  it('replace characters that no document can hold', () => {
    const fields = encodeSummary({
      ...EMPTY,
      key: '\ud83d',
      waitingOn: ['\ude00'],
      ready: ['a b,\u0007|\ud83d'],
      dueMs: 1.6,
    })
    expect(decodeSummary(fields)).toEqual({
      ...EMPTY,
      key: '\ufffd',
      waitingOn: ['\ufffd'],
      ready: ['a%20b%2C%07|%EF%BF%BD'],
      dueMs: 2,
    })
  })

  it.each([
    ['nothing', () => ({})],
    ['another codec', (fields: Record<string, string>) => ({ ...fields, codec: '1' })],
    ['a missing version', (fields: Record<string, string>) => ({ ...fields, v: undefined })],
    ['a version that is not a number', (fields: Record<string, string>) => ({ ...fields, v: 'x1' })],
    ['a negative count', (fields: Record<string, string>) => ({ ...fields, open: '-1' })],
    ['a count beyond safe integers', (fields: Record<string, string>) => ({ ...fields, total: '1'.repeat(16) })],
    ['a time that is not a number', (fields: Record<string, string>) => ({ ...fields, due: '1.5' })],
    ['more open events than the limit of reading', (fields: Record<string, string>) => ({ ...fields, open: '40001' })],
    ['more events than the limit of reading', (fields: Record<string, string>) => ({ ...fields, total: '4000000000' })],
    ['an impossible time', (fields: Record<string, string>) => ({ ...fields, due: '8640000000000000' })],
    ['a time before the epoch', (fields: Record<string, string>) => ({ ...fields, created: '-9999999999999999' })],
    ['an empty time', (fields: Record<string, string>) => ({ ...fields, created: '' })],
    ['an unknown outcome', (fields: Record<string, string>) => ({ ...fields, outcome: 'fine' })],
    ['bad percent-encoding of a text', (fields: Record<string, string>) => ({ ...fields, key: '%E2%82' })],
    ['bad percent-encoding of an id', (fields: Record<string, string>) => ({ ...fields, waiting: '00,%' })],
  ])('return no summary for %s', (_, spoil) => {
    expect(decodeSummary(spoil(encodeSummary(EMPTY)))).toBeUndefined()
  })

  it('never throw, whatever the fields hold', () => {
    const fields = fc.dictionary(
      fc.constantFrom(...Object.keys(encodeSummary({ ...EMPTY, key: 'k' })), 'due'),
      fc.string(),
    )
    fc.assert(
      fc.property(fields, spoilt => {
        expect(() => decodeSummary({ ...encodeSummary(EMPTY), ...spoilt })).not.toThrow()
      }),
    )
  })

  it('ignore unknown fields', () => {
    expect(decodeSummary({ ...encodeSummary(EMPTY), md5: 'x' })).toEqual(EMPTY)
  })
})

describe('the limits of a summary', () => {
  const long = '€'.repeat(400)
  const ids = Array.from({ length: 40 }, (_, at) => `01.${at + 10}.00`)
  const full: Summary = { ...EMPTY, born: 'b', status: 'inprocess', failedId: '01.00', waitingOn: ids, ready: ['N|T'] }

  it('hold for texts and lists of any length', () => {
    const character = fc.constantFrom('x', 'é', '€', '😀', '\ud83d', '%', ',', '|')
    const huge = fc.tuple(character, fc.nat(3000)).map(([text, times]) => text.repeat(times))
    const monsters = fc.record({
      ...Object.fromEntries(
        (['born', 'status', 'lastBy', 'root', 'key', 'topic', 'tag', 'trackingId', 'failedId', 'failure'] as const).map(
          name => [name, huge],
        ),
      ),
      waitingOn: fc.array(huge, { maxLength: 5 }),
      ready: fc.array(huge, { maxLength: 5 }),
    })
    fc.assert(
      fc.property(monsters, monster => {
        const fields = encodeSummary({ ...EMPTY, ...monster })
        expect(sizeOf(fields)).toBeLessThanOrEqual(4096)
        expect(decodeSummary(fields)).toBeDefined()
      }),
      { numRuns: 50 },
    )
  })

  it('shorten the failure first and no further than needed', () => {
    const fields = encodeSummary({ ...full, failure: long, key: '€'.repeat(100) })
    const decoded = decodeSummary(fields)
    expect(decoded?.failure).toMatch(/^€+…$/)
    expect(decoded).toMatchObject({ key: '€'.repeat(100), waitingOn: ids, ready: ['N|T'] })
    expect(sizeOf(fields)).toBeGreaterThan(4096 - 128 - 64)
  })

  it('then shorten the other texts in order, filters late', () => {
    const texts = { failure: long, lastBy: long, tag: long, root: long, topic: long, key: long, trackingId: '' }
    const decoded = decodeSummary(encodeSummary({ ...full, ...texts }))
    const lengths = (['failure', 'lastBy', 'tag', 'root', 'topic', 'key'] as const).map(
      name => decoded?.[name].length ?? 0,
    )
    expect(lengths).toEqual([10, 10, 10, 10, 10, expect.any(Number)])
    expect(lengths[5]).toBeGreaterThan(100)
    expect(decoded?.waitingOn).toEqual(ids)
  })

  it('then cut the lists at whole items, ready before waitingOn, and last the fields that identify the stream', () => {
    const texts = { failure: long, lastBy: long, tag: long, root: long, topic: long, key: long, trackingId: long }
    const wide = { ...full, ...texts, born: 'b'.repeat(900), status: 's'.repeat(900), ready: ['N|T', 'M|T'] }
    const decoded = decodeSummary(encodeSummary(wide))
    expect(decoded?.ready).toEqual(['N|T', 'M|T'])
    expect(decoded?.born).toBe(wide.born)
    const wider = decodeSummary(encodeSummary({ ...wide, born: 'b'.repeat(1800) }))
    expect(wider?.ready).toEqual(['+2'])
    expect(wider?.waitingOn.at(-1)).toMatch(/^\+\d+$/)
    expect(wider?.waitingOn.slice(0, 3)).toEqual(ids.slice(0, 3))
    expect(wider?.status).toBe(wide.status)
    const widest = decodeSummary(encodeSummary({ ...wide, born: 'b'.repeat(3000) }))
    expect(widest?.waitingOn).toEqual(['+40'])
    expect(widest?.status).toMatch(/^s+…$/)
    expect(widest?.born.startsWith('bbb')).toBe(true)
  })

  it('hold for each list alone', () => {
    const many = Array.from({ length: 500 }, (_, at) => `${at}`.padStart(4, '0'))
    const decoded = decodeSummary(encodeSummary({ ...EMPTY, waitingOn: many, ready: many.map(name => `${name}|`) }))
    expect(decoded?.waitingOn.join(',').length).toBeLessThanOrEqual(512)
    expect(decoded?.waitingOn.at(-1)).toBe(`+${500 - 101}`)
    expect(decoded?.ready.join(',').length).toBeLessThanOrEqual(1024)
    expect(decoded?.ready.at(-1)).toBe(`+${500 - 170}`)
  })
})

describe('cutList', () => {
  const length = (item: string) => item.length

  it('keeps a list that fits exactly', () => {
    expect(cutList(['ab', 'cd', 'ef'], 8, length)).toEqual(['ab', 'cd', 'ef'])
    expect(cutList([], 0, length)).toEqual([])
  })

  it('cuts at whole items and counts the rest', () => {
    expect(cutList(['ab', 'cd', 'ef'], 7, length)).toEqual(['ab', '+2'])
    expect(cutList(['ab', 'cd', 'ef'], 4, length)).toEqual(['+3'])
    expect(cutList(['ab', 'cd', 'ef', 'gh'], 8, length)).toEqual(['ab', 'cd', '+2'])
  })

  it('includes items that were cut before in the count', () => {
    expect(cutList(['ab', 'cd', '+5'], 8, length)).toEqual(['ab', 'cd', '+5'])
    expect(cutList(['ab', 'cd', '+5'], 7, length)).toEqual(['ab', '+6'])
    expect(cutList(['ab', 'cd', '+98'], 5, length)).toEqual(['+100'])
  })

  it('recognizes a mark by its form', () => {
    expect(['+12', '12', '+', '+x', '+1234567890', undefined].map(cutCount)).toEqual([12, 0, 0, 0, 0, 0])
  })
})

describe('shortened', () => {
  it('cuts the excess at whole characters and marks the cut with …', () => {
    const text = 'x'.repeat(200)
    expect(decodeURIComponent(shortened(text, 0))).toBe(text)
    expect(shortened(text, 50)).toBe(`${'x'.repeat(141)}%E2%80%A6`)
    expect(decodeURIComponent(shortened('€'.repeat(50), 100))).toBe(`${'€'.repeat(37)}…`)
  })

  it('leaves 96 bytes', () => {
    expect(shortened('x'.repeat(97), 500)).toBe(`${'x'.repeat(87)}%E2%80%A6`)
    expect(shortened('x'.repeat(96), 500)).toBe('x'.repeat(96))
  })
})

const event = (id: string, status: string, more: Partial<EventAttributes> = {}, lc: StreamEvent['lc'] = {}) =>
  newEvent({ id, status, name: `N${id}`, created: time('08:00'), timestamp: time('08:00'), ...more }, lc)

function summary(events: readonly StreamEvent[], more: Partial<typeof EMPTY_DOCUMENT> = {}): Summary {
  return summarize({ ...EMPTY_DOCUMENT, events, ...more }, { nowMs: NOW, lastBy: 'ada@host' })
}

describe('summarize', () => {
  it('returns the state of the root and the last writer', () => {
    const root = event('00', 'inprocess', { name: 'Order Start', topic: 't', key: 'k', tag: 'g', trackingId: 'x' })
    expect(summary([root], { version: 7, born: 'uuid' })).toEqual({
      ...EMPTY,
      version: 7,
      born: 'uuid',
      status: 'inprocess',
      lastBy: 'ada@host',
      root: 'Order Start',
      createdMs: ms('08:00'),
      topic: 't',
      key: 'k',
      tag: 'g',
      trackingId: 'x',
      open: 1,
      total: 1,
      waitingOn: ['00'],
      running: ['00|Order%20Start||1||mr1sc8w0|'],
    })
  })

  it('returns an empty summary for a document without events', () => {
    expect(summary([])).toEqual({ ...EMPTY, lastBy: 'ada@host' })
  })

  it('counts open, failed, canceled and all events, without superseded and duplicate ones', () => {
    const events = [
      event('00', 'inprocess', { next: '01.00|02.00|03.00|04.00' }),
      event('01.00', 'init'),
      event('02.00', 'thinking'),
      event('03.00', 'aborted'),
      event('04.00', 'canceled'),
      event('05.00', 'completed', { prev: '00' }),
      event('01.00', 'aborted'),
      event('06.00', 'aborted', { prev: '00' }, { superseded: '3' }),
    ]
    expect(summary(events)).toMatchObject({ open: 3, failed: 1, canceled: 1, total: 6, outcome: 'errors' })
  })

  it('reports errors if an event below the root failed, not if only the root did', () => {
    expect(summary([event('00', 'aborted')])).toMatchObject({ failed: 1, outcome: '' })
    expect(summary([event('00', 'inprocess'), event('01.00', 'aborted', { prev: '00' })]).outcome).toBe('errors')
    const superseded = event('01.00', 'aborted', { prev: '00' }, { superseded: '3' })
    expect(summary([event('00', 'inprocess'), superseded])).toMatchObject({ failed: 0, outcome: '', failedId: '' })
  })

  it('names the first failure, and when the last one was', () => {
    const events = [
      event('00', 'inprocess'),
      event('01.00', 'aborted', { prev: '00', timestamp: time('10:00'), msg: 'late' }),
      event('02.00', 'aborted', { prev: '00', timestamp: time('09:00'), msg: 'early' }),
      event('03.00', 'completed', { prev: '00', timestamp: time('11:00'), msg: 'fine' }),
    ]
    expect(summary(events)).toMatchObject({ failedAtMs: ms('10:00'), failedId: '02.00', failure: 'early' })
  })

  it('names the event that a cascade started from', () => {
    const cascade = [
      event('00', 'inprocess'),
      event('01.00', 'canceled', { prev: '00' }),
      event('02.00', 'canceled', { prev: '00', msg: 'stop' }),
    ]
    expect(summary(cascade)).toMatchObject({ failedId: '02.00', failure: 'stop' })
    const aborted = [...cascade, event('03.00', 'aborted', { prev: '00' }), event('04.00', 'aborted', { prev: '00' })]
    expect(summary(aborted)).toMatchObject({ failedId: '03.00', failure: '' })
  })

  it('names a failure without a readable time if no other has one', () => {
    const unclear = event('01.00', 'aborted', { prev: '00', timestamp: '?', msg: 'when' })
    expect(summary([event('00', 'inprocess'), unclear])).toMatchObject({
      failedAtMs: undefined,
      failedId: '01.00',
      failure: 'when',
    })
    const dated = event('02.00', 'aborted', { prev: '00' })
    expect(summary([event('00', 'inprocess'), unclear, dated]).failedId).toBe('02.00')
  })

  it('keeps the first 200 whole characters of a failure', () => {
    const text = '😀'.repeat(150) + 'x'.repeat(150)
    const { failure } = summary([event('00', 'aborted', { msg: text })])
    expect(failure).toBe('😀'.repeat(150) + 'x'.repeat(50))
  })

  it('names the earliest due time and the earliest claim end of an open event', () => {
    const root = event('00', 'inprocess', { timeout: '06:00:00' })
    const started = event(
      '01.00',
      'inprocess',
      { prev: '00', timeout: '05:00:00' },
      { owner: 'w', until: time('15:00') },
    )
    expect(summary([root]).dueMs).toBe(ms('14:00'))
    expect(summary([root, started]).dueMs).toBe(ms('13:00'))
    const claimed = event('01.00', 'inprocess', { prev: '00' }, { owner: 'w', until: time('12:30') })
    expect(summary([root, started])).toMatchObject({ dueMs: ms('13:00'), claimEndMs: ms('15:00') })
    expect(summary([root, claimed])).toMatchObject({ dueMs: ms('14:00'), claimEndMs: ms('12:30') })
    expect(summary([root, { ...claimed, status: 'completed' }]).claimEndMs).toBeUndefined()
    expect(summary([event('00', 'inprocess')]).dueMs).toBeUndefined()
  })

  it('has the time since when the first of the ready events can be started', () => {
    const root = event('00', 'inprocess', { created: time('08:00') })
    const ready = (id: string, at: string, lc = {}) => event(id, 'init', { prev: '00', created: time(at) }, lc)
    expect(summary([root, ready('01.00', '11:00'), ready('02.00', '10:00')]).readySinceMs).toBe(ms('10:00'))
    const retried = ready('02.00', '09:00', { opened: time('12:00') })
    expect(summary([root, ready('01.00', '11:00'), retried]).readySinceMs).toBe(ms('11:00'))
    const claimed = event('01.00', 'inprocess', { prev: '00', created: time('09:00') }, { owner: 'w' })
    expect(summary([root, claimed]).readySinceMs).toBeUndefined()
    const held = event('00', 'init', { created: time('08:00') })
    expect(summary([held, ready('01.00', '09:00')]).readySinceMs).toBeUndefined()
  })

  it('reads ambiguous dates as the document and Last-Modified decide', () => {
    const events = [event('00', 'inprocess', { created: '06/05/2026 10:00:00', timestamp: '' })]
    const document = { ...EMPTY_DOCUMENT, events }
    const lastModifiedMs = Date.parse('2026-05-06T10:00:00Z')
    expect(summarize(document, { nowMs: NOW, lastBy: '', lastModifiedMs }).createdMs).toBe(lastModifiedMs)
    expect(summarize(document, { nowMs: NOW, lastBy: '' }).createdMs).toBe(Date.parse('2026-06-05T10:00:00Z'))
  })
})

describe('waitingOn and ready', () => {
  const forked = (root: string, ...below: StreamEvent[]) =>
    summary([event('00', root), ...below.map(each => (each.prev === '' ? { ...each, prev: '00' } : each))])

  it('list open leaves in id order, init ones with name and topic', () => {
    const found = forked(
      'inprocess',
      event('02.00', 'init', { name: 'Search|Start', topic: 'a b' }),
      event('10.00', 'inprocess'),
      event('01.00', 'inprocess'),
      event('01.01', 'init', { prev: '01.00', name: 'Done' }),
      event('03.00', 'completed'),
    )
    expect(found.waitingOn).toEqual(['01.01', '02.00', '10.00'])
    expect(found.ready).toEqual(['Done|', 'Search%7CStart|a%20b'])
  })

  it('omit waiting joins', () => {
    const join = event('01', 'inprocess', { name: 'Join' }, { wait: 'yes', join: 'wait' })
    const found = forked(
      'inprocess',
      event('01.00', 'inprocess'),
      join,
      event('02', 'init', {}, { wait: 'yes', join: 'wait' }),
    )
    expect(found).toMatchObject({ waitingOn: ['01.00'], ready: [] })
    expect(forked('inprocess', { ...join, status: 'init', lc: {} })).toMatchObject({
      waitingOn: ['01'],
      ready: ['Join|'],
    })
  })

  it('list nothing as ready in a held stream', () => {
    expect(forked('init', event('01.00', 'init'))).toMatchObject({ waitingOn: ['00'], ready: [] })
  })

  it('omit an event above an open one, however deep the open one is', () => {
    const found = forked(
      'inprocess',
      event('01.00', 'inprocess', { next: '01.01' }),
      event('01.01', 'inprocess'),
      event('01.02', 'inprocess', { prev: '01.01' }),
    )
    expect(found.waitingOn).toEqual(['01.02'])
  })

  it('omit events below a final event, for no event depends on them', () => {
    const leftover = event('01.01', 'init', { prev: '01.00' })
    const found = forked('inprocess', event('01.00', 'aborted'), leftover, event('02.00', 'init'))
    expect(found).toMatchObject({ open: 3, waitingOn: ['02.00'], ready: ['N02.00|'] })
    expect(forked('canceled', event('01.00', 'init'))).toMatchObject({ open: 1, waitingOn: [], ready: [] })
    const replaced = event('01.00', 'aborted', {}, { superseded: '2' })
    expect(forked('inprocess', replaced, leftover).waitingOn).toEqual(['01.01'])
  })

  it('terminate on cycles', () => {
    const found = forked(
      'inprocess',
      event('01.00', 'inprocess', { next: '01.01' }),
      event('01.01', 'init', { next: '01.00' }),
    )
    expect(found).toMatchObject({ waitingOn: [], ready: ['N01.01|'] })
  })

  it('are cut at whole items within their limits', () => {
    const many = Array.from({ length: 300 }, (_, at) => event(`${at + 100}.00`, 'init', { name: 'Search' }))
    const found = forked('inprocess', ...many)
    expect(found.waitingOn.slice(0, 2)).toEqual(['100.00', '101.00'])
    expect(found.waitingOn.join(',').length).toBeLessThanOrEqual(512)
    expect(found.waitingOn.at(-1)).toBe(`+${300 - found.waitingOn.length + 1}`)
    expect(found.ready.join(',').length).toBeLessThanOrEqual(1024)
    expect(found.ready.at(-1)).toBe(`+${300 - found.ready.length + 1}`)
    expect(decodeSummary(encodeSummary(found))).toEqual(found)
  })
})
