import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StreamDocument } from '../../../src/stream/document.ts'
import { attemptOf, isFinal, isSuperseded, isWaitingJoin } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { declaredJoins, eventsThatRan, replayStatuses } from '../../../src/stream/history.ts'
import type { ChangeResult } from '../../../src/stream/operation.ts'
import { restoreDropped } from '../../../src/stream/restore.ts'
import { sumOf } from '../../../src/stream/sum.ts'
import { anInit, aScript, briefOf, RUNS, type Step } from '../../support/arbitraries.ts'
import { type Brief, Play } from '../../support/stream-builder.ts'
import { legacyFaults } from '../../support/xelement.ts'
import { sized } from '../../trust/size.ts'

type Check = (before: StreamDocument, play: Play, given: Brief, result: ChangeResult) => void

/** Plays a script and looks at every write of ours. */
function perform(init: Brief, script: readonly Step[], check: Check): Play {
  const play = new Play()
  play.do(init)
  for (const step of script) {
    if (step.kind === 'wait') play.wait(step.ms)
    else if (step.kind === 'legacy') legacyStep(play, step)
    else {
      const given = briefOf(step.choice, play.document.events)
      const before = freeze(play.document)
      const applied = play.apply(given)
      if (applied.kind === 'changed') check(before, play, given, applied.result)
    }
  }
  return play
}

function legacyStep(play: Play, { which, status, rebuild }: Extract<Step, { kind: 'legacy' }>): void {
  const open = play.document.events.filter(event => !isFinal(event))
  const target = open[which % Math.max(1, open.length)]
  if (target === undefined || (status === 'inprocess' && target.status !== 'init')) return
  play.legacy(stream => stream.setStatus(target.id, status), { rebuildEvents: rebuild })
}

function freeze(document: StreamDocument): StreamDocument {
  for (const event of document.events) {
    Object.freeze(event.lc)
    Object.freeze(event)
  }
  Object.freeze(document.events)
  return Object.freeze(document)
}

/** Open events that stand below a final one. */
function leftovers(document: StreamDocument): Set<string> {
  const stream = new EventStream(document.events)
  const open = document.events.filter((event, at) => !isFinal(event) && stream.finalAncestor(at) !== undefined)
  return new Set(open.map(event => event.id))
}

/** What has to be true after every write of ours; each by its name, which a failure tells. */
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
    const joins = [...declaredJoins(play.journal)].filter(id => !ran.has(id)).map(id => play.event(id))
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

/** An attempt ends once in the life of a stream. */
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

/** One play for all rules: to play costs more than to look. */
it.each(['none', 'kept', 'dropped'] as const)(
  'with foreign writers: %s, every write of ours keeps the rules',
  foreign => {
    fc.assert(
      fc.property(anInit(), aScript(foreign), (init, script) => {
        const rules = Object.entries({ ...RULES, 'an attempt ends once': endings() })
        perform(init, script, (...written) => {
          for (const [name, check] of rules) named(name, () => check(...written))
        })
      }),
      { numRuns: RUNS * sized(3, 100) },
    )
  },
)

function named(rule: string, check: () => void): void {
  try {
    check()
  } catch (error) {
    throw new Error(rule, { cause: error })
  }
}

describe('applyOperation', () => {
  const ARGUMENTS = { by: 'test', commandId: 'once' }

  it('is a function: the same input gives the same output, which is read back as it was', () => {
    fc.assert(
      fc.property(anInit(), aScript('dropped'), aScript('none', 1), (init, script, [last]) => {
        const play = perform(init, script, () => {})
        if (last?.kind !== 'operation') return
        const document = freeze(play.document)
        const given = briefOf(last.choice, document.events)
        const first = play.apply(given, { commandId: 'once' })
        const again = new Play(play.text)
        again.document = document
        again.nowMs = play.nowMs
        expect(again.apply(given, { commandId: 'once' })).toEqual(first)
        if (first.kind !== 'changed') return
        const { sum: _, ...written } = play.document
        const { sum: __, ...made } = first.document
        expect(written).toEqual({ ...made, attributes: written.attributes })
      }),
      { numRuns: RUNS },
    )
  })

  it('repeated with the same command id changes nothing and gives the first result', () => {
    fc.assert(
      fc.property(anInit(), aScript('kept'), aScript('none', 1), (init, script, [last]) => {
        const play = perform(init, script, () => {})
        if (last?.kind !== 'operation') return
        const given = briefOf(last.choice, play.document.events)
        const first = play.apply(given, ARGUMENTS)
        if (first.kind !== 'changed' || given.op === 'touch') return
        const again = play.do(given, ARGUMENTS)
        const { refused: _, claim, ...result } = first.result
        expect(again).toMatchObject({ ...result, outcome: 'already', duplicate: true })
        expect(again.claim).toEqual(given.op === 'start' ? claim : undefined)
      }),
      { numRuns: RUNS },
    )
  })

  it('finds in the journal what the document says of claims, joins and retries', () => {
    fc.assert(
      fc.property(anInit(), aScript('kept', 40), (init, script) => {
        perform(init, script, (_, play) => {
          expect(restoreDropped(play.document.events, play.journal)).toBe(play.document.events)
        })
      }),
      { numRuns: RUNS },
    )
  })

  it('loses nothing that matters to a writer that drops our attributes', () => {
    fc.assert(
      fc.property(anInit(), aScript('kept', 40), fc.nat(40), (init, script, which) => {
        const play = perform(init, script, () => {})
        play.wait(86_400_000)
        const [kept, dropped] = [false, true].map(rebuild => {
          const other = new Play(play.text)
          other.nowMs = play.nowMs
          legacyStep(other, { kind: 'legacy', which, status: 'completed', rebuild })
          other.apply({ op: 'settle' }, { commandId: 'last' })
          return other.document.events.map(({ id, status, lc }) => {
            const { owner, fence, attempt, join, opened, superseded } = lc
            // Whose claim a foreign writer ended over is of no consequence.
            const claim = isFinal({ status }) ? {} : { owner, fence }
            return { id, status, ...claim, attempt, join, opened, superseded }
          })
        })
        expect(dropped).toEqual(kept)
      }),
      { numRuns: RUNS },
    )
  })
})
