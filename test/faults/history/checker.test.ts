import { expect, test } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { Random } from '../../simulation/random.ts'
import { check, RULES, type RuleName } from './checker.ts'
import { goodHistory, type History } from './good-histories.ts'
import { type Call, isOpen, type Told } from './history.ts'
import { MUTATIONS } from './mutations.ts'

const { figure, control, injected } = trustRow('checker')
const SEED = trustSeed(1)
const REPEAT = repeatWith('test/faults/history/checker.test.ts', SEED)
const MUTANTS = sized(1_000, 20_000)
const KINDS = Object.entries(MUTATIONS)

const histories = Array.from({ length: MUTANTS }, (_, at) => goodHistory(new Random(`${SEED}/${at}`)))
const mutants = KINDS.flatMap(([kind], at) => mutantsOf(kind, Math.ceil((MUTANTS - at) / KINDS.length)))

interface Mutant {
  readonly kind: string
  readonly history: History
  /** The history it was derived from. */
  readonly of: number
}

function mutantsOf(kind: string, count: number): Mutant[] {
  const mutate = MUTATIONS[kind as keyof typeof MUTATIONS]
  const found: Mutant[] = []
  for (let of = 0; found.length < count; of = (of + 1) % histories.length) {
    const history = histories[of]
    const mutated = history && mutate(history, new Random(`${SEED}/${kind}/${found.length}/${of}`))
    if (mutated !== undefined) found.push({ kind, history: mutated, of })
  }
  return found
}

/** The rules that each of them breaks. */
const broken = mutants.map(({ history: { calls, streams } }) => {
  return new Set(check(calls, streams).violations.map(({ rule }) => rule))
})

test('the checker of histories accepts all good ones, and determines the outcome of every change', () => {
  const verdicts = histories.map(({ calls, streams }) => check(calls, streams))
  const alarms = verdicts.flatMap(({ violations, unresolved }, of) =>
    [...violations, ...unresolved].map(what => ({ of, what })),
  )
  figure('false alarms', alarms.length, `0 in ${histories.length}`)
  expect(alarms, REPEAT).toEqual([])
  expect(verdicts.reduce((sum, { made }) => sum + made, 0)).toBeGreaterThan(10 * histories.length)
})

test('the checker of histories detects every corrupted one', () => {
  const missed = mutants.filter((_, at) => broken[at]?.size === 0).map(({ kind, of }) => `${kind} in history ${of}`)
  figure('mutants caught', mutants.length - missed.length, `${mutants.length} of ${mutants.length}`)
  for (const [kind] of KINDS) injected(kind, mutants.filter(mutant => mutant.kind === kind).length)
  expect(mutants).toHaveLength(MUTANTS)
  expect(missed, REPEAT).toEqual([])
})

test.each(Object.keys(RULES) as RuleName[])('without the rule %s the checker misses some', rule => {
  const missed = broken.filter(rules => rules.size === 1 && rules.has(rule)).length
  control(`without the rule against what is ${rule}`, missed > 0)
  expect(missed, REPEAT).toBeGreaterThan(0)
})

/** For a stream with one change, whose removal returned `unknown`. */
const changed: Call = {
  stream: 's',
  asked: { what: 'change', id: 'a', born: 'a' },
  fromUs: 1,
  toUs: 2,
  told: { kind: 'done', version: 1 },
}
const remove = { what: 'remove', born: 'a', journal: [{ version: 1, id: 'a' }], etag: '1' } as const
const removal: Call = { stream: 's', asked: remove, fromUs: 3, toUs: 4, told: { kind: 'unknown' } }
const again: Call = { stream: 's', asked: { what: 'change', id: 'b', born: 'a' }, fromUs: 5 }
const changedMeanwhile: Told = { kind: 'not-made', why: 'changed' }
const lastTold = (told: Told, etag = '1'): Call => {
  return { ...removal, asked: { ...remove, etag, last: true }, fromUs: 5, toUs: 6, told }
}
const there = (...ids: string[]) => {
  const journal = ids.map((id, at) => ({ version: at + 1, id }))
  return new Map([['s', { born: 'a', journal, id: ids.at(-1) ?? '' }]])
}

test.each([
  { end: 'nobody asked again', calls: [], streams: there('a'), open: 1 },
  { end: 'asked again it is unknown', calls: [lastTold({ kind: 'unknown' })], streams: there('a'), open: 1 },
  { end: 'it is known', calls: [lastTold(changedMeanwhile)], streams: there('a'), open: 0 },
  {
    end: 'the stream went on',
    calls: [{ ...again, toUs: 6, told: { kind: 'done', version: 2 } }],
    streams: there('a', 'b'),
    open: 0,
  },
  { end: 'it is known of another removal', calls: [lastTold(changedMeanwhile, '0')], streams: there('a'), open: 1 },
  { end: 'the stream is gone', calls: [], streams: new Map(), open: 0 },
] as const)(
  'a removal whose answer was lost is unresolved if the stream still exists: $end',
  ({ calls, streams, open }) => {
    for (const doubtful of [removal, { stream: 's', asked: remove, fromUs: 3 }]) {
      const verdict = check([changed, doubtful, ...calls], streams)
      expect(verdict.violations).toEqual([])
      expect(verdict.unresolved).toHaveLength(open)
    }
  },
)

/** Created, changed, removed and there again without the change; the create was in flight until `untilUs`. */
function createdAgain(untilUs: number): Call[] {
  const change: Call = { ...again, fromUs: 3, toUs: 4, told: { kind: 'done', version: 2 } }
  const journal = [...remove.journal, { version: 2, id: 'b' }]
  const removed: Call = {
    ...removal,
    asked: { ...remove, journal },
    fromUs: 5,
    toUs: 6,
    told: { kind: 'done', version: 2 },
  }
  return [{ ...changed, toUs: untilUs }, change, removed]
}

test('a create without an answer that finds nothing is retried: if the stream was removed meanwhile, it exists again', () => {
  const verdict = check(createdAgain(9), there('a'))
  expect(verdict).toMatchObject({ violations: [], begunAnew: 1 })
})

test('a retry after the create is done is detected', () => {
  const { violations, begunAnew } = check(createdAgain(2), there('a'))
  expect(new Set(violations.map(({ rule }) => rule))).toEqual(new Set(['lost', 'resurrected']))
  expect(begunAnew).toBe(0)
})

test('a retry without the removal is detected', () => {
  const [created, , removed] = createdAgain(9)
  const refused: Call = { ...(removed ?? removal), told: changedMeanwhile }
  expect(check([created ?? changed, refused], there('a')).violations.map(({ rule }) => rule)).toContain('lost')
})

test('good histories contain new incarnations', () => {
  const anew = histories.map(({ calls, streams }) => check(calls, streams).begunAnew)
  expect(anew.filter(count => count > 0).length).toBeGreaterThan(0)
  // All rules apply to the rest.
  expect(anew.filter(count => count === 0).length).toBeGreaterThan(histories.length / 2)
})

test('good histories contain removals in doubt, some of which were applied', () => {
  const removals = histories.flatMap(({ calls }) => calls.filter(({ asked }) => asked.what === 'remove'))
  const lasts = removals.filter(({ asked }) => asked.what === 'remove' && asked.last === true)
  expect(removals.filter(isOpen).length).toBeGreaterThan(0)
  expect(new Set(lasts.map(({ told }) => told?.kind))).toEqual(new Set(['done', 'not-made']))
})
