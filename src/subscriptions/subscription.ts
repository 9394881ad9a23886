import { globOf } from '../ops/glob.ts'
import { readSystemDocument, SUBSCRIPTIONS } from '../ops/read-system-document.ts'
import { MOST_SHARDS } from '../ops/shards/quota.ts'
import { createSystemDocument } from '../ops/system-documents.ts'
import { damaged, plainText, systemFields, systemText, wholeNumber } from '../ops/system-fields.ts'
import { StoreUnreachable } from '../store/errors.ts'
import { checkFolderName } from '../store/names.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import { isObject } from '../stream/values.ts'
import type { SubscriptionSpec } from './types.ts'

export const DEFAULT_SHARDS = 8

const KIND = 'Subscription'

/** A subscription as it was created. */
export interface Subscription {
  readonly spec: SubscriptionSpec
  /** Its first transactions, epoch ms; 0 for all. */
  readonly fromMs: number
  readonly createdMs: number
  readonly by: string
}

export function subscriptionDocument(name: string): string {
  return `${SUBSCRIPTIONS}${name}/subscription.json`
}

/** The folder of the leased documents of its shards. */
export function shardFolder(name: string): string {
  return `${SUBSCRIPTIONS}${name}/shards`
}

export function shardDocument({ name, shards }: Pick<SubscriptionSpec, 'name' | 'shards'>, shard: number): string {
  return `${shardFolder(name)}/${shards}/${shard}`
}

export function requestsDocument(name: string): string {
  return `${SUBSCRIPTIONS}${name}/requests.json`
}

/**
 * The subscription of the name, which is created unless it exists.
 *
 * @param fromMs its first transactions if it is created, epoch ms; 0 for all, `undefined` for those from now on
 * @throws `InvalidValue` for an invalid name or if it exists with another specification; `StoreIncompatible` and
 * `BadDocument` as `parsePosition`; the store's faults
 */
export async function openSubscription(
  store: StreamStore,
  spec: SubscriptionSpec,
  fromMs: number | undefined,
  by: string,
  signal?: AbortSignal,
): Promise<Subscription> {
  checkSpec(spec)
  const name = subscriptionDocument(spec.name)
  for (let round = 0; round < 3; round++) {
    const found = await readSubscription(store, spec.name, signal)
    if (found !== undefined) {
      checkSame(found.spec, spec)
      return found
    }
    await store.learnTime?.(name, signal)
    const createdMs = store.nowMs()
    const created: Subscription = { spec, fromMs: fromMs ?? createdMs, createdMs, by }
    const outcome = await createSystemDocument(store, name, textOf(created), { by, ...(signal && { signal }) })
    if (outcome === 'created') return created
  }
  throw new StoreUnreachable(`${name} could not be created: the store does not answer`)
}

/** @returns undefined if there is no subscription of this name. @throws as `openSubscription` */
export async function readSubscription(
  store: StreamStore,
  name: string,
  signal?: AbortSignal,
): Promise<Subscription | undefined> {
  checkFolderName(name, 'a subscription')
  const document = subscriptionDocument(name)
  const text = await readSystemDocument(store, document, signal)
  return text === undefined ? undefined : parseSubscription(document, name, text)
}

function checkSpec({ name, match, notMatch, shards }: SubscriptionSpec): void {
  checkFolderName(name, 'a subscription')
  for (const pattern of [...match, ...notMatch]) globOf(pattern)
  if (!(Number.isInteger(shards) && shards >= 1 && shards <= MOST_SHARDS)) {
    throw new InvalidValue(`the number of shards must be from 1 to ${MOST_SHARDS}, not ${shards}`)
  }
}

/** All processes of a name must see the same transactions, or some would be handled by none. */
function checkSame(found: SubscriptionSpec, wanted: SubscriptionSpec): void {
  if (specText(found) === specText(wanted)) return
  throw new InvalidValue(
    `the subscription ${wanted.name} exists with other options: ${specText(found)}, not ${specText(wanted)}`,
    { hint: 'Use the same options, another name, or remove the subscription first.' },
  )
}

/** A specification in words, as its flags. */
export function specText({ match, notMatch, ops, eventNames, doneOnly, shards }: SubscriptionSpec): string {
  const flags = [
    ...match.map(pattern => `--match ${pattern}`),
    ...notMatch.map(pattern => `--not-match ${pattern}`),
    ...ops.map(op => `--op ${op}`),
    ...eventNames.map(name => `--name ${name}`),
    ...(doneOnly ? ['--done-only'] : []),
    `--shards ${shards}`,
  ]
  return flags.sort().join(' ')
}

function textOf({ spec, ...fields }: Subscription): string {
  return systemText(KIND, { spec, ...fields })
}

function parseSubscription(document: string, name: string, text: string): Subscription {
  const { spec, fromMs, createdMs, by } = systemFields(document, text, KIND)
  if (!isObject(spec)) throw damaged(document, 'spec')
  const shards = wholeNumber(document, 'shards', spec.shards)
  if (shards < 1 || shards > MOST_SHARDS) throw damaged(document, 'shards')
  if (typeof spec.doneOnly !== 'boolean') throw damaged(document, 'doneOnly')
  const texts = (field: string): readonly string[] => {
    const value = spec[field]
    if (!Array.isArray(value) || !value.every(item => typeof item === 'string')) throw damaged(document, field)
    return value
  }
  return {
    spec: {
      name,
      match: texts('match'),
      notMatch: texts('notMatch'),
      ops: texts('ops'),
      eventNames: texts('eventNames'),
      doneOnly: spec.doneOnly,
      shards,
    },
    fromMs: wholeNumber(document, 'fromMs', fromMs),
    createdMs: wholeNumber(document, 'createdMs', createdMs),
    by: plainText(document, 'by', by),
  }
}

/**
 * How far a subscription is behind what happened then, ms. Nobody could handle anything before it was created: one from the
 * start lags since its creation, not since the first transaction.
 */
export function lagSince(sinceMs: number, createdMs: number, nowMs: number): number {
  return Math.max(0, nowMs - Math.max(sinceMs, createdMs))
}
