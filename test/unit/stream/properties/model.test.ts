import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../../../src/stream/document.ts'
import { fenceOf, isSuperseded, isWaitingJoin } from '../../../../src/stream/event.ts'
import { type Applied, applyOperation } from '../../../../src/stream/operations/apply.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { pausedMs } from '../../../../src/stream/time/pauses.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../../guarantees/size.ts'
import { anInit, aScript, briefOf, MODEL_RUNS, type Step } from '../../../support/arbitraries.ts'
import { BORN, type Brief, complete, START_MS } from '../../../support/stream-builder.ts'
import { Model } from './model.ts'

const FILE = 'test/unit/stream/properties/model.test.ts'
const row = trustRow('domain')
const timeout = sized(180_000, 3_600_000)
const planted = vi.hoisted(() => ({ bug: 'none' }))

vi.mock('../../../../src/stream/operations/checks.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../../../src/stream/operations/checks.ts')>()
  const checkClaim: typeof real.checkClaim = (...given) =>
    planted.bug === 'fences' ? undefined : real.checkClaim(...given)
  return { ...real, checkClaim }
})
vi.mock('../../../../src/stream/operations/draft.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../../../src/stream/operations/draft.ts')>()
  class Draft extends real.Draft {
    override cancelBelow(position: number): number {
      return planted.bug === 'cascades' ? 0 : super.cancelBelow(position)
    }
  }
  return { ...real, Draft }
})

/** Plays a script on the code and on the model, and compares them after each step. */
function perform(init: Brief, script: readonly Step[], met: Map<string, number>): void {
  const model = new Model()
  let document: StreamDocument = EMPTY_DOCUMENT
  let nowMs = START_MS
  const play = (operation: Operation, number: number) => {
    const author = { by: 'test', commandId: `c${number}` }
    const applied = applyOperation(document, operation, author, { nowMs, versionFloor: 0, born: BORN })
    const expected = model.apply(operation, nowMs)
    const outcome = outcomeOf(applied)
    met.set(outcome, (met.get(outcome) ?? 0) + 1)
    expect(outcome).toBe(expected.kind === 'refused' ? expected.code : expected.kind)
    if (applied.kind !== 'changed' || expected.kind !== 'changed') return
    expect(applied.result.refused?.map(({ code }) => code) ?? []).toEqual(expected.refused)
    document = applied.document
    const [seen, foretold] = [
      sightOf(document),
      { version: model.version, events: model.events.map(event => modelSight(event, model.suspendedMs)) },
    ]
    // Comparing texts is quick; a difference is then reported in detail.
    if (JSON.stringify(seen) !== JSON.stringify(foretold)) expect(seen).toEqual(foretold)
  }
  play(complete(init), 0)
  script.forEach((step, at) => {
    if (step.kind === 'wait') nowMs += step.ms
    else if (step.kind === 'operation') play(complete(briefOf(step.choice, document.events)), at + 1)
  })
}

function outcomeOf(applied: Applied): string {
  return applied.kind === 'refused' ? applied.refusal.code : applied.kind
}

function sightOf({ version, events }: StreamDocument) {
  return {
    version,
    events: events.map(event => {
      const { id, status, prev, next, tag, timeout, lc } = event
      const claim = [lc.owner, fenceOf(event), lc.until === undefined ? undefined : Date.parse(lc.until), lc.attempt]
      const pauses = [pausedMs(event), lc.suspended === undefined ? undefined : Date.parse(lc.suspended)]
      return [id, status, prev, next, tag, timeout, ...claim, isWaitingJoin(event), isSuperseded(event), ...pauses]
    }),
  }
}

function modelSight(
  { id, status, prev, next, tag, timeout, ...event }: Model['events'][number],
  suspendedMs: number | undefined,
) {
  const claim = [event.owner, event.fence, event.untilMs, event.attempt?.toString()]
  const waits = event.isMarked && !['completed', 'aborted', 'canceled'].includes(status)
  const pauses = [event.pausedMs, id === '00' ? suspendedMs : undefined]
  return [id, status, prev, next.join('|'), tag, timeout, ...claim, waits, event.superseded, ...pauses]
}

function holds(numRuns: number, seed: number, met = new Map<string, number>()) {
  return fc.check(
    fc.property(anInit(), aScript('none', 12), (init, script) => perform(init, script, met)),
    { numRuns, seed },
  )
}

/** The possible outcomes of operations in a stream that only we write. */
const OUTCOMES =
  'changed unchanged already-final claimed fenced not-claimed open-successors already-advanced join-waiting not-failed held join-ran suspended not-suspended'

it('every operation changes a stream like the model of the format', { timeout }, () => {
  const seed = trustSeed(1)
  const met = new Map<string, number>()
  const { failed, numRuns, errorInstance, counterexample } = holds(MODEL_RUNS, seed, met)
  expect(failed && `${errorInstance}\n${JSON.stringify(counterexample)}\n${repeatWith(FILE, seed)}`).toBe(false)
  for (const outcome of MODEL_RUNS < 2_000 ? [] : OUTCOMES.split(' '))
    expect(met.get(outcome), outcome).toBeGreaterThan(0)
  row.figure('runs', numRuns, sized('', 'at least 20 000'))
  for (const [outcome, count] of met) row.injected(outcome, count)
})

it.each(['fences', 'cascades'])('a domain without %s is detected within a few steps', { timeout }, bug => {
  planted.bug = bug
  const { failed, counterexample } = holds(2_000, 1)
  planted.bug = 'none'
  expect(failed).toBe(true)
  expect(counterexample?.[1].length).toBeLessThan(5)
  row.control(`the domain without ${bug}`, true)
})
