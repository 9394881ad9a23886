import { beforeAll, describe, expect, it } from 'vitest'
import { type CheckRules, check, type Violation } from './checker.ts'
import type { EventSight, Happening } from './happenings.ts'
import { type Expiry, expiriesIn, historyOf, MUTATIONS } from './mutations.ts'
import { Random } from './random.ts'
import { live } from './world.ts'
import { SEED, WEEK } from './worlds.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const RULES: CheckRules = {
  dogs: [
    { name: 'dog-1', intervalMs: 10 * MINUTE, apartMs: 10 * MINUTE, slowness: 0 },
    { name: 'dog-2', intervalMs: 10 * MINUTE, apartMs: 10 * MINUTE, slowness: 0 },
  ],
  skewMs: 0,
  graceMs: 0,
  onDue: 'abort-event',
  endMs: DAY,
  storeMs: trueMs => trueMs,
}

describe('the checker detects violations', () => {
  /** Good histories of single streams, and an expiry in each. */
  let good: { readonly history: readonly Happening[]; readonly expiry: Expiry }[] = []
  let rules = RULES

  beforeAll(async () => {
    const { trace, rules: played, violations } = await live({ ...WEEK, tardy: 0 })
    expect(violations).toEqual([])
    rules = played
    const streams = new Set(trace.happenings.flatMap(h => ('stream' in h && h.stream !== '' ? [h.stream] : [])))
    good = [...streams].flatMap(stream => {
      const history = historyOf(trace.happenings, stream)
      return expiriesIn(history)
        .filter(({ wrote }) => wrote.atMs < rules.endMs - 3 * HOUR)
        .map(expiry => ({ history, expiry }))
    })
  }, 60_000)

  it('and reports no false alarms over one stream alone', () => {
    expect(good.length).toBeGreaterThan(20)
    expect(good.flatMap(({ history }) => check(history, rules))).toEqual([])
  })

  it.each(Object.entries(MUTATIONS))('and detects each of 150: %s', (name, mutate) => {
    const random = new Random(SEED).for(name)
    const missed: string[] = []
    for (let [at, spoiled] = [0, 0]; spoiled < 150; at++) {
      const { history, expiry } = good[at % good.length] ?? { history: [], expiry: undefined }
      const mutated = expiry && mutate(history, expiry, random)
      if (mutated === undefined) continue
      spoiled += 1
      if (check(mutated, rules).length === 0) missed.push(`${expiry?.wrote.stream} ${expiry?.entry.commandId}`)
    }
    expect(missed).toEqual([])
  })
})

describe('the checker', () => {
  const EVENT: EventSight = {
    id: '01.00',
    status: 'inprocess',
    prev: '00',
    created: iso(0),
    timestamp: iso(0),
    timeout: '01:00:00',
    onDue: '',
    opened: '',
    attempt: '1',
    join: '',
    superseded: false,
    waits: false,
    suspended: '',
  }
  const ROOT: EventSight = { ...EVENT, id: '00', prev: '', timeout: '', attempt: '' }

  const wrote = (
    atMs: number,
    more: Partial<EventSight>,
    op?: string,
    commandId = 'watchdog:01.00:1:x',
  ): Happening => ({
    kind: 'wrote',
    atMs,
    sentMs: atMs,
    who: op === 'abort' ? 'dog-1' : 'worker-0',
    stream: 's',
    events: [{ ...EVENT, timestamp: iso(atMs), ...more }],
    entries: op === undefined ? [] : [{ version: 2, by: 'x', op, on: '01.00', commandId }],
  })
  const born = (more: Partial<EventSight> = {}, root: Partial<EventSight> = {}): Happening[] => [
    { kind: 'up', atMs: 0, who: 'dog-1' },
    { kind: 'up', atMs: 0, who: 'dog-2' },
    {
      ...(wrote(0, {}) as Extract<Happening, { kind: 'wrote' }>),
      events: [
        { ...ROOT, ...root },
        { ...EVENT, ...more },
      ],
    },
  ]
  const ended = (atMs: number) => wrote(atMs, { status: 'aborted' }, 'abort')
  const kinds = (happenings: readonly Happening[], more: Partial<CheckRules> = {}) =>
    check(happenings, { ...RULES, ...more }).map(({ kind }): Violation['kind'] => kind)

  it('allows an event to be ended from its deadline on, not before', () => {
    expect(kinds([...born(), ended(HOUR)])).toEqual([])
    expect(kinds([...born(), ended(HOUR - 1)])).toEqual(['early'])
    expect(kinds([...born(), wrote(30 * MINUTE, {}), ended(90 * MINUTE - 1)])).toEqual(['early'])
    expect(kinds([...born(), ended(HOUR - 1_000)], { skewMs: 1_000 })).toEqual([])
  })

  it('counts a heartbeat from when it was sent, not from when it arrived', () => {
    const late = { ...(wrote(30 * MINUTE, {}) as Extract<Happening, { kind: 'wrote' }>), sentMs: 29 * MINUTE }
    expect(kinds([...born(), late, ended(89 * MINUTE)])).toEqual([])
  })

  it.each<[string, Partial<EventSight>, Partial<EventSight>]>([
    ['without a limit', { timeout: '' }, {}],
    ['that waits as a join', { join: 'wait' }, {}],
    ['of a held stream', {}, { status: 'init' }],
    ['that was replaced', { superseded: true }, {}],
  ])('forbids an event to be ended %s', (_, event, root) => {
    expect(kinds([...born(event, root), ended(2 * HOUR)])).toContain('early')
  })

  it('forbids an event to be ended that waits for its successors', () => {
    const below = wrote(1, { id: '01.01', prev: '01.00', timeout: '' })
    expect(kinds([...born(), below, ended(2 * HOUR)])).toEqual(['early'])
  })

  it('handles deadlines of events that were never started, of whole streams, and absolute ones', () => {
    const unstarted = { status: 'init' }
    expect(kinds([...born(unstarted), wrote(30 * MINUTE, unstarted), ended(HOUR)])).toEqual([])
    expect(kinds([...born(unstarted), ended(HOUR - 1)])).toEqual(['early'])
    expect(kinds([...born({ timeout: iso(2 * HOUR) }), ended(2 * HOUR - 1)])).toEqual(['early'])
    expect(kinds([...born({ timeout: iso(2 * HOUR) }), ended(2 * HOUR)])).toEqual([])
    expect(kinds(born({ timeout: '' }, { timeout: '01:00:00' }))).toEqual(['forgotten'])
    expect(kinds([...born({ timeout: '1.00:00:00' }), wrote(HOUR, { status: 'completed' })])).toEqual([])
  })

  it('requires due events to be ended within an interval, a lease and 2 s', () => {
    const lastMs = HOUR + 10 * MINUTE + 62_000
    expect(kinds([...born(), ended(lastMs)])).toEqual([])
    expect(kinds([...born(), ended(lastMs + 1)])).toEqual(['forgotten'])
    expect(kinds(born())).toEqual(['forgotten'])
    expect(kinds(born(), { endMs: lastMs })).toEqual([])
    expect(kinds(born({ onDue: 'notify' }))).toEqual([])
  })

  it('allows watchdogs time when all of them were dead, cut off or without an answer, and only then', () => {
    const outage = (who: string, untilMs: number): Happening => ({ kind: 'outage', atMs: HOUR, who, untilMs })
    const late = ended(3 * HOUR + 20 * MINUTE)
    expect(kinds([...born(), outage('*', 3 * HOUR), late])).toEqual([])
    expect(kinds([...born(), outage('dog-1', 3 * HOUR), late])).toEqual(['forgotten'])
    expect(kinds([...born(), outage('dog-1', 3 * HOUR), outage('dog-2', 3 * HOUR), late])).toEqual([])
    const down = (who: string): Happening => ({ kind: 'down', atMs: HOUR, who })
    expect(kinds([...born(), down('dog-1'), down('dog-2')])).toEqual([])
    expect(kinds([...born(), down('dog-1')])).toEqual(['forgotten'])
    expect(kinds([...born(), outage('*', 3 * HOUR), ended(4 * HOUR)])).toEqual(['forgotten'])
  })

  it('allows workers that could send no heartbeat for long a third of their timeout', () => {
    const outage: Happening = { kind: 'outage', atMs: HOUR, who: '*', untilMs: 3 * HOUR }
    const lastMs = 3 * HOUR + 20 * MINUTE + 20 * MINUTE + 62_000
    expect(kinds([...born(), outage, ended(lastMs)])).toEqual([])
    expect(kinds([...born(), outage, ended(lastMs + 1)])).toEqual(['forgotten'])
    expect(kinds([...born({ status: 'init' }), outage, ended(lastMs)])).toEqual(['forgotten'])
    const short = { ...outage, untilMs: HOUR + MINUTE }
    expect(kinds([...born({ timeout: '04:00:00' }), short, ended(4 * HOUR + 12 * MINUTE)])).toEqual(['forgotten'])
  })

  it('forbids a watchdog to end an event that it cannot have observed twice, an interval apart', () => {
    const up = (atMs: number): Happening => ({ kind: 'up', atMs, who: 'dog-1' })
    expect(kinds([...born(), up(HOUR - 10 * MINUTE), ended(HOUR)])).toEqual([])
    expect(kinds([...born(), up(HOUR - 9 * MINUTE), ended(HOUR)])).toEqual(['early'])
    const late = { ...(ended(HOUR + MINUTE) as Extract<Happening, { kind: 'wrote' }>), sentMs: HOUR }
    expect(kinds([...born(), up(HOUR + 1), late])).toEqual([])
    const outage = (who: string, minutes: number): Happening => ({
      kind: 'outage',
      atMs: HOUR - (minutes + 1) * MINUTE,
      who,
      untilMs: HOUR - MINUTE,
    })
    expect(kinds([...born(), outage('*', 21), ended(HOUR)])).toEqual(['early'])
    expect(kinds([...born(), outage('dog-1', 21), ended(HOUR)])).toEqual(['early'])
    expect(kinds([...born(), outage('dog-2', 21), ended(HOUR)])).toEqual([])
    expect(kinds([...born(), outage('*', 19), ended(HOUR)])).toEqual([])
  })

  it('requires one end for each attempt', () => {
    const again = wrote(2 * HOUR, { status: 'aborted' }, 'abort', 'watchdog:01.00:1:y')
    expect(kinds([...born(), ended(HOUR), again])).toContain('double')
    const retried = wrote(90 * MINUTE, { status: 'init', attempt: '2', opened: iso(90 * MINUTE) }, 'retry', 'r')
    const second = wrote(150 * MINUTE, { status: 'aborted', attempt: '2' }, 'abort', 'watchdog:01.00:2:y')
    expect(kinds([...born(), ended(HOUR), retried, second])).toEqual([])
  })

  it('requires the action that the event itself specifies', () => {
    expect(kinds([...born({ onDue: 'notify' }), ended(HOUR)])).toEqual(['wrong'])
    expect(kinds([...born({ onDue: 'abort-stream' }), ended(HOUR)])).toEqual(['wrong'])
    expect(kinds([...born(), ended(HOUR)], { onDue: 'abort-stream' })).toEqual(['wrong'])
  })

  it('allows only a retry to reopen an ended event', () => {
    expect(kinds([...born(), ended(HOUR), wrote(61 * MINUTE, {})])).toContain('resurrected')
    expect(kinds([...born(), ended(HOUR), wrote(61 * MINUTE, { attempt: '2' }, 'start', 'x')])).toContain('resurrected')
  })

  it('accepts written changes of watchdogs, once', () => {
    const told = (atMs: number): Happening => ({
      kind: 'carried',
      atMs,
      who: 'dog-1',
      stream: 's',
      event: '01.00',
      commandId: 'watchdog:01.00:1:x',
      outcome: 'ended',
    })
    expect(kinds([...born(), ended(HOUR), told(HOUR + 1)])).toEqual([])
    expect(kinds([...born(), ended(HOUR), told(HOUR + 1), told(HOUR + 2)])).toEqual(['double'])
    expect(kinds([...born(), told(HOUR + 1), wrote(HOUR + 2, { status: 'completed' })])).toEqual(['wrong'])
  })

  it('distinguishes a clock that was set from a worker without heartbeats', () => {
    const storeMs = (trueMs: number) => trueMs + (trueMs >= 30 * MINUTE ? HOUR : 0)
    const silent: Happening = { kind: 'silent', atMs: 1, who: 'worker-0', stream: 's', event: '01.00' }
    expect(kinds([...born(), ended(40 * MINUTE)], { storeMs })).toEqual(['early'])
    expect(kinds([...born(), silent, ended(40 * MINUTE)], { storeMs })).toEqual([])
    expect(kinds([...born(), silent, ended(20 * MINUTE)], { storeMs })).toEqual(['early'])
  })
})

function iso(sinceMs: number): string {
  return new Date(sinceMs).toISOString()
}
