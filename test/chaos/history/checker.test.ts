import { expect, test } from 'vitest'
import { Random } from '../../simulation/random.ts'
import { trustRow } from '../../trust/record.ts'
import { repeatWith, sized, trustSeed } from '../../trust/size.ts'
import { check, RULES, type RuleName } from './checker.ts'
import { goodHistory, type History } from './good-histories.ts'
import { MUTATIONS } from './mutations.ts'

const { figure, control, injected } = trustRow('checker')
const SEED = trustSeed(1)
const REPEAT = repeatWith('test/chaos/history/checker.test.ts', SEED)
const MUTANTS = sized(1_000, 20_000)
const KINDS = Object.entries(MUTATIONS)

const histories = Array.from({ length: MUTANTS }, (_, at) => goodHistory(new Random(`${SEED}/${at}`)))
const mutants = KINDS.flatMap(([kind], at) => mutantsOf(kind, Math.ceil((MUTANTS - at) / KINDS.length)))

interface Mutant {
  readonly kind: string
  readonly history: History
  /** Which history it was made of. */
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

test('the checker of histories raises no alarm over good ones, and knows what became of every change', () => {
  const verdicts = histories.map(({ calls, streams }) => check(calls, streams))
  const alarms = verdicts.flatMap(({ violations, unresolved }, of) =>
    [...violations, ...unresolved].map(what => ({ of, what })),
  )
  figure('false alarms', alarms.length, `0 in ${histories.length}`)
  expect(alarms, REPEAT).toEqual([])
  expect(verdicts.reduce((sum, { made }) => sum + made, 0)).toBeGreaterThan(10 * histories.length)
})

test('the checker of histories finds every spoiled one', () => {
  const missed = mutants.filter((_, at) => broken[at]?.size === 0).map(({ kind, of }) => `${kind} in history ${of}`)
  figure('mutants caught', mutants.length - missed.length, `${mutants.length} of ${mutants.length}`)
  for (const [kind] of KINDS) injected(kind, mutants.filter(mutant => mutant.kind === kind).length)
  expect(mutants).toHaveLength(MUTANTS)
  expect(missed, REPEAT).toEqual([])
})

test.each(Object.keys(RULES) as RuleName[])('without its rule against what is %s it misses some', rule => {
  const missed = broken.filter(rules => rules.size === 1 && rules.has(rule)).length
  control(`without the rule against what is ${rule}`, missed > 0)
  expect(missed, REPEAT).toBeGreaterThan(0)
})
