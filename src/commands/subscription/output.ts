import type { Output } from '../../cli/output.ts'
import { jsonTime, orNull } from '../../formats/json.ts'
import { rateText, runnersOf } from '../../formats/subscription.ts'
import { countText, dueText, span, timeText } from '../../formats/terminal/numbers.ts'
import { type Cell, type Column, table } from '../../formats/terminal/table.ts'
import type { ShardView, SubscriptionView } from '../../subscriptions/read.ts'
import { specText } from '../../subscriptions/subscription.ts'
import type { HaltedStream } from '../../subscriptions/types.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'

type Readable = Extract<SubscriptionView, { readonly kind: 'readable' }>

/** An item of `subscription ls`; fields are only ever added. */
export function subscriptionJson(view: SubscriptionView) {
  if (view.kind === 'unreadable') return { name: view.name, error: view.why }
  const { name, subscription, shards, held, lagMs, rate, delivered, waiting, parked } = view
  const { match, notMatch, ops, eventNames, doneOnly } = subscription.spec
  return {
    name,
    match,
    notMatch,
    ops,
    eventNames,
    doneOnly,
    from: subscription.fromMs === 0 ? null : jsonTime(subscription.fromMs),
    created: jsonTime(subscription.createdMs),
    createdBy: orNull(subscription.by),
    shards: shards.length,
    held,
    runBy: runnersOf(view.shards),
    lagMs,
    rate,
    delivered,
    waiting,
    parked,
  }
}

/** The columns of CSV: the fields of an item, and the error of one that cannot be read. */
export const SUBSCRIPTION_FIELDS = [
  'name',
  'match',
  'notMatch',
  'ops',
  'eventNames',
  'doneOnly',
  'from',
  'created',
  'createdBy',
  'shards',
  'held',
  'runBy',
  'lagMs',
  'rate',
  'delivered',
  'waiting',
  'parked',
  'error',
] as const

/** A shard of `subscription show`; fields are only ever added. */
export function shardJson(shard: ShardView) {
  const { isHeld, by, host, watermarkMs, lagMs, rate, delivered, atMs, halted } = shard
  return {
    shard: shard.shard,
    held: isHeld,
    by: orNull(by),
    host: orNull(host),
    watermark: watermarkMs === 0 ? null : jsonTime(watermarkMs),
    lagMs,
    rate,
    delivered,
    waiting: halted.filter(({ state }) => state === 'waiting').length,
    parked: halted.filter(({ state }) => state === 'parked').length,
    updated: atMs === 0 ? null : jsonTime(atMs),
  }
}

/** A stream that does not go on; fields are only ever added. */
export function haltedJson({ stream, born, state, version, tries, attempts, sinceMs, nextMs, why }: HaltedStream) {
  return {
    stream,
    born: orNull(born),
    state,
    version,
    tries,
    attempts,
    since: sinceMs === 0 ? null : jsonTime(sinceMs),
    nextAt: state === 'waiting' ? jsonTime(nextMs) : null,
    why,
  }
}

/** The columns of CSV: the fields of a line of `subscription parked`. */
export const HALTED_FIELDS = [
  'subscription',
  'stream',
  'born',
  'state',
  'version',
  'tries',
  'attempts',
  'since',
  'nextAt',
  'why',
] as const

const LIST: readonly Column[] = [
  { title: 'NAME', min: 12, give: 3, cut: 'middle' },
  { title: 'LAG', align: 'right' },
  { title: 'RATE', align: 'right' },
  { title: 'DELIVERED', align: 'right', spare: 2 },
  { title: 'WAITING', align: 'right' },
  { title: 'PARKED', align: 'right' },
  { title: 'SHARDS', align: 'right', spare: 1 },
  { title: 'RUN BY', min: 10, give: 2 },
  { title: 'STREAMS', min: 10, give: 1 },
]

export function subscriptionTable(views: readonly SubscriptionView[], output: Output): string[] {
  return table(LIST, views.map(listRow), optionsOf(output))
}

function listRow(view: SubscriptionView): Cell[] {
  if (view.kind === 'unreadable') {
    return [visibleText(view.name), '', '', '', '', '', '', { text: visibleText(view.why), style: 'bad' }, '']
  }
  const { name, held, shards, lagMs, rate, delivered, waiting, parked, subscription } = view
  const { match } = subscription.spec
  return [
    visibleText(name),
    span(lagMs),
    rateText(rate),
    countText(delivered),
    { text: countText(waiting), style: waiting > 0 ? 'warn' : 'plain' },
    { text: countText(parked), style: parked > 0 ? 'bad' : 'plain' },
    `${held}/${shards.length}`,
    held === 0 ? { text: 'nobody', style: 'warn' } : visibleText(runnersOf(view.shards).join(' ')),
    match.length === 0 ? 'all' : visibleText(match.join(' ')),
  ]
}

const SHARDS: readonly Column[] = [
  { title: 'SHARD', align: 'right' },
  { title: 'RUN BY', min: 10, give: 2 },
  { title: 'HOST', min: 8, give: 1, spare: 1 },
  { title: 'LAG', align: 'right' },
  { title: 'RATE', align: 'right' },
  { title: 'DELIVERED', align: 'right' },
  { title: 'WAITING', align: 'right' },
  { title: 'PARKED', align: 'right' },
  { title: 'UPDATED', align: 'right' },
]

/** Facts, and a table of the shards. */
export function subscriptionText(view: Readable, output: Output, nowMs: number): string[] {
  const { name, subscription, lagMs, rate, waiting, parked, held, shards } = view
  const { spec, fromMs, createdMs, by } = subscription
  const by_ = visibleText(by)
  const facts: readonly (readonly [string, string])[] = [
    ['streams', visibleText(specText(spec))],
    ['from', fromMs === 0 ? 'the start' : timeText(fromMs, nowMs, output.time)],
    ['created', `${timeText(createdMs, nowMs, output.time)} by ${by_}`],
    ['lag', `${span(lagMs)}, ${rateText(rate)}`],
    ['halted', `${countText(waiting)} waiting, ${countText(parked)} parked`],
    [
      'run by',
      held === 0 ? 'nobody' : `${visibleText(runnersOf(view.shards).join(' '))} (${held} of ${shards.length} shards)`,
    ],
  ]
  const rows = shards.map(shard => shardRow(shard, output, nowMs))
  return [
    visibleText(name),
    ...facts.map(([title, text]) => `  ${title.padEnd(8)} ${text}`),
    '',
    ...table(SHARDS, rows, optionsOf(output)),
  ]
}

function shardRow(shard: ShardView, { time }: Output, nowMs: number): Cell[] {
  const { waiting, parked } = shardJson(shard)
  const { isHeld, by, host, lagMs, rate, delivered, atMs } = shard
  return [
    String(shard.shard),
    isHeld ? visibleText(by) : { text: 'nobody', style: 'warn' },
    visibleText(host),
    span(lagMs),
    rateText(rate),
    countText(delivered),
    { text: countText(waiting), style: waiting > 0 ? 'warn' : 'plain' },
    { text: countText(parked), style: parked > 0 ? 'bad' : 'plain' },
    atMs === 0 ? '-' : timeText(atMs, nowMs, time),
  ]
}

const HALTED: readonly Column[] = [
  { title: 'STREAM', min: 12, give: 2, cut: 'middle' },
  { title: 'STATE' },
  { title: 'AFTER', align: 'right' },
  { title: 'TRIES', align: 'right' },
  { title: 'SINCE', align: 'right' },
  { title: 'NEXT', align: 'right' },
  { title: 'WHY', runsOn: true, min: 20 },
]

/** `AFTER` is the last version that was handled. */
export function haltedTable(streams: readonly HaltedStream[], output: Output, nowMs: number): string[] {
  const rows = streams.map(({ stream, state, version, tries, sinceMs, nextMs, why }): Cell[] => [
    visibleName(stream),
    { text: state, style: state === 'parked' ? 'bad' : 'warn' },
    `v${version}`,
    String(tries),
    sinceMs === 0 ? '-' : timeText(sinceMs, nowMs, output.time),
    state === 'parked' ? '-' : dueText(Math.max(nextMs, nowMs), nowMs, output.time),
    visibleText(why.trim().split('\n').join(' ⏎ ')),
  ])
  return table(HALTED, rows, optionsOf(output))
}

function optionsOf({ paint, width }: Output) {
  return { paint, ...(width === undefined ? {} : { width }) }
}
