import { formatDuration } from '../../stream/time/durations.ts'
import { type Findings, MAX_EXAMPLES } from './scan.ts'
import { type AgeLimits, ageStatus, type CheckStatus, type CountLimits, countStatus, worst } from './status.ts'

/** An inbox of the store. */
export interface InboxSeen {
  readonly name: string
  readonly partitions: number
  /** Partitions that a drain has now. */
  readonly owned: number
  /** Partitions without a drain in which records wait. */
  readonly idle: number
  /** Number of records that wait; an estimate if `isEstimate`. */
  readonly records: number
  readonly isEstimate: boolean
  /** Age of the oldest of them, ms; `undefined` if none waits. */
  readonly ageMs: number | undefined
  /** Dead letters that nobody has retried or dropped. */
  readonly dead: number
  /** Records put and drained a second, in the last minute. */
  readonly rate: { readonly in: number; readonly out: number }
  /** Why it, or partitions of it, cannot be used: a clause. */
  readonly error?: string
}

/** When an inbox needs someone. */
export interface InboxLimits {
  /** Of the oldest record that is not drained. */
  readonly age: AgeLimits
  /** Of open dead letters. */
  readonly dead: CountLimits
}

/** An inbox that needs someone. */
export interface TroubledInbox {
  readonly name: string
  /** Age, dead letters, nobody drains it: a clause. */
  readonly why: string
}

/** Inboxes with old records or dead letters, or that cannot be read; those with the oldest record first. */
export function troubledInboxes(
  seen: readonly InboxSeen[],
  limits: InboxLimits,
): { readonly status: CheckStatus; readonly found: Findings<TroubledInbox> } {
  const troubled = seen
    .map(one => ({ one, age: ageStatus(one.ageMs, limits.age), dead: countStatus(one.dead, limits.dead) }))
    .map(({ one, age, dead }) => ({
      ageMs: one.ageMs ?? 0,
      name: one.name,
      why: one.error ?? [...deadClause(one, dead), ...ageClauses(one, age)].join(', '),
      status: worst([age, dead, one.error === undefined ? 'ok' : 'warning']),
    }))
    .filter(({ status }) => status !== 'ok')
    .sort((a, b) => b.ageMs - a.ageMs)
  const examples = troubled.slice(0, MAX_EXAMPLES).map(({ name, why }) => ({ name, why }))
  return { status: worst(troubled.map(({ status }) => status)), found: { count: troubled.length, examples } }
}

function deadClause({ dead }: InboxSeen, status: CheckStatus): readonly string[] {
  return status === 'ok' ? [] : [dead === 1 ? '1 dead letter' : `${dead} dead letters`]
}

function ageClauses({ ageMs = 0, records, isEstimate, idle, owned, partitions }: InboxSeen, status: CheckStatus) {
  if (status === 'ok') return []
  const many = records === 1 ? '1 record waits' : `${isEstimate ? 'about ' : ''}${records} records wait`
  return [
    `${many}, the oldest for ${formatDuration(Math.round(ageMs / 1_000) * 1_000)}`,
    ...(owned === 0 ? ['nobody drains it'] : []),
    ...(owned > 0 && idle > 0 ? [`nobody drains ${idle} of ${partitions} partitions`] : []),
  ]
}
