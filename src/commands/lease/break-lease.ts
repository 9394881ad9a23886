import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { missingProblem, unknownProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { DEFAULT_LEASE_WAIT_MS } from '../../cli/store.ts'
import { leaseText } from '../../formats/lease.ts'
import { type BreakLeaseOutcome, breakAndRecord, hasBroken, type JournalOfBreak } from '../../ops/break-lease.ts'
import { staleReasons } from '../../ops/stale-lease.ts'
import type { LeaseView, StreamRow, StreamStore } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import { defined } from '../../util/defined.ts'
import type { BatchAction, Done, TargetChange } from '../batch/action.ts'
import { runBatchCommand } from '../batch/batch.ts'
import type { BatchCommandOptions, LeavesOut } from '../batch/options.ts'
import { leaseLine, leaseState } from './run.ts'

/** Breaks the leases of the selected streams, each only if it is still the one that was shown. */
export function breakLeases(options: BatchCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  return runBatchCommand(breakAction(runtime), heldOnly(options, runtime), runtime)
}

/** Filters select only streams whose lease is held. */
function heldOnly(options: BatchCommandOptions, runtime: Runtime): BatchCommandOptions {
  const { all, ...others } = options
  const isFilter = all || options.stale !== undefined || filterOf(options, runtime.nowMs()) !== undefined
  if (!isFilter) return options
  const isAlone = all && filterOf(options, runtime.nowMs()) === undefined && options.streams === undefined
  return { ...(isAlone && options.names.length === 0 ? others : options), locked: true }
}

export function breakAction(runtime: Runtime): BatchAction {
  return {
    name: 'lease break',
    question: what => `This breaks the lease of ${what}`,
    pastParticiple: 'lease broken',
    asksAlways: true,
    confirmsByName: true,
    previewLine: ({ listed, summary }, nowMs) => leaseLine({ ...listed, ...defined({ summary }) }, nowMs),
    leavesOut: leavesOut(runtime),
    audit: { op: 'break-lease', isRequired: false },
    objection({ listed, fault, summary }) {
      // The blob belongs to another program.
      if (fault?.code === 'bad-name') return problem(fault.code, fault.message, { stream: listed.name })
      return isHeld(listed.lease) ? undefined : notBroken({ ...listed, ...defined({ summary }) })
    },
    change: breakOne,
    fields: ({ by }) => ({ by }),
  }
}

/** Nothing is broken now. */
function notBroken(stored: StreamRow, words = 'no lease to break'): Done {
  const lease = leaseState(stored)
  const fields = { ...lease, before: lease, journal: null }
  return done('already', stored.summary?.version ?? 0, { words, fields })
}

function leavesOut(runtime: Runtime): LeavesOut {
  const { host, isRunning } = runtime
  const nowMs = () => runtime.opened?.store.nowMs() ?? runtime.nowMs()
  return ({ lease }, { stale: longerThanMs }) => {
    if (longerThanMs === undefined) return lease && isHeld(lease) ? undefined : 'not leased'
    const reasons = lease && staleReasons(lease, { nowMs: nowMs(), longerThanMs, host, isRunning })
    return reasons === undefined || reasons.length === 0 ? 'not stale' : undefined
  }
}

async function breakOne(change: TargetChange): Promise<Done | Problem> {
  const { target, commandId, store, options, runtime } = change
  const { stream } = target
  const before = await store.read(stream, runtime.signal)
  if (before === undefined) return missingProblem(stream)
  // The lease of now is another's.
  if (hasBroken(before, commandId)) return notBroken(before, 'broken by this command before')
  if (!isHeld(before.lease)) return notBroken(before)
  const no = changedHands(change, before, store)
  if (no !== undefined) return no
  const { by, reason, period = 0 } = options
  // A batch does not wait for the end of each lease unless it is told to.
  const { leaseWait = period > 0 ? 0 : DEFAULT_LEASE_WAIT_MS } = options
  const outcome = await breakAndRecord(store, stream, {
    ...{ commandId, by, periodS: period, leaseWaitMs: leaseWait, stopWaiting: runtime.signal },
    ...defined({ why: reason }),
  })
  switch (outcome.kind) {
    case 'broken':
      return broken(outcome, before, store)
    case 'not-leased':
      return notBroken({ ...before, lease: { state: 'available' } })
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return { ...unknownProblem(stream, undefined, outcome.cause, runtime), hint: 'Check it with lease show.' }
    default:
      return outcome satisfies never
  }
}

const NOT_IN_JOURNAL: { readonly [Journal in JournalOfBreak]: string } = {
  written: '',
  foreign: ', not in the journal: leasectl has never written this document',
  unreadable: ', not in the journal: the document cannot be read',
  held: ', not in the journal: the stream is still leased, or again',
  failed: ', not in the journal: the store refused the entry or did not answer',
}

async function broken(
  { remainingS, journal, version }: Extract<BreakLeaseOutcome, { kind: 'broken' }>,
  before: StreamRow,
  store: StreamStore,
): Promise<Done> {
  // The break is done; a failed read does not undo it.
  const after = await store.read(before.name).catch(() => undefined)
  const lease = after?.lease ?? { state: remainingS > 0 ? ('breaking' as const) : ('broken' as const) }
  const ends = lease.state === 'breaking' ? `lease ends within ${remainingS}s` : 'lease broken'
  return done('done', version ?? before.summary?.version ?? 0, {
    words: `${ends}${NOT_IN_JOURNAL[journal]}`,
    fields: { ...leaseState(after ?? { ...before, lease }), before: leaseState(before), journal },
  })
}

/** The outcome of a break as that of a change: no event changes. */
function done(outcome: 'done' | 'already', version: number, more: Pick<Done, 'words' | 'fields'>): Done {
  const nothing = { changed: [], closed: [], joined: [], opened: [], added: [], done: false, duplicate: false }
  return { kind: 'done', commandId: '', result: { outcome, version, ...nothing }, ...more }
}

/** The problem if the stream now has another lease than the one previewed; `undefined` if it has not. */
function changedHands({ lease, etag }: TargetChange, now: StreamRow, store: StreamStore): Problem | undefined {
  const { name } = now
  if (lease === undefined || isSameLease({ lease, etag }, now)) return undefined
  return problem('changed', `the lease of ${name} changed hands before you confirmed; it was not broken`, {
    exit: exitOfRefusal('changed'),
    stream: name,
    ...(now.lease.holder === undefined
      ? { facts: [['now', leaseText(now.lease, store.nowMs(), now.summary?.lastBy)]] }
      : { holder: now.lease.holder }),
    hint: 'Check who holds it now, and repeat the break if it is still needed.',
  })
}

/** Without a known holder, the etag decides: a write means that some process works under the lease. */
function isSameLease(
  before: { readonly lease: LeaseView; readonly etag: string | undefined },
  now: Pick<StreamRow, 'lease' | 'etag'>,
): boolean {
  const [was, is] = [before.lease.holder, now.lease.holder]
  if (was === undefined || is === undefined) return was === is && before.etag === now.etag
  return was.by === is.by && was.host === is.host && was.pid === is.pid && was.sinceMs === is.sinceMs
}
