import { rateText } from '../../formats/subscription.ts'
import { calmSpan, spacedCount } from '../../formats/terminal/numbers.ts'
import type { ShardView } from '../../subscriptions/read.ts'
import type { HaltedStream } from '../../subscriptions/types.ts'
import type { SubscriptionRow } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { placeInSubscription, subscriptionItem } from '../state/lists/subscription-list.ts'
import { linesOfText } from '../state/text/text.ts'
import { nameIn } from '../store-key.ts'
import type { StyledText } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { type RowTime, wholeTimeText } from './times.ts'

type Lines = readonly (readonly StyledText[])[]

/** All about a subscription and each of its shards, or why a stream of it does not go on, and what helps. */
export function subscriptionLines({ data, nowMs, state }: Scene, key: string): Lines | undefined {
  const item = subscriptionItem(data, key)
  if (item === undefined) return undefined
  const moment = { nowMs, time: state.time }
  return item.halted === undefined ? ofSubscription(item.row, moment) : ofHalted(item.row, item.halted, moment)
}

export function subscriptionTitle(key: string): string {
  const { subscription = '', stream } = placeInSubscription(key)
  return safeText(stream === undefined ? subscription : `${subscription}: ${safeName(stream)}`)
}

function ofHalted(row: SubscriptionRow, halted: HaltedStream, moment: RowTime): Lines {
  const { state, version, tries, attempts, sinceMs, nextMs, why } = halted
  const { store } = row
  const stream = safeName(nameIn({ stream: halted.stream, ...(store !== undefined && { store }) }))
  const words = `${safeText(row.view.name)} ${stream}`
  return [
    fact('state', state, state === 'parked' ? 'bad' : 'warn'),
    fact('handled', `up to version ${spacedCount(version)}`),
    fact('tries', `${tries} failed of ${attempts} deliveries`),
    ...(sinceMs === 0 ? [] : [fact('since', wholeTimeText(sinceMs, moment))]),
    ...(state === 'parked' ? [] : [fact('next', nextMs <= moment.nowMs ? 'now' : wholeTimeText(nextMs, moment))]),
    ...linesOfText(why === '' ? 'no reason was given' : why).map((line): readonly StyledText[] => [
      [safeText(line), 'plain'],
    ]),
    [],
    [[`leasectl subscription retry ${words}   tries it again`, 'dim']],
    [[`leasectl subscription skip ${words}    leaves the transaction out`, 'dim']],
  ]
}

function ofSubscription({ view }: SubscriptionRow, moment: RowTime): Lines {
  if (view.kind === 'unreadable') return [[[`! ${safeText(view.why)}`, 'bad']]]
  const { subscription, shards, lagMs, rate, delivered, waiting, parked } = view
  const { match, notMatch, ops, eventNames, doneOnly } = subscription.spec
  const { fromMs, createdMs, by } = subscription
  const words = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [fact(title, safeText(texts.join(' ')))]
  return [
    fact('lag', `${calmSpan(lagMs)}, ${rateText(rate)}, ${spacedCount(delivered)} delivered`),
    fact('halted', `${spacedCount(waiting)} waiting, ${spacedCount(parked)} parked`, parked > 0 ? 'bad' : 'plain'),
    ...words('streams', match.length === 0 ? ['all'] : match),
    ...words('not', notMatch),
    ...words('operations', ops),
    ...words('events', eventNames),
    ...(doneOnly ? [fact('only', 'the transaction with which a stream ends')] : []),
    fact('from', fromMs === 0 ? 'the start' : wholeTimeText(fromMs, moment)),
    fact('created', `${wholeTimeText(createdMs, moment)} by ${safeText(by)}`),
    [],
    ...shards.map(shard => shardLine(shard)),
  ]
}

function shardLine({ shard, isHeld, by, host, lagMs, rate, delivered }: ShardView): readonly StyledText[] {
  const who = isHeld ? safeText(by || host) : 'nobody'
  return [
    [`shard ${shard} `, 'dim'],
    [who, isHeld ? 'plain' : 'warn'],
    [`  lag ${calmSpan(lagMs)}, ${rateText(rate)}, ${spacedCount(delivered)} delivered`, 'plain'],
  ]
}

function fact(label: string, text: string, style: StyledText[1] = 'plain'): readonly StyledText[] {
  return [
    [`${label} `, 'dim'],
    [text, style],
  ]
}
