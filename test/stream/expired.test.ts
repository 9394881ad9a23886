import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Applied } from '../../src/stream/apply.ts'
import { commandHash } from '../../src/stream/command-hash.ts'
import { limitOf, timeReaderFor } from '../../src/stream/due.ts'
import { isFinal } from '../../src/stream/event.ts'
import { EventStream } from '../../src/stream/event-stream.ts'
import type { SeenLimit } from '../../src/stream/operation.ts'
import { seenLimit } from '../../src/stream/operations/expired.ts'
import { settledDocument } from '../../src/stream/settled.ts'
import { writeDocument } from '../../src/stream/xml-write.ts'
import { anInit, aScript, briefOf, RUNS, type Step } from '../support/arbitraries.ts'
import { BORN, documentText, type EventText, Play, START_MS, spec } from '../support/stream-builder.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ago = (ms: number) => new Date(START_MS - ms).toISOString()

/** What a watchdog sees of an event that has a limit. */
function look(play: Play, id: string, lastModifiedMs?: number): SeenLimit {
  const context = { nowMs: play.nowMs, versionFloor: 0, born: BORN, ...(lastModifiedMs && { lastModifiedMs }) }
  const { document } = settledDocument(play.document, context)
  const stream = new EventStream(document.events)
  const event = stream.find(id)
  const limit = event && limitOf(stream, event, timeReaderFor(document, context).read)
  if (event === undefined || limit === undefined) throw new Error(`${id} has no limit`)
  return seenLimit(event, limit.dueMs)
}

/** Ends an event for its limit, as a watchdog does. */
const expire = (play: Play, expired: SeenLimit, more: Parameters<Play['do']>[1] = {}) =>
  play.do({ op: 'abort', event: expired.event, expired }, more)

/** A worker on its second attempt that has been silent for ten minutes; five were allowed. */
const WORKED: EventText = {
  id: '01.00',
  status: 'inprocess',
  prev: '00',
  created: ago(5 * HOUR),
  timestamp: ago(10 * MINUTE),
  timeout: '00:05:00',
  'lc:owner': 'w1',
  'lc:fence': '3',
  'lc:attempt': '2',
  'lc:until': ago(9 * MINUTE),
}
const ROOT: EventText = { id: '00', status: 'inprocess', created: ago(6 * HOUR), next: '01.00|02.00' }
const SIBLING: EventText = { id: '02.00', status: 'init', prev: '00', created: ago(5 * HOUR) }

const worked = (more: EventText = {}, ...others: readonly EventText[]) =>
  new Play(documentText(ROOT, { ...WORKED, ...more }, SIBLING, ...others))

describe('an event that is to the letter what was seen', () => {
  it('is ended, and what its end allows follows in the same transaction', () => {
    const play = worked().after({ op: 'complete', event: '02.00' })
    const expired = look(play, '01.00')
    expect(expired).toEqual({
      event: '01.00',
      status: 'inprocess',
      attempt: '2',
      fence: '3',
      timestamp: ago(10 * MINUTE),
      dueMs: START_MS - 5 * MINUTE,
    })
    expect(expire(play, expired)).toMatchObject({ outcome: 'done', closed: ['00'], done: true })
    expect(play.event('00').lc).toMatchObject({ outcome: 'errors', failed: '01.00' })
    expect(play.status('01.00')).toBe('aborted')
  })

  it('is ended at the very moment its limit ends by the clock of the store, not a millisecond before', () => {
    // Somebody whose clock was ahead wrote last: that makes nothing due.
    const play = worked().after({ op: 'set', event: '00', attributes: { tag: 'x' } })
    const expired = look(play, '01.00')
    play.nowMs = expired.dueMs - 1
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('showed-life')
    play.nowMs = expired.dueMs
    expect(expire(play, expired).outcome).toBe('done')
  })

  it.each([
    ['never started', 'init', { status: 'init', 'lc:owner': '', 'lc:fence': '', 'lc:until': '' }],
    ['never claimed, an attempt that is not written', 'none', { 'lc:fence': '', 'lc:attempt': '' }],
    ['under an absolute limit', 'absolute', { timeout: ago(MINUTE) }],
  ] as const)('is ended where it is %s', (_, __, more) => {
    const play = worked(more)
    expect(expire(play, look(play, '01.00')).outcome).toBe('done')
  })

  it('is ended with the stream where its limit says so: the root is the target, the event what was seen', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expect(play.do({ op: 'abort', expired, msg: 'silent' })).toMatchObject({ done: true })
    expect(play.statuses).toEqual(['00 aborted', '01.00 canceled', '02.00 canceled'])
    expect(play.event('00').msg).toBe('silent')
  })

  it('is ended with all of its stream for the limit of the root, whatever lives below it', () => {
    const play = new Play(documentText({ ...ROOT, timeout: '01:00:00' }, { ...WORKED, timeout: '' }))
    const expired = look(play, '00')
    play.edit(text => text.replace(ago(10 * MINUTE), ago(0)))
    expect(play.do({ op: 'abort', expired }).done).toBe(true)
  })

  it('carries the message, and the journal the reason', () => {
    const play = worked({ msg: 'ref:7' })
    const message = 'no sign of life for 5m since 11:50'
    play.do({ op: 'abort', event: '01.00', expired: look(play, '01.00'), msg: message }, { why: message, by: 'dog' })
    expect(play.event('01.00')).toMatchObject({ msg: message, lc: { msg: 'ref:7' } })
    expect(play.journal.at(-1)).toMatchObject({ op: 'abort', on: '01.00', by: 'dog', why: message })
  })
})

describe('life', () => {
  it.each<[string, string, (play: Play) => unknown]>([
    [
      'another status',
      'it was inprocess and is init',
      play => edit(play, 'id="01.00" status="inprocess"', 'id="01.00" status="init"'),
    ],
    ['another attempt', 'claimed anew', play => edit(play, 'lc:attempt="2"', 'lc:attempt="3"')],
    ['an attempt that is gone', 'claimed anew', play => edit(play, ' lc:attempt="2"', '')],
    ['another fence', 'claimed anew', play => edit(play, 'lc:fence="3"', 'lc:fence="4"')],
    ['a fence that is gone', 'claimed anew', play => edit(play, ' lc:fence="3"', '')],
    ['an earlier timestamp', `touched at ${ago(HOUR)}`, play => edit(play, ago(10 * MINUTE), ago(HOUR))],
    ['a timestamp in another form', 'touched at', play => edit(play, ago(10 * MINUTE), '2024-05-01 11:50:00')],
    ['a longer limit', 'ends at another time', play => edit(play, '00:05:00', '00:06:00')],
    ['a shorter limit', 'ends at another time', play => edit(play, '00:05:00', '00:04:00')],
    ['no limit', 'no limit of it runs', play => edit(play, '00:05:00', '')],
    ['an absolute limit', 'ends at another time', play => edit(play, '00:05:00', ago(MINUTE))],
    [
      'a held stream',
      'no limit of it runs',
      play => edit(play, '<Event id="00" status="inprocess"', '<Event id="00" status="init"'),
    ],
    ['a successor that is open', 'no limit of it runs', play => addBelow(play, 'init', ago(HOUR))],
    ['a successor that ended lately', 'ends at another time', play => addBelow(play, 'completed', ago(MINUTE))],
    ['a store whose clock is behind', 'clock of the store', play => play.wait(-6 * MINUTE)],
  ])('is %s: nothing is changed', (_, words, change) => {
    // Its claim runs, so that it does not close when what followed it has ended.
    const play = worked({ 'lc:until': ago(-HOUR) })
    const expired = look(play, '01.00')
    change(play)
    const before = play.text
    const refusal = play.refused({ op: 'abort', event: '01.00', expired })
    expect(refusal).toMatchObject({ code: 'showed-life', event: '01.00' })
    expect(refusal.message).toMatch(/^01\.00 showed life: .*; its limit is judged anew$/)
    expect(refusal.message).toContain(words)
    expect(play.text).toBe(before)
    expect(play.code({ op: 'abort', expired })).toBe('showed-life')
  })

  const started = () =>
    new Play().after({ op: 'init', forks: [spec('A', { timeout: '00:05:00' }), spec('B')] }).wait(10 * MINUTE)
  const claimed = () =>
    started()
      .after({ op: 'start', event: '01.00' })
      .wait(10 * MINUTE)

  it.each<[string, () => Play, (play: Play) => unknown]>([
    ['a start', started, play => play.do({ op: 'start', event: '01.00' })],
    ['a heartbeat', claimed, play => play.do({ op: 'touch', event: '01.00', fence: 2 })],
    ['a progress text', claimed, play => play.do({ op: 'touch', event: '01.00', fence: 2, msg: 'half' })],
    ['a takeover', claimed, play => play.do({ op: 'start', event: '01.00', owner: 'w2' })],
    ['a release', claimed, play => play.do({ op: 'release', event: '01.00', fence: 2 })],
    ['an advance', claimed, play => play.do({ op: 'advance', event: '01.00', fence: 2, next: spec('N') })],
    ['a new limit', claimed, play => play.do({ op: 'set', event: '01.00', attributes: { timeout: '01:00:00' } })],
    [
      'a reopening',
      claimed,
      play => play.after({ op: 'fail', event: '01.00' }, { op: 'retry', event: '01.00' }).wait(10 * MINUTE),
    ],
  ])('is %s between look and lease', (_, begin, change) => {
    const play = begin()
    const expired = look(play, '01.00')
    change(play.wait(1_000))
    const before = play.text
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('showed-life')
    expect(play.text).toBe(before)
  })

  it('is a branch of a released join that is worked once more: the join waits again', () => {
    const play = new Play().after(
      { op: 'init', forks: [spec('A')], join: spec('J', { timeout: '00:05:00' }) },
      { op: 'fail', event: '01.00' },
    )
    const expired = look(play.wait(10 * MINUTE), '01')
    play.do({ op: 'retry', event: '01.00' })
    expect(play.refused({ op: 'abort', event: '01', expired }).code).toBe('showed-life')
  })

  it('is not what happens to others', () => {
    const play = new Play().after({
      op: 'init',
      forks: [spec('A', { timeout: '00:05:00' }), spec('B', { timeout: '01:00:00' }), spec('C'), spec('D')],
    })
    play.after({ op: 'start', event: '01.00' }, { op: 'start', event: '02.00' }).wait(10 * MINUTE)
    const expired = look(play, '01.00')
    play
      .wait(1_000)
      .after(
        { op: 'touch', event: '02.00', owner: 'w1' },
        { op: 'complete', event: '03.00' },
        { op: 'set', event: '00', attributes: { tag: 'x' } },
      )
    play.legacy(stream => stream.setStatus('04.00', 'inprocess'), { rebuildEvents: true })
    expect(expire(play, expired).outcome).toBe('done')
    expect(play.statuses).toEqual([
      '00 inprocess',
      '01.00 aborted',
      '02.00 inprocess',
      '03.00 completed',
      '04.00 inprocess',
    ])
  })
})

function edit(play: Play, from: string, to: string): void {
  play.edit(text => text.replace(from, to))
}

function addBelow(play: Play, status: string, timestamp: string): void {
  const event = `<Event id="01.01" prev="01.00" status="${status}" timestamp="${timestamp}"/>`
  play.edit(text => text.replace('</EventStream>', `${event}</EventStream>`))
}

describe('an event that is not open any more', () => {
  it.each(['complete', 'cancel', 'fail'] as const)('by %s is already-final, whatever would be ended', op => {
    const play = worked()
    const expired = look(play, '01.00')
    play.do(op === 'cancel' ? { op, event: '01.00' } : { op, event: '01.00', fence: 3 })
    const before = play.text
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('already-final')
    expect(play.code({ op: 'abort', expired })).toBe('already-final')
    expect(play.text).toBe(before)
  })

  it('is gone: event-not-found, also where the whole stream would be ended', () => {
    const play = worked()
    const expired = look(play, '01.00')
    play.edit(text => text.replace(/ *<Event id="01.00"[^>]*>\n/, ''))
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('event-not-found')
    expect(play.refused({ op: 'abort', expired })).toMatchObject({ code: 'event-not-found', event: '01.00' })
  })

  it('was closed by what a foreign writer did: already-final, and the closing is written', () => {
    const play = worked({}, { id: '01.01', prev: '01.00', status: 'completed', timestamp: ago(2 * HOUR) })
    const expired = seenLimit(play.event('01.00'), START_MS - 5 * MINUTE)
    const applied = play.apply({ op: 'abort', event: '01.00', expired })
    expect(applied).toMatchObject({ kind: 'refused', refusal: { code: 'already-final', status: 'completed' } })
    expect(applied.kind === 'refused' && applied.document?.events[1]?.status).toBe('completed')
  })
})

describe('several watchdogs', () => {
  const message = 'silent'
  const by = (who: string) => ({ commandId: 'watchdog:01.00:2:5', by: who, why: message })

  it('end it once: for the others it is a duplicate, though they have seen it otherwise', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expect(expire(play, expired, by('a'))).toMatchObject({ outcome: 'done', duplicate: false })
    const { length } = play.journal
    const { text } = play
    expect(expire(play, expired, by('b'))).toMatchObject({ outcome: 'already', duplicate: true })
    expect(expire(play, { ...expired, fence: '9', timestamp: '' }, by('c'))).toMatchObject({ duplicate: true })
    expect(play.text).toBe(text)
    expect(play.journal).toHaveLength(length)
    expect(play.journal.filter(({ commandId }) => commandId === by('').commandId)).toMatchObject([{ by: 'a' }])
  })

  it('find the duplicate also when it was reopened since', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expire(play, expired, by('a'))
    play.do({ op: 'retry', event: '01.00' })
    expect(expire(play, expired, by('b'))).toMatchObject({ duplicate: true })
    expect(play.status('01.00')).toBe('init')
  })

  it('that ask for something else under the same id are refused', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expire(play, expired, by('a'))
    const again = by('b')
    expect(play.code({ op: 'abort', expired }, again)).toBe('command-id-reused')
    expect(play.code({ op: 'abort', event: '01.00', expired, msg: 'other' }, again)).toBe('command-id-reused')
    expect(play.code({ op: 'cancel', event: '01.00' }, again)).toBe('command-id-reused')
  })

  it('give one command one hash: what was seen and a message that is the reason are no part of it', () => {
    const expired = look(worked(), '01.00')
    const author = { commandId: 'x', by: 'a', why: message }
    const hash = commandHash({ op: 'abort', event: '01.00' }, { commandId: 'x', by: 'b' })
    expect(commandHash({ op: 'abort', event: '01.00', expired, msg: message }, author)).toBe(hash)
    expect(commandHash({ op: 'abort', expired }, author)).not.toBe(hash)
  })
})

describe('streams of the old library', () => {
  const old = (more: EventText) =>
    new Play(
      documentText(
        { id: '00', status: 'inprocess', created: '11/22/2013 6:00:00 PM', next: '01.00' },
        { id: '01.00', status: 'inprocess', prev: '00', ...more },
      ),
    )

  it.each<[string, EventText, string]>([
    ['month first', { timestamp: '11/22/2013 6:23:05 PM', timeout: '00:05:00' }, '2013-11-22T18:28:05Z'],
    ['a narrow blank', { timestamp: '11/22/2013 6:23:05\u202FPM', timeout: '00:05:00' }, '2013-11-22T18:28:05Z'],
    ['dots', { timestamp: '22.11.2013 18:23:05', timeout: '1.00:00:00' }, '2013-11-23T18:23:05Z'],
    ['a bare number of days', { timestamp: '2013/11/22 18:23:05', timeout: '2' }, '2013-11-24T18:23:05Z'],
    ['hours that are days', { timestamp: '2013-11-22 18:23:05', timeout: '24:00:00' }, '2013-12-16T18:23:05Z'],
    [
      'never started',
      { status: 'init', created: '11/22/2013 6:20:00 PM', timeout: '01:00:00' },
      '2013-11-22T19:20:00Z',
    ],
    ['a date', { timestamp: '', timeout: '2013-12-24T12:00:00Z' }, '2013-12-24T12:00:00Z'],
  ])('expire: %s', (_, more, due) => {
    const play = old(more)
    const expired = look(play, '01.00')
    expect(expired).toMatchObject({ attempt: '', fence: '', timestamp: more.timestamp ?? '', dueMs: Date.parse(due) })
    expect(expire(play, expired)).toMatchObject({ outcome: 'done', version: 2 })
    expect(play.status('01.00')).toBe('aborted')
    expect(play.journal.map(({ op }) => op)).toEqual(['adopt', 'abort'])
  })

  it('are judged by one reading of an ambiguous date; under another the limit is another', () => {
    const ambiguous = () =>
      new Play(documentText({ id: '00', status: 'inprocess', created: '03/04/2024 10:00:00', timeout: '1.00:00:00' }))
    const [march, april] = [Date.parse('2024-03-04T10:00:00Z'), Date.parse('2024-04-03T10:00:00Z')]
    const expired = look(ambiguous(), '00', april)
    expect(expired.dueMs).toBe(april + 24 * HOUR)
    expect(ambiguous().code({ op: 'abort', expired }, { lastModifiedMs: march })).toBe('showed-life')
    const play = ambiguous()
    expect(play.do({ op: 'abort', expired }, { lastModifiedMs: april }).outcome).toBe('done')
    expect(play.document.dates).toBe('dmy')
  })
})

describe('property', () => {
  /** Most events have a limit of some minutes, some of a day: with waits in between, about half of what is seen is due. */
  const aLook = () => fc.record({ which: fc.nat(40), whole: fc.boolean(), waitMs: fc.constantFrom(0, HOUR, 25 * HOUR) })

  it('an expiry is applied exactly where the event is what was seen, and due; else nothing is changed', () => {
    const met = { applied: 0, refused: 0, final: 0 }
    fc.assert(
      fc.property(anInit(), aScript('dropped', 12), aLook(), aScript('dropped', 3), (init, first, look, between) => {
        const play = new Play().after(init)
        for (const step of first) perform(play, step)
        play.wait(look.waitMs)
        const seen = seenAny(play, look.which)
        if (seen === undefined) return
        for (const step of between) perform(play, step)
        const expected = model(play, seen)
        const before = play.text
        const applied = play.apply({ op: 'abort', expired: seen, ...(look.whole ? {} : { event: seen.event }) })
        expect(outcomeOf(applied)).toBe(expected)
        if (expected === 'applied') met.applied++
        else {
          expect(play.text).toBe(before)
          expectOnlySettled(play, applied)
          met[expected === 'already-final' ? 'final' : 'refused']++
        }
      }),
      { numRuns: RUNS * 3 },
    )
    // It has met all of them, or it proves nothing.
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(RUNS / 20)
  })
})

function perform(play: Play, step: Step): void {
  if (step.kind === 'wait') play.wait(step.ms)
  else if (step.kind === 'operation') play.apply(briefOf(step.choice, play.document.events))
  else {
    const open = play.document.events.filter(event => !isFinal(event))
    const id = open[step.which % Math.max(1, open.length)]?.id
    if (id !== undefined) play.legacy(stream => stream.setStatus(id, step.status), { rebuildEvents: step.rebuild })
  }
}

/** Of the events that have a limit one. */
function seenAny(play: Play, which: number): SeenLimit | undefined {
  const { stream, read } = settled(play)
  const seen = stream.events.flatMap(event => {
    const limit = limitOf(stream, event, read)
    return limit === undefined ? [] : [seenLimit(event, limit.dueMs)]
  })
  return seen[which % Math.max(1, seen.length)]
}

function settled(play: Play) {
  const context = { nowMs: play.nowMs, versionFloor: 0, born: BORN }
  const { document } = settledDocument(play.document, context)
  return { document, stream: new EventStream(document.events), read: timeReaderFor(document, context).read }
}

/** What has to become of it: everything computed again from the document as it stands. */
function model(play: Play, seen: SeenLimit): string {
  const { stream, read } = settled(play)
  const event = stream.find(seen.event)
  if (event === undefined) return 'event-not-found'
  if (isFinal(event)) return 'already-final'
  const letter = [event.status, event.lc.attempt ?? '', event.lc.fence ?? '', event.timestamp]
  const isSame = letter.join('\n') === [seen.status, seen.attempt, seen.fence, seen.timestamp].join('\n')
  const due = limitOf(stream, event, read)?.dueMs
  return isSame && due === seen.dueMs && due <= play.nowMs ? 'applied' : 'showed-life'
}

function outcomeOf(applied: Applied): string {
  if (applied.kind === 'refused') return applied.refusal.code
  return applied.kind === 'changed' ? 'applied' : 'unchanged'
}

/** A refusal may carry what a foreign writer left to close, nothing else. */
function expectOnlySettled(play: Play, applied: Applied): void {
  if (applied.kind !== 'refused' || applied.document === undefined) return
  expect(applied.refusal.code).toBe('already-final')
  const again = new Play(writeDocument(applied.document).text)
  expect(again.document.events.map(({ id, status }) => [id, status])).toEqual(
    settled(play).document.events.map(({ id, status }) => [id, status]),
  )
}
