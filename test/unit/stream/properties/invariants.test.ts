import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StreamDocument } from '../../../../src/stream/document.ts'
import { attemptOf, isFinal, isSuperseded, isWaitingJoin } from '../../../../src/stream/event.ts'
import { EventStream } from '../../../../src/stream/event-stream.ts'
import { sumOf } from '../../../../src/stream/fingerprint.ts'
import { declaredGates, eventsThatRan, replayStatuses } from '../../../../src/stream/journal/history.ts'
import { sized } from '../../../guarantees/size.ts'
import { anInit, aProcess, aProcessScript, aScript, RUNS } from '../../../support/arbitraries.ts'
import { legacyFaults } from '../../../support/xelement.ts'
import { type Check, perform } from './perform.ts'

const timeout = sized(120_000, 4 * 3_600_000)

/** Open events below a final one. */
function leftovers(document: StreamDocument): Set<string> {
  const stream = new EventStream(document.events)
  const open = document.events.filter((event, at) => !isFinal(event) && stream.finalAncestor(at) !== undefined)
  return new Set(open.map(event => event.id))
}

/** The invariants after each of our writes, each with the name that a failure prints. */
const RULES: Record<string, Check> = {
  'what is final changes by retry only': (before, play, { op }) => {
    if (op === 'retry') return
    for (const event of before.events) if (isFinal(event)) expect(play.status(event.id)).toBe(event.status)
  },

  'nothing open is left below what we end': (before, play) => {
    const known = leftovers(before)
    for (const id of leftovers(play.document)) expect(known).toContain(id)
  },

  'nothing more can close, no join can be released, no summary is missing': (_, play) => {
    expect(play.apply({ op: 'settle' })).toMatchObject({ kind: 'unchanged', result: { outcome: 'already' } })
  },

  'a join is released once for each time it waits': (_, play, __, { joined }) => {
    for (const id of joined) expect(isWaitingJoin(play.event(id))).toBe(false)
    const waits = new Map<string, boolean>()
    for (const { op, changes } of play.journal) {
      for (const { event, how, to } of changes) {
        if (op === 'set') continue
        if (how === 'join' && to === 'init') expect(waits.get(event)).toBe(true)
        waits.set(event, to === 'inprocess' && (how === 'add' || op === 'retry'))
      }
    }
  },

  'a join is released when the branches it waits for have ended, not before': (_, play, { op }, { joined }) => {
    // An advance may add a branch in the transaction whose settling released the join.
    if (op === 'advance') return
    for (const id of joined) {
      const fork = play.event(play.event(id).prev)
      const others = play.stream.successors(fork).events.filter(event => event.id !== id && !isWaitingJoin(event))
      expect(others.filter(event => !isFinal(event))).toEqual([])
    }
  },

  'a join that never ran waits beside a branch that is retried': (_, play, { op }, { changed }) => {
    if (op !== 'retry') return
    const ran = eventsThatRan(play.journal)
    const joins = [...declaredGates(play.journal).keys()].filter(id => !ran.has(id)).map(id => play.event(id))
    const reopened = changed.filter(({ id, how }) => how !== 'join' && !isFinal(play.event(id)))
    for (const { prev, id } of reopened.map(change => play.event(change.id))) {
      const beside = joins.filter(join => join.prev === prev && join.id !== id && !isSuperseded(join))
      for (const join of beside) expect(isWaitingJoin(join)).toBe(true)
    }
  },

  'the journal replayed gives the statuses as they are': (_, play) => {
    const statuses = new Map(play.document.events.map(event => [event.id, event.status]))
    expect(replayStatuses(play.journal)).toEqual(statuses)
  },

  'versions grow by one with each entry, heartbeats keep them': (before, play, { op }, { version }) => {
    expect(play.document.version).toBe(version)
    if (op !== 'touch') expect(version).toBeGreaterThan(before.version)
    expect(play.journal.map(tx => tx.version)).toEqual(play.journal.map((_, at) => at + 1))
    expect(play.journal.at(-1)?.version).toBe(version)
  },

  'every document written survives the .NET library and carries the sum of its events': (_, play) => {
    expect(legacyFaults(play.text)).toEqual([])
    expect(play.document.sum).toBe(sumOf(play.document.events))
  },
}

/** An attempt ends once per incarnation of a stream. */
function endings(): Check {
  const ended = new Set<string>()
  return (before, play, _, { changed }) => {
    const last = new Map(changed.map(change => [change.id, change]))
    for (const { id, to } of last.values()) {
      if (!isFinal({ status: to }) || before.events.find(event => event.id === id)?.status === to) continue
      const attempt = `${id} ${attemptOf(play.event(id))}`
      expect(ended).not.toContain(attempt)
      ended.add(attempt)
    }
  }
}

/** One play for all invariants: playing costs more than checking. */
it.each(['none', 'kept', 'dropped'] as const)(
  'with foreign writers: %s, each of our writes keeps the invariants',
  foreign => {
    fc.assert(
      fc.property(anInit(), aScript(foreign), (init, script) => {
        const rules = Object.entries({ ...RULES, 'an attempt ends once': endings() })
        perform(init, script, (...written) => {
          for (const [name, check] of rules) named(name, () => check(...written))
        })
      }),
      { numRuns: RUNS * sized(1, 100) },
    )
  },
  timeout,
)

/** In a process, a join or gate may open for other reasons: these rules hold there too. */
const PROCESS_RULES = [
  'what is final changes by retry only',
  'nothing open is left below what we end',
  'nothing more can close, no join can be released, no summary is missing',
  'the journal replayed gives the statuses as they are',
  'versions grow by one with each entry, heartbeats keep them',
  'every document written survives the .NET library and carries the sum of its events',
]

it.each(['none', 'kept', 'dropped'] as const)(
  'with plans, policies and foreign writers: %s, each of our writes keeps the invariants',
  foreign => {
    fc.assert(
      fc.property(aProcess(), aProcessScript(foreign), (init, script) => {
        const rules = Object.entries({ ...RULES, 'an attempt ends once': endings() }).filter(
          ([name]) => PROCESS_RULES.includes(name) || name === 'an attempt ends once',
        )
        perform(init, script, (...written) => {
          for (const [name, check] of rules) named(name, () => check(...written))
        })
      }),
      { numRuns: RUNS * sized(1, 100) },
    )
  },
  timeout,
)

function named(rule: string, check: () => void): void {
  try {
    check()
  } catch (error) {
    throw new Error(rule, { cause: error })
  }
}
