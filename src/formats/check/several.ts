import type { CheckResult } from '../../ops/check/check.ts'
import { MAX_EXAMPLES } from '../../ops/check/scan.ts'
import { jsonTime } from '../json.ts'
import { type CheckContext, checkJson, EXITS, unknownJson } from './json.ts'
import { longLines, nagiosHead, performanceData, unknownText } from './nagios.ts'
import { checkGauges, exposition, type Gauge, unknownComment, unknownGauges } from './prometheus.ts'
import { checkSentence, monitorText } from './text.ts'

/** The check of one of several stores. */
export interface StoreCheck {
  readonly context: CheckContext & { readonly name: string }
  readonly outcome: CheckResult | UnknownHealth
}

/** Why a store could not be checked. */
export interface UnknownHealth {
  readonly status: 'unknown'
  readonly message: string
  readonly code: string
  /** Hints and facts, one line each. */
  readonly facts: readonly string[]
  /** The error in its JSON form. */
  readonly error: object
}

type Status = keyof typeof EXITS

/** Worst first: an unknown health may be a critical one, so no warning hides it. */
const WORST_FIRST: readonly Status[] = ['critical', 'unknown', 'warning', 'ok']

/** The status of all stores together: that of the worst. */
export function worstOf(stores: readonly StoreCheck[]): Status {
  return WORST_FIRST.find(status => stores.some(({ outcome }) => outcome.status === status)) ?? 'ok'
}

/** The checks of several stores; fields are only ever added. @param context of all of them; its store is left out */
export function severalJson(stores: readonly StoreCheck[], { match, atMs, tookMs }: CheckContext) {
  const status = worstOf(stores)
  return {
    status,
    exit: EXITS[status],
    message: sentenceOf(stores),
    match: match ?? null,
    at: jsonTime(atMs),
    tookMs: tookMs ?? null,
    items: stores.map(({ outcome, context }) => ({
      context: context.name,
      ...(outcome.status === 'unknown'
        ? unknownJson(outcome.message, outcome.error, context)
        : checkJson(outcome, context)),
    })),
  }
}

/** The output of a Nagios plugin, the worst store first; every line and every label names its store. */
export function severalNagios(stores: readonly StoreCheck[]): string[] {
  const max = Math.ceil(MAX_EXAMPLES / stores.length)
  const data = stores.flatMap(({ outcome, context: { name } }) =>
    outcome.status === 'unknown' ? [] : performanceData(outcome).map(text => `${name}/${text}`),
  )
  const details = worstFirst(stores).flatMap(({ outcome, context: { name } }) =>
    (outcome.status === 'unknown' ? outcome.facts.map(monitorText) : longLines(outcome, max)).map(
      text => `${name}: ${text}`,
    ),
  )
  return [nagiosHead(worstOf(stores), sentenceOf(stores), data), ...details]
}

/** The metrics of several stores: each series has the labels of its context and its store. */
export function severalMetrics(stores: readonly StoreCheck[]): string {
  const comments = stores.map(({ outcome, context: { name } }) =>
    outcome.status === 'unknown' ? unknownComment(`${name}: ${outcome.message}`, outcome.code) : '',
  )
  const gauges = stores.flatMap(({ outcome, context }) =>
    outcome.status === 'unknown' ? unknownGauges(context) : checkGauges(outcome, context),
  )
  return comments.join('') + exposition(together(gauges))
}

/** The samples of each metric in one group, as the format requires. */
function together(gauges: readonly Gauge[]): Gauge[] {
  return [...Map.groupBy(gauges, ({ name }) => name)].flatMap(([, [first, ...others]]) =>
    first === undefined ? [] : [{ ...first, samples: [first, ...others].flatMap(({ samples }) => samples) }],
  )
}

function sentenceOf(stores: readonly StoreCheck[]): string {
  return worstFirst(stores)
    .map(({ outcome, context: { name } }) => {
      const text = outcome.status === 'unknown' ? unknownText(outcome.message, outcome.code) : checkSentence(outcome)
      return `${name} ${outcome.status.toUpperCase()}: ${text}`
    })
    .join('; ')
}

function worstFirst(stores: readonly StoreCheck[]): readonly StoreCheck[] {
  return stores.toSorted((a, b) => WORST_FIRST.indexOf(a.outcome.status) - WORST_FIRST.indexOf(b.outcome.status))
}
