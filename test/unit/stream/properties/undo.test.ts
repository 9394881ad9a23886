import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isFinal, isSuperseded, type StreamEvent } from '../../../../src/stream/event.ts'
import type { StepSpec } from '../../../../src/stream/operations/operation.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { sized } from '../../../guarantees/size.ts'
import { RUNS } from '../../../support/arbitraries.ts'
import { BORN, type Brief, Play, spec } from '../../../support/stream-builder.ts'

const HOUR = 3_600_000
const timeout = sized(120_000, 4 * HOUR)

interface Turn {
  readonly what: 'start' | 'complete' | 'advance' | 'fail' | 'transient' | 'release' | 'die' | 'cancel-event'
  readonly which: number
}

interface Story {
  readonly plan: readonly StepSpec[]
  readonly turns: readonly Turn[]
  /** How the stream is ended as a whole if nothing has failed by then. */
  readonly end: 'none' | 'cancel' | 'abort'
  /** Which undo steps fail the first time, by turn. */
  readonly undoFails: readonly boolean[]
  readonly isForced: boolean
  /** Another writer drops our attributes after each turn. */
  readonly drops: boolean
}

const aStory = (): fc.Arbitrary<Story> =>
  fc.record({
    plan: fc
      .array(
        fc.record({
          thread: fc.nat(2),
          needs: fc.array(fc.nat(9), { maxLength: 2 }),
          undo: fc.nat(3),
          retry: fc.boolean(),
        }),
        { minLength: 1, maxLength: 7 },
      )
      .map(steps =>
        steps.map(({ needs, undo, retry }, at) => ({
          ...spec(`S${at}`, {
            ...(undo === 0 ? {} : { undo: `Undo${at}`, key: `k${at}` }),
            ...(retry ? { retry: '2 1s..2s' } : {}),
          }),
          thread: at,
          needs: at === 0 ? [] : [...new Set(needs.map(need => need % at))],
        })),
      ),
    turns: fc.array(
      fc.record({
        what: fc.constantFrom(
          'start' as const,
          'start' as const,
          'complete' as const,
          'complete' as const,
          'advance' as const,
          'fail' as const,
          'transient' as const,
          'release' as const,
          'die' as const,
          'cancel-event' as const,
        ),
        which: fc.nat(20),
      }),
      { maxLength: 25 },
    ),
    end: fc.constantFrom('none' as const, 'cancel' as const, 'abort' as const),
    undoFails: fc.array(fc.boolean(), { maxLength: 8 }),
    isForced: fc.boolean(),
    drops: fc.boolean(),
  })

/** What the workers did, as they would tell it: independent of the journal. */
class Told {
  /** Number of the last claim, and of the report that the own work was done, by event. */
  readonly claimed = new Map<string, number>()
  readonly done = new Map<string, number>()
  #count = 0

  claim(id: string): void {
    this.claimed.set(id, ++this.#count)
  }

  finish(id: string): void {
    this.done.set(id, ++this.#count)
  }

  isUnsure(id: string): boolean {
    return (this.claimed.get(id) ?? 0) > (this.done.get(id) ?? 0)
  }
}

const open = (play: Play) => play.document.events.filter(event => !isFinal(event) && !isSuperseded(event))
const isUndoStep = (event: StreamEvent) => event.lc.undoes !== undefined && event.name !== 'Undo'

function tryTo(play: Play, brief: Brief): boolean {
  const applied = play.apply(brief)
  // As a store does: an event without attempts left is failed in spite of the refusal.
  if (applied.kind === 'refused' && applied.document !== undefined) {
    const { text } = writeDocument(applied.document)
    play.edit(() => text)
  }
  return applied.kind === 'changed'
}

function takeTurn(play: Play, { what, which }: Turn, told: Told): void {
  const events = open(play).filter(event => event.id !== '00' && !event.name.startsWith('Undo'))
  const event = events[which % Math.max(1, events.length)]
  if (event === undefined) return
  const { id } = event
  const worker = { event: id, owner: 'w1' }
  const isAtWork = event.lc.owner === 'w1'
  if (what === 'die') play.wait(HOUR)
  else if (what === 'start') {
    if (tryTo(play, { op: 'start', ...worker }) && play.event(id).lc.owner !== undefined) told.claim(id)
  } else if (what === 'cancel-event') tryTo(play, { op: 'cancel', event: id })
  else if (!isAtWork) return
  else if (what === 'complete') {
    if (tryTo(play, { op: 'complete', ...worker })) told.finish(id)
  } else if (what === 'advance') {
    const forks = [spec('Sub', { undo: 'UndoSub' })]
    if (tryTo(play, { op: 'advance', ...worker, forks })) told.finish(id)
  } else if (what === 'fail') tryTo(play, { op: 'fail', ...worker, msg: 'boom' })
  else if (what === 'transient') tryTo(play, { op: 'fail', ...worker, msg: '503', transient: true })
  else tryTo(play, { op: 'release', ...worker })
}

/** Workers do what is left, and undo steps fail as the story says, until nothing is open. */
function finish(play: Play, story: Story, told: Told, undone: string[]): void {
  let fails = 0
  let isForced = !story.isForced
  for (let round = 0; open(play).length > 0; round++) {
    expect(round, 'the stream ends').toBeLessThan(100)
    play.wait(HOUR).apply({ op: 'settle' })
    for (const { id } of open(play)) {
      const event = play.event(id)
      if (isFinal(event) || !tryTo(play, { op: 'start', event: id, owner: 'w2' })) continue
      if (play.event(id).lc.owner !== 'w2') continue
      if (!isUndoStep(event)) {
        told.claim(id)
        if (tryTo(play, { op: 'complete', event: id, owner: 'w2' })) told.finish(id)
        continue
      }
      if (!isForced && undone.length > 0) {
        isForced = true
        play.do({ op: 'abort', msg: 'by force' })
        break
      }
      const isFailing = story.undoFails[fails++] ?? false
      play.do({ op: isFailing ? 'fail' : 'complete', event: id, owner: 'w2' })
      if (!isFailing) undone.push(event.lc.undoes ?? '')
    }
    const { lc } = play.event('00')
    if (open(play).length === 0 && lc.outcome === 'compensation-failed') {
      expect(lc.failed).not.toBe('')
      play.do({ op: 'retry' })
    }
  }
}

it(
  'every step whose effect may exist is undone exactly once, after everything that followed it',
  () => {
    const met = { compensated: 0, unsure: 0, failed: 0, completed: 0 }
    fc.assert(
      fc.property(aStory(), story => {
        const play = new Play()
        const [told, undone] = [new Told(), [] as string[]]
        play.do({
          op: 'init',
          root: spec('R'),
          forks: [],
          steps: story.plan,
          hold: false,
          born: BORN,
          onFailure: 'compensate',
        })
        for (const turn of story.turns) {
          takeTurn(play, turn, told)
          if (story.drops && play.text.includes(' lc:undo='))
            play.edit(text =>
              text.replaceAll(/ lc:(undo|undoes|unsure|wait|after|outcome|ending|onFailure)="[^"]*"/g, ''),
            )
        }
        play.apply({ op: 'settle' })
        if (story.end !== 'none' && play.event('00').lc.outcome === undefined)
          play.apply({ op: story.end, msg: 'as a whole' })
        const began = play.event('00').lc.outcome
        const sequence = play.document.events.filter(isUndoStep)
        finish(play, story, told, undone)

        const root = play.event('00')
        expect(open(play)).toEqual([])
        expect(isFinal(root)).toBe(true)
        // What the last turns of the workers brought about.
        const ended = play.document.events.filter(isUndoStep)
        const wanted = play.document.events.filter(event => {
          return event.lc.undo !== undefined && (told.claimed.has(event.id) || told.done.has(event.id))
        })
        if (root.status === 'completed') {
          met.completed++
          expect(ended).toEqual([])
          return
        }
        expect(root.lc.outcome).toBe('compensated')
        expect(began === 'compensating' || began === 'compensated' || sequence.length === 0).toBe(true)
        expect(ended.map(({ lc }) => lc.undoes).sort()).toEqual(wanted.map(({ id }) => id).sort())
        const order = wanted
          .map(({ id }) => ({
            id,
            isUnsure: told.isUnsure(id),
            at: told.isUnsure(id) ? told.claimed.get(id) : told.done.get(id),
          }))
          .sort((a, b) => Number(b.isUnsure) - Number(a.isUnsure) || (b.at ?? 0) - (a.at ?? 0))
        expect(ended.map(({ lc }) => [lc.undoes, lc.unsure === 'yes'])).toEqual(
          order.map(({ id, isUnsure }) => [id, isUnsure]),
        )
        expect(new Set(undone).size).toBe(undone.length)
        expect([...undone].sort()).toEqual(wanted.map(({ id }) => id).sort())
        // Without a failure in between they are undone in exactly this order.
        if (!story.undoFails.includes(true) && !story.isForced) expect(undone).toEqual(order.map(({ id }) => id))
        for (const { ref, name, key, lc } of ended) {
          const step = play.event(lc.undoes ?? '')
          expect([ref, name, key]).toEqual([step.id, step.lc.undo, step.key])
        }
        met.compensated++
        met.unsure += order.filter(({ isUnsure }) => isUnsure).length
        met.failed += Number(story.undoFails.includes(true))
      }),
      { numRuns: RUNS * sized(2, 100) },
    )
    for (const [what, times] of Object.entries(met)) expect(times, what).toBeGreaterThan(5)
  },
  timeout,
)
