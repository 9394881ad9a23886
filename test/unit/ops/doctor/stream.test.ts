import { describe, expect, test } from 'vitest'
import { type Finding, streamFindings, unreadableFinding } from '../../../../src/ops/doctor/stream.ts'
import { viewOf } from '../../../../src/ops/read-stream.ts'
import type { StreamSnapshot } from '../../../../src/store/store.ts'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { LC_NAMESPACE } from '../../../../src/stream/event.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { documentText, type EventText, Play, START_MS } from '../../../support/stream-builder.ts'

const HOUR = 3_600_000
const NOW = START_MS + 2 * HOUR
const at = (ms: number): string => new Date(ms).toISOString()

const ROOT: EventText = { id: '00', name: 'Start', status: 'inprocess' }
const child = (id: string, more: EventText = {}): EventText => ({ id, name: id, status: 'init', prev: '00', ...more })

/** A session of so many steps. */
function session(steps: number): string {
  const end = child('01.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:signal': 'end' })
  const all = Array.from({ length: steps }, (_, at) => child(`02.${String(at).padStart(2, '0')}`))
  return documentText({ ...ROOT, 'lc:session': '01.00' }, end, ...all)
}

/** In the form of a store; without `over` with a valid summary. */
function storedAs(text: string, over: Partial<StreamSnapshot> = {}): StreamSnapshot {
  const body = Buffer.from(text)
  return {
    name: 'orders/1',
    etag: '"1"',
    size: body.length,
    modifiedMs: START_MS,
    lease: { state: 'available' },
    summary: summaryOf(text),
    body,
    versionFloor: 0,
    ...over,
  }
}

function summaryOf(text: string) {
  const options = { nowMs: NOW, lastModifiedMs: START_MS, lastBy: 'ada' }
  try {
    return summarize(text === '' ? EMPTY_DOCUMENT : readDocument(text), options)
  } catch {
    return summarize(EMPTY_DOCUMENT, options)
  }
}

function findingsOf(text: string, over: Partial<StreamSnapshot> = {}): readonly Finding[] {
  const stored = storedAs(text, over)
  try {
    return streamFindings(viewOf(stored, NOW))
  } catch (error) {
    if (error instanceof BadDocument) return [unreadableFinding(stored.name, error)]
    throw error
  }
}

const events = (...given: readonly EventText[]): string => documentText(...given)
const find = (found: readonly Finding[], code: string): Finding | undefined => found.find(one => one.code === code)

/** A stream of ours without problems: forked, worked on, joined. */
function sound(): string {
  const play = Play.joined('Done', 'A', 'B')
  play.do({ op: 'start', event: '01.00' })
  play.do({ op: 'complete', event: '01.00', owner: 'w1' })
  return play.text
}

test('an intact stream has no findings', () => {
  expect(findingsOf(sound())).toEqual([])
})

/** Each with a faulty document, a similar intact one, and the text about the event. */
const CASES: readonly (readonly [
  code: string,
  severity: Finding['severity'],
  subject: string,
  has: string,
  hasNot: string,
])[] = [
  [
    'duplicate-id',
    'error',
    '01.00',
    events(ROOT, child('01.00'), child('01.00')),
    events(ROOT, child('01.00'), child('01.01')),
  ],
  [
    'dangling-next',
    'error',
    '00',
    events({ ...ROOT, next: '01.00' }),
    events({ ...ROOT, next: '01.00' }, child('01.00')),
  ],
  [
    'dangling-next',
    'info',
    '00',
    events({ ...ROOT, status: 'completed', next: '01.00' }),
    events({ ...ROOT, status: 'completed' }),
  ],
  ['dangling-prev', 'warning', '01.00', events(ROOT, child('01.00', { prev: '07' })), events(ROOT, child('01.00'))],
  ['self-link', 'warning', '01.00', events(ROOT, child('01.00', { next: '01.00' })), events(ROOT, child('01.00'))],
  ['link-to-root', 'warning', '01.00', events(ROOT, child('01.00', { next: '00' })), events(ROOT, child('01.00'))],
  ['unlinkable-id', 'warning', "a'b", events(ROOT, child("a'b")), events(ROOT, child('a-b'))],
  [
    'cycle',
    'error',
    '01.00',
    events(ROOT, child('01.00', { next: '01.01' }), child('01.01', { prev: '01.00', next: '01.00' })),
    events(ROOT, child('01.00', { next: '01.01' }), child('01.01', { prev: '01.00' })),
  ],
  ['unreachable', 'warning', '01.00', events(ROOT, child('01.00', { prev: '' })), events(ROOT, child('01.00'))],
  ['root-waits', 'error', '00', events({ ...ROOT, 'lc:wait': 'yes', 'lc:join': 'wait' }), events(ROOT)],
  ['root-superseded', 'warning', '00', events({ ...ROOT, 'lc:superseded': at(START_MS) }), events(ROOT)],
  [
    'unreadable-time',
    'info',
    '00',
    events({ ...ROOT, created: '31.31.2024' }),
    events({ ...ROOT, created: '31.12.2023 10:00:00' }),
  ],
  [
    'unreadable-time',
    'warning',
    '00',
    events({ ...ROOT, created: '0001-01-01T00:00:00', timeout: '1.00:00:00' }),
    events({ ...ROOT, created: at(START_MS), timeout: '1.00:00:00' }),
  ],
  [
    'time-ahead',
    'warning',
    '',
    events({ ...ROOT, timestamp: at(NOW + 6 * 60_000) }),
    events({ ...ROOT, timestamp: at(NOW + 4 * 60_000) }),
  ],
  [
    'time-ahead',
    'warning',
    '',
    events(ROOT, child('01.00', { 'lc:opened': at(NOW + 6 * 60_000) })),
    events(ROOT, child('01.00', { status: 'completed', timestamp: at(NOW + 6 * 60_000) })),
  ],
  [
    'guessed-dates',
    'info',
    '00',
    events({ ...ROOT, created: '03/04/2024 10:00:00' }),
    events({ ...ROOT, created: '03/04/2024 10:00:00', timestamp: '04/13/2024 10:00:00' }),
  ],
  [
    'timeout-unreadable',
    'warning',
    '00',
    events({ ...ROOT, timeout: 'soon' }),
    events({ ...ROOT, timeout: 'PT5H', created: at(NOW) }),
  ],
  [
    'timeout-as-days',
    'warning',
    '00',
    events({ ...ROOT, timeout: '24:00:00', created: at(START_MS) }),
    events({ ...ROOT, timeout: '1.00:00:00', created: at(START_MS) }),
  ],
  [
    'no-times',
    'warning',
    '00',
    events({ ...ROOT, timeout: '05:00:00' }),
    events({ ...ROOT, timeout: '05:00:00', created: at(NOW) }),
  ],
  [
    'unknown-status',
    'warning',
    '01.00',
    events(ROOT, child('01.00', { status: 'Completed' })),
    events(ROOT, child('01.00')),
  ],
  ['no-status', 'warning', '01.00', events(ROOT, child('01.00', { status: '' })), events(ROOT, child('01.00'))],
  [
    'parent-init',
    'warning',
    '01.00',
    events(ROOT, child('01.00'), child('01.01', { prev: '01.00' })),
    events(ROOT, child('01.00', { status: 'inprocess' }), child('01.01', { prev: '01.00' })),
  ],
  [
    'parent-init',
    'warning',
    '01.00',
    events(ROOT, child('01.00'), child('01.01', { prev: '01.00' })),
    // held: no event in it has begun
    events({ ...ROOT, status: 'init' }, child('01.00'), child('01.01', { prev: '01.00' })),
  ],
  [
    'parent-init',
    'warning',
    '00',
    events({ ...ROOT, status: 'init' }, child('01.00', { status: 'inprocess' })),
    // a join waits from the beginning
    events(
      { ...ROOT, status: 'init' },
      child('01.00'),
      child('01', { status: 'inprocess', 'lc:wait': 'yes', 'lc:join': 'wait' }),
    ),
  ],
  [
    'join-alone',
    'error',
    '01',
    events(ROOT, child('01', { status: 'inprocess', prev: '', 'lc:wait': 'yes', 'lc:join': 'wait' })),
    events(ROOT, child('01', { status: 'inprocess', 'lc:wait': 'yes', 'lc:join': 'wait' }), child('01.00')),
  ],
  [
    'gate-broken',
    'error',
    '02.00',
    events(ROOT, child('01.00'), child('02.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:after': '09.00' })),
    events(ROOT, child('01.00'), child('02.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:after': '01.00' })),
  ],
  [
    'gate-broken',
    'error',
    '01.00',
    events(
      ROOT,
      child('01.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:after': '02.00' }),
      child('02.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:after': '01.00' }),
    ),
    events(ROOT, child('01.00'), child('02.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:after': '01.00' })),
  ],
  [
    'gate-broken',
    'error',
    '01.00',
    events(ROOT, child('01.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:wake': 'tomorrow' })),
    events(ROOT, child('01.00', { status: 'inprocess', 'lc:wait': 'yes', 'lc:wake': '2099-01-01T00:00:00.000Z' })),
  ],
  ['session-long', 'warning', '', session(1_000), session(999)],
  [
    'settle-due',
    'info',
    '',
    events(ROOT, child('01.00', { status: 'completed' })),
    events(ROOT, child('01.00', { status: 'inprocess' })),
  ],
  [
    'settle-due',
    'warning',
    '',
    events(
      ROOT,
      child('01.00', { status: 'completed' }),
      child('01', { status: 'inprocess', 'lc:wait': 'yes', 'lc:join': 'wait' }),
    ),
    events(
      ROOT,
      child('01.00', { status: 'init' }),
      child('01', { status: 'inprocess', 'lc:wait': 'yes', 'lc:join': 'wait' }),
    ),
  ],
  [
    'open-below-final',
    'warning',
    '01.00',
    events(ROOT, child('01.00', { status: 'aborted' }), child('01.01', { prev: '01.00' })),
    events(ROOT, child('01.00', { status: 'aborted' }), child('01.01', { prev: '01.00', status: 'canceled' })),
  ],
  [
    'open-below-final',
    'warning',
    '00',
    events({ ...ROOT, status: 'completed' }, child('01.00', { prev: '' })),
    events({ ...ROOT, status: 'completed' }, child('01.00', { prev: '', status: 'completed' })),
  ],
  [
    'claim-expired',
    'warning',
    '00',
    events({ ...ROOT, 'lc:owner': 'w1', 'lc:until': at(NOW) }),
    events({ ...ROOT, 'lc:owner': 'w1', 'lc:until': at(NOW + 1) }),
  ],
  [
    'claim-unreadable',
    'warning',
    '00',
    events({ ...ROOT, 'lc:owner': 'w1', 'lc:until': 'noon' }),
    events({ ...ROOT, 'lc:owner': 'w1', 'lc:until': at(NOW) }),
  ],
  [
    'overdue',
    'warning',
    '00',
    events({ ...ROOT, created: at(START_MS), timeout: '01:59:59' }),
    events({ ...ROOT, created: at(START_MS), timeout: '02:00:01' }),
  ],
  ['sum-unknown', 'warning', '', sound().replace('lc:sum="2:', 'lc:sum="1:'), sound()],
  ['foreign-write', 'info', '', sound().replace('name="A"', 'name="Z"'), sound()],
  ['foreign', 'info', '', events(ROOT), sound()],
  ['several-journals', 'warning', '', sound().replace('<Event ', '<lc:journal/><Event '), sound()],
  ['unreadable', 'error', '', '<EventStream><Event id="00"/><Event/></EventStream>', events(ROOT)],
  ['not-started', 'info', '', '', events(ROOT)],
  ['not-started', 'info', '', '<EventStream/>', events(ROOT)],
]

test('an overdue finding states only known facts: not whether a watchdog exists', () => {
  const has = events({ ...ROOT, created: at(START_MS), timeout: '01:59:59' })
  expect(findingsOf(has).find(({ code }) => code === 'overdue')).toMatchObject({
    message: expect.stringMatching(/^its timeout \(01:59:59\) expired 1s ago and the event is still open$/),
    hint: expect.stringContaining('watchdog status'),
  })
})

test.each(CASES)('%s (%s) is found in a faulty stream and no other', (code, severity, subject, has, hasNot) => {
  expect(findingsOf(has).find(found => found.code === code && found.severity === severity)).toMatchObject({ subject })
  expect(findingsOf(hasNot).map(found => found.code)).not.toContain(code)
})

describe('metadata beside the document', () => {
  const foreign = sound().replace('name="A"', 'name="Z"')
  const noSummary = { summary: undefined } as unknown as Partial<StreamSnapshot>
  const summary = summaryOf(sound())

  test.each([
    ['large', 'warning', sound(), { size: 1024 * 1024 }, { size: 1024 * 1024 - 1 }],
    ['full', 'error', sound(), { size: 8 * 1024 * 1024 + 1 }, { size: 8 * 1024 * 1024 }],
    ['version-back', 'warning', sound(), { versionFloor: 9 }, { versionFloor: 3 }],
    ['history-lost', 'warning', events(ROOT), { versionFloor: 9 }, {}],
    ['no-summary', 'warning', sound(), noSummary, {}],
    ['no-summary', 'info', foreign, noSummary, {}],
    [
      'stale-summary',
      'warning',
      sound(),
      { summary: { ...summary, open: 9 } },
      { summary: { ...summary, lastBy: 'x' } },
    ],
    ['infinite-lease', 'warning', sound(), leased('infinite'), leased('fixed')],
  ] as const)('%s (%s)', (code, severity, text, has, hasNot) => {
    expect(find(findingsOf(text, has), code)).toMatchObject({ severity })
    expect(find(findingsOf(text, hasNot), code)).toBeUndefined()
  })

  function leased(duration: 'fixed' | 'infinite'): Partial<StreamSnapshot> {
    const holder = { by: 'ops', host: 'h', pid: 1, purpose: 'by hand', sinceMs: NOW }
    return { lease: { state: 'leased', duration, holder } }
  }

  test('a lost history is not also reported as foreign', () => {
    expect(find(findingsOf(events(ROOT), { versionFloor: 9 }), 'foreign')).toBeUndefined()
  })
})

describe('did you mean', () => {
  const timeoutFinding = (timeout: string) =>
    findingsOf(events({ ...ROOT, timeout, created: at(START_MS) })).find(({ code }) => code.startsWith('timeout-'))

  test.each([
    ['24:00:00', '1.00:00:00'],
    ['36:30:00', '1.12:30:00'],
    ['30:00', '00:30:00'],
    ['30', '00:30:00'],
    ['1d', '1.00:00:00'],
    ['5 min', '00:05:00'],
    ['1 hour, 30 minutes', '01:30:00'],
    ['1,5 h', '01:30:00'],
    ['1:06:00:00', '1.06:00:00'],
    ['00:90:00', '01:30:00'],
    ['2024-06-01', '2024-06-01T00:00:00.000Z'],
    ['6/13/2024 10:00:00 PM', '2024-06-13T22:00:00.000Z'],
  ])('%s → %s, as a command', (timeout, meant) => {
    const found = timeoutFinding(timeout)
    expect(found?.message).toContain(`Did you mean ${meant}`)
    expect(found?.command).toEqual(['event', 'set', 'orders/1', '00', '--timeout', meant])
  })

  test.each(['soon', '5 lightyears', 'P1M', '-', '99999999999d'])('%s: explains the format', timeout => {
    const found = timeoutFinding(timeout)
    expect(found).toMatchObject({ code: 'timeout-unreadable', hint: expect.stringContaining('00:05:00') })
    expect(found?.command).toBeUndefined()
  })

  test('timeouts of ended events are no longer findings', () => {
    expect(findingsOf(events({ ...ROOT, status: 'completed', timeout: '24:00:00' }), {})).not.toContainEqual(
      expect.objectContaining({ code: 'timeout-as-days' }),
    )
  })

  test.each([
    ['cancelled', 'canceled', ['cancel', 'orders/1', '-e', '01.00', '--dry-run']],
    ['done', 'completed', ['event', 'complete', 'orders/1', '01.00']],
    ['complted', 'completed', ['event', 'complete', 'orders/1', '01.00']],
    ['FAILED', 'aborted', ['event', 'fail', 'orders/1', '01.00']],
    ['In Progress', 'inprocess', undefined],
    ['Pending', 'init', undefined],
  ])('the status %s → %s', (status, meant, command) => {
    const found = find(findingsOf(events(ROOT, child('01.00', { status }))), 'unknown-status')
    expect(found?.message).toContain(`Did you mean "${meant}"?`)
    expect(found?.command).toEqual(command)
  })
})

test.each(['constructor', '__proto__', 'toString', 'zzz'])('the status %s has no similar status of ours', status => {
  const found = find(findingsOf(events(ROOT, child('01.00', { status }))), 'unknown-status')
  expect(found?.message).toBe(`the status "${status}" is not known: it counts as open`)
})

test('an unreadable document is reported with line and column, and with the command that shows it', () => {
  const [found] = findingsOf('<EventStream>\n  <Event>\n</EventStream>')
  expect(found).toMatchObject({ severity: 'error', code: 'unreadable', command: ['show', 'orders/1', '-o', 'xml'] })
  expect(found?.message).toMatch(/line 2, column 3/)
})

test('suggested commands are previews: no command ends an event directly', () => {
  const text = events(
    { ...ROOT, created: at(START_MS), timeout: '00:01:00', next: '05' },
    child('01.00', { next: '01.01' }),
    child('01.01', { prev: '01.00', next: '01.00', status: 'cancelled' }),
    child('02.00', { status: 'completed' }),
    child('02.01', { prev: '02.00' }),
  )
  const ends = findingsOf(text).flatMap(({ command }) => (/cancel|abort/.test(command?.[0] ?? '') ? [command] : []))
  expect(ends.length).toBeGreaterThan(3)
  for (const command of ends) expect(command).toContain('--dry-run')
})

test('20 findings of a kind are listed, the others counted; the worst come first', () => {
  const many = Array.from({ length: 25 }, (_, at) => child(`0${at}.00`, { status: 'odd' }))
  const found = findingsOf(events({ ...ROOT, next: 'gone' }, ...many))
  const odd = found.filter(({ code }) => code === 'unknown-status')
  expect(odd).toHaveLength(21)
  expect(odd.at(-1)).toMatchObject({ severity: 'warning', subject: '', message: '+5 more of this kind', count: 5 })
  const order = found.map(({ severity }) => ['error', 'warning', 'info'].indexOf(severity))
  expect(order).toEqual([...order].sort())
})

test('a cycle is reported once with its events; a cycle of ended events is harmless', () => {
  const ring = (status: string) =>
    events(
      ROOT,
      child('01', { next: '02', status }),
      child('02', { prev: '01', next: '03', status }),
      child('03', { prev: '02', next: '01', status }),
    )
  const [stuck, ...others] = findingsOf(ring('init')).filter(({ code }) => code === 'cycle')
  expect(stuck).toMatchObject({ severity: 'error', message: expect.stringContaining('01 02 03') })
  expect(others).toEqual([])
  expect(find(findingsOf(ring('completed')), 'cycle')).toMatchObject({ severity: 'warning' })
})

test('many events are reported from half of the limit of writing', () => {
  const ended = Array.from({ length: 9_999 }, (_, at) => child(`01.${at + 1}`, { status: 'completed' }))
  const many = (count: number) => events({ ...ROOT, status: 'completed' }, ...ended.slice(0, count))
  expect(find(findingsOf(many(9_999)), 'many-events')).toMatchObject({ severity: 'warning' })
  expect(find(findingsOf(many(99)), 'many-events')).toBeUndefined()
})

test('unusual graphs of 20 000 events are checked in time', () => {
  const count = 20_000
  const half = count / 2
  const strange = Array.from({ length: count }, (_, at) =>
    at < half
      ? child(`e${at}`, { prev: at === 0 ? '00' : `e${at - 1}`, next: `e${(at + 1) % half}`, status: 'done' })
      : child(`e${at}`, { prev: '', next: `e${half - 1}|gone`, timeout: '30' }),
  )
  const found = findingsOf(events({ ...ROOT, status: 'completed' }, ...strange))
  expect(found.length).toBeLessThan(200)
  expect(new Set(found.map(({ code }) => code))).toContain('full')
  expect(new Set(found.map(({ code }) => code))).toContain('cycle')
})

test('elements of another namespace called journal are not ours', () => {
  expect(LC_NAMESPACE).toBe('urn:leasectl:v1')
  const text = sound().replace('<Event ', '<x:journal xmlns:x="urn:x"/><Event ')
  expect(find(findingsOf(text), 'several-journals')).toBeUndefined()
})

test('a restored older copy is reported as only that', () => {
  const codes = findingsOf(sound(), { versionFloor: 9 }).map(({ code }) => code)
  expect(codes).toEqual(['version-back'])
})

test('future times are reported once, with the latest of them and all affected events', () => {
  const ahead = (ms: number) => ({ timestamp: at(NOW + ms) })
  const text = events(ROOT, child('01.00', ahead(3_600_000)), child('02.00', ahead(7_200_000)))
  const found = findingsOf(text, { modifiedMs: NOW + 600_000 }).filter(({ code }) => code === 'time-ahead')
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^timestamp of 02\.00 is 2h ahead of the store's clock \(times ahead: 01\.00 02\.00\)/),
  ])
  expect(find(findingsOf(sound(), { modifiedMs: NOW + 600_000 }), 'time-ahead')?.message).toMatch(
    /^the last write is 10m/,
  )
})
