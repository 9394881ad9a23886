import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { tryOperation } from '../../../../src/ops/transact/plan.ts'
import type { StreamEvent } from '../../../../src/stream/event.ts'
import { findForeignWrite } from '../../../../src/stream/journal/history.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { defined } from '../../../../src/util/defined.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../../guarantees/size.ts'
import { type Brief, complete, Play, spec } from '../../../support/stream-builder.ts'

/**
 * Sessions that forget their oldest steps (`--keep`), beside the same session that forgets nothing: its model. What stays is
 * the same in both, operations have the same outcomes, and only steps are forgotten that are completed and that nobody waits for.
 */

const FILE = 'test/unit/stream/properties/session.test.ts'
const row = trustRow('domain')
const timeout = sized(60_000, 600_000)
const RUNS = sized(50, 20_000)
const planted = vi.hoisted(() => ({ bug: 'none' }))

vi.mock('../../../../src/stream/operations/trim.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../../../src/stream/operations/trim.ts')>()
  const trimSession: typeof real.trimSession = (document, keep) => {
    if (planted.bug !== 'failures') return real.trimSession(document, keep)
    const events = document.events.map(event => (isOver(event) ? { ...event, status: 'completed' } : event))
    const trimmed = real.trimSession({ ...document, events }, keep)
    const status = (id: string) => document.events.find(event => event.id === id)?.status ?? ''
    return { ...trimmed, events: trimmed.events.map(event => ({ ...event, status: status(event.id) })) }
  }
  return { ...real, trimSession }
})
vi.mock('../../../../src/stream/event-id.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../../../src/stream/event-id.ts')>()
  const sortedById: typeof real.sortedById = (items, idOf) =>
    planted.bug === 'the order' ? [...real.sortedById(items, idOf)].reverse() : real.sortedById(items, idOf)
  return { ...real, sortedById }
})

type Move =
  | { readonly kind: 'append'; readonly seq: number; readonly keep?: number; readonly last: boolean }
  | {
      readonly kind: 'work' | 'advance' | 'fail' | 'skip' | 'retry' | 'start' | 'cancel'
      readonly which: number
    }
  | { readonly kind: 'end' | 'suspend' | 'resume' | 'again' }

const WORK = Array.from({ length: 12 }, () => 'work' as const)

const ofKind = <Kind extends string>(...kinds: readonly Kind[]) => fc.constantFrom(...kinds)

const aMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: anAppend() },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: ofKind(...WORK, 'advance', 'fail', 'skip', 'skip', 'retry', 'start', 'cancel'),
      which: fc.nat(20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: ofKind('end', 'suspend', 'resume', 'resume', 'again') }) },
)

function anAppend(): fc.Arbitrary<Move> {
  const keep = fc.constantFrom(1, 1, 2, undefined)
  const [seq, last] = [fc.integer({ min: 1, max: 12 }), fc.nat(60).map(n => n === 0)]
  return fc.record({ seq, keep, last }).map(({ keep, ...move }) => ({ kind: 'append', ...move, ...defined({ keep }) }))
}

type OnEvent = Extract<Move, { readonly which: number }>['kind']

function isFor(kind: OnEvent, { status, lc }: StreamEvent): boolean {
  if (kind === 'skip' || kind === 'retry') return isOver({ status }) && status !== 'completed'
  return status === 'init' || lc.owner !== undefined
}

function operationOn(event: string, kind: OnEvent): Brief {
  switch (kind) {
    case 'work':
      return { op: 'complete', event, owner: 'w1' }
    case 'advance':
      return { op: 'advance', event, owner: 'w1', forks: [spec('Part')] }
    case 'fail':
      return { op: 'fail', event, owner: 'w1' }
    case 'start':
      return { op: 'start', event }
    default:
      return { op: kind, event }
  }
}

/** A session that forgets, and its twin that does not. */
class Twins {
  readonly forgetful = new Play()
  readonly whole = new Play()
  readonly met = new Map<string, number>()
  readonly #isNumbered: boolean
  #commands = 0
  #trims = 0
  #dropped = 0

  constructor(isNumbered: boolean) {
    this.#isNumbered = isNumbered
    this.#both({ op: 'init', root: spec('Session'), session: true })
  }

  move(move: Move): void {
    const brief = this.#briefOf(move)
    if (brief !== undefined) this.#both(brief)
  }

  /** Works and skips until nothing is open. */
  finish(): void {
    this.#both({ op: 'resume' })
    for (let round = 0; round < 200; round++) {
      const { stream } = this.forgetful
      const next = stream.events.find((event, at) => at > 0 && (event.status === 'init' || stream.blocks(at)))
      if (next === undefined) break
      this.#both(next.status === 'init' ? { op: 'complete', event: next.id } : { op: 'skip', event: next.id })
    }
  }

  #briefOf(move: Move): Brief | undefined {
    const { events } = this.forgetful.document
    // Below the root, and not the end of the session: operators name what they see.
    const seen = events.filter(({ id }) => id !== '00' && id !== '01.00')
    switch (move.kind) {
      case 'append': {
        const { seq, keep, last } = move
        const more = { ...(keep !== undefined && { keep }), ...(last && { last }), ...(this.#isNumbered && { seq }) }
        return { op: 'append', step: spec('Step'), ...more }
      }
      case 'end':
        return { op: 'signal', name: 'end' }
      case 'suspend':
      case 'resume':
        return { op: move.kind }
      case 'again':
        return { op: 'retry' }
      default: {
        // Mostly one that the operation is for.
        const apt = seen.filter(event => isFor(move.kind, event))
        const event = (move.which % 5 === 0 ? seen : apt)[move.which % Math.max(1, apt.length)]?.id
        return event === undefined ? undefined : operationOn(event, move.kind)
      }
    }
  }

  #both(brief: Brief): void {
    const operation = complete(brief)
    const commandId = `c${this.#commands++}`
    const { keep, ...rest } = operation.op === 'append' ? operation : { ...operation, keep: undefined }
    const before = this.forgetful.document
    const outcome = applied(this.forgetful, operation, commandId)
    expect(outcome, `${commandId} ${JSON.stringify(brief)}`).toBe(applied(this.whole, rest as Operation, commandId))
    this.met.set(`${operation.op} ${outcome}`, (this.met.get(`${operation.op} ${outcome}`) ?? 0) + 1)
    if (outcome !== 'changed') return
    const gone = before.events.filter(({ id }) => this.forgetful.stream.find(id) === undefined)
    if (gone.length > 0) this.#expectForgettable(gone, keep ?? 0)
    this.#expectSame(gone.length > 0)
  }

  /** What was dropped is completed, and nobody waits for it; what stays is the end of the session. */
  #expectForgettable(gone: readonly StreamEvent[], keep: number): void {
    this.met.set('trimmed', (this.met.get('trimmed') ?? 0) + 1)
    this.#trims += 1
    this.#dropped += gone.filter(({ prev }) => prev === '00').length
    const { events } = this.whole.document
    const awaited = new Set(events.flatMap(event => (isOver(event) ? [] : (event.lc.after?.split('|') ?? []))))
    const ids = new Set(gone.map(({ id }) => id))
    for (const { id } of gone) {
      const found = this.whole.event(id)
      expect([id, found.status, awaited.has(id)]).toEqual([id, 'completed', false])
    }
    expect(ids.has('01.00') || ids.has(events[0]?.lc.appended ?? '')).toBe(false)
    // With everything below them.
    expect(events.filter(({ id, prev }) => ids.has(prev) && !ids.has(id) && this.forgetful.stream.find(id))).toEqual([])
    const stays = (event: StreamEvent) =>
      event.prev === '00' && event.status === 'completed' && this.forgetful.stream.find(event.id) !== undefined
    const kept = events.filter(event => stays(event) && event.id !== '01.00').map(({ id }) => id)
    expect(kept.length).toBeGreaterThanOrEqual(keep)
    const newest =
      gone
        .filter(({ prev }) => prev === '00')
        .map(({ id }) => id)
        .toSorted()
        .at(-1) ?? ''
    expect(kept.filter(id => id > newest).length).toBeGreaterThanOrEqual(keep)
  }

  #expectSame(isTrimmed: boolean): void {
    const { forgetful, whole } = this
    const kept = new Set(forgetful.document.events.map(({ id }) => id))
    const seen = forgetful.document.events.map(event => sightOf(event, kept))
    const foretold = whole.document.events.filter(({ id }) => kept.has(id)).map(event => sightOf(event, kept))
    if (JSON.stringify(seen) !== JSON.stringify(foretold)) expect(seen).toEqual(foretold)
    expect(forgetful.document.version).toBe(whole.document.version + this.#trims)
    expect(findForeignWrite(forgetful.document, forgetful.document.version)).toBeUndefined()
    const journal = forgetful.journal
    expect(historyOf(journal, kept).join('\n')).toBe(historyOf(whole.journal, kept).join('\n'))
    expect(journal.every(({ version }, at) => version > (journal[at - 1]?.version ?? 0))).toBe(true)
    const trims = journal.filter(({ op }) => op === 'trim').map(({ why }) => why)
    expect(trims).toEqual(this.#trims > 0 ? [`${this.#dropped} steps dropped so far`] : [])
    if (isTrimmed) expect(journal.at(-1)?.op).toBe('trim')
  }
}

/** Applies an operation as a transaction does; the result is written and read again. */
function applied(play: Play, operation: Operation, commandId: string): string {
  const { document, nowMs } = play
  const current = { body: new Uint8Array(), versionFloor: document.version }
  const result = tryOperation(operation, { by: 'test', commandId }, document, current, nowMs)
  if (result.kind === 'failed') throw result.error
  if (result.kind === 'changed') play.load(writeDocument(result.document).text)
  return result.kind === 'refused' ? result.refusal.code : result.kind
}

const isOver = ({ status }: Pick<StreamEvent, 'status'>) => ['completed', 'aborted', 'canceled'].includes(status)

/** An event but for its fence and times, which count versions and are the same otherwise; with the successors that stay. */
function sightOf(event: StreamEvent, kept: ReadonlySet<string>) {
  const { id, name, status, prev, next, lc } = event
  const { fence: _, ...rest } = lc
  return { id, name, status, prev, next: next.split('|').filter(id => kept.has(id)), lc: rest }
}

/** The changes of events that stay, but for the gate of the session's end, which moves with each step. */
function historyOf(journal: Play['journal'], kept: ReadonlySet<string>): string[] {
  return journal.flatMap(({ op, commandId, changes }) =>
    changes
      .filter(({ event, attr }) => kept.has(event) && event !== '01.00' && event !== '00' && attr === undefined)
      .map(({ event, from, to, how }) => `${commandId} ${op} ${event} ${from} ${to} ${how}`),
  )
}

function holds(seed: number, met = new Map<string, number>(), endOnFailure = false) {
  const script = fc.array(aMove, { minLength: 10, maxLength: 40 })
  const property = fc.property(fc.boolean(), script, (isNumbered, moves) => {
    const twins = new Twins(isNumbered)
    for (const move of moves) twins.move(move)
    twins.finish()
    for (const [outcome, times] of twins.met) met.set(outcome, (met.get(outcome) ?? 0) + times)
  })
  return fc.check(property, { numRuns: RUNS, seed, endOnFailure })
}

it('a session that forgets its oldest steps goes on like one that forgets nothing', { timeout }, () => {
  const seed = trustSeed(1)
  const met = new Map<string, number>()
  const { failed, errorInstance, counterexample } = holds(seed, met)
  expect(failed && `${errorInstance}\n${JSON.stringify(counterexample)}\n${repeatWith(FILE, seed)}`).toBe(false)
  for (const reached of ['trimmed', 'skip changed', 'retry changed', 'append step-taken', 'append session-ended'])
    expect(met.get(reached), reached).toBeGreaterThan(0)
  row.injected('steps dropped from sessions', met.get('trimmed') ?? 0)
})

it.each(['failures', 'the order'])('a session that forgets without regard to %s is detected', { timeout }, bug => {
  planted.bug = bug
  const { failed } = holds(1, new Map(), true)
  planted.bug = 'none'
  expect(failed).toBe(true)
  row.control(`sessions forget without regard to ${bug}`, failed)
})
