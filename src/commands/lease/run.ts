import { heldProblem, missingProblem, serviceFacts, unknownProblem } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument, orNull } from '../../formats/json.ts'
import { leaseJson, leaseText } from '../../formats/lease.ts'
import type { Holder, LeaseOutcome, LeaseView, StreamSnapshot, StreamStore } from '../../store/store.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { HeldLeaseOptions, LeaseOptions } from './flags.ts'

interface Acquisition extends LeaseOptions {
  readonly leaseId: string
  readonly durationS: number
  readonly holder: Holder
}

/** Tries once. Prints only the lease id to stdout, for scripts. */
export async function acquireLease(options: Acquisition, runtime: Runtime): Promise<Problem | undefined> {
  const { stream, leaseId, durationS, holder } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const startedMs = store.nowMs()
  const outcome = await store.acquireLease(stream, { leaseId, durationS, holder, record: true })
  switch (outcome.kind) {
    case 'acquired': {
      const duration = durationS < 0 ? 'infinite' : `${durationS}s`
      if (options.output === 'json') {
        const lease = leaseTaken(durationS, holder, startedMs)
        await output.text(jsonDocument({ ...leaseState({ name: stream, lease }, outcome.leaseId), outcome: 'done' }))
      } else {
        await output.lines([outcome.leaseId])
        await output.say(
          `${visibleName(stream)} is leased by ${visibleText(holder.by)}, ${durationS < 0 ? 'until released or broken' : `for ${duration}`}`,
        )
      }
      return undefined
    }
    case 'held': {
      // Acquire does not wait, so the advice to wait longer would be wrong.
      const { tryCommand: _, ...held } = heldProblem(stream, outcome.lease, 0, outcome.lastBy, runtime)
      return { ...held, message: `${stream} is already leased`, facts: (held.facts ?? []).slice(0, 1) }
    }
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return {
        ...unknownProblem(stream, undefined, outcome.cause, runtime),
        hint: `It is safe to repeat the command with --lease-id ${leaseId}.`,
      }
    default:
      return outcome satisfies never
  }
}

/** The lease lasts at least until `untilMs`: it began no earlier than the request was sent. */
function leaseTaken(durationS: number, holder: Holder, startedMs: number): LeaseView {
  if (durationS < 0) return { state: 'leased', duration: 'infinite', holder }
  return { state: 'leased', duration: 'fixed', holder, untilMs: startedMs + durationS * 1_000 }
}

/** Renews, changes or releases a lease by its id. After a change, only the new id goes to stdout. */
export async function changeLease(
  options: HeldLeaseOptions,
  word: 'renewed' | 'changed' | 'released',
  act: (store: StreamStore) => Promise<LeaseOutcome>,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const outcome = await act(store)
  if (outcome.kind !== 'ok') return leaseProblem(options.stream, outcome, runtime)
  const state = word === 'released' ? 'available' : 'leased'
  if (options.output === 'json') {
    const known = leaseState(
      { name: options.stream, lease: { state } },
      word === 'released' ? undefined : outcome.leaseId,
    )
    await output.text(jsonDocument({ ...known, outcome: 'done' }))
  } else {
    if (word === 'changed') await output.lines([outcome.leaseId])
    await output.say(`the lease of ${visibleName(options.stream)} was ${word}`)
  }
  return undefined
}

/** Why renew, change or release failed; `undefined` on success. */
function leaseProblem(stream: string, outcome: LeaseOutcome, runtime: Runtime): Problem | undefined {
  switch (outcome.kind) {
    case 'ok':
      return undefined
    case 'lost':
      return problem('lease-lost', `the given lease is not the lease of ${stream}`, {
        stream,
        facts: serviceFacts(outcome.code, runtime),
      })
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return unknownProblem(stream, undefined, outcome.cause, runtime)
    default:
      return outcome satisfies never
  }
}

export async function showLease(options: LeaseOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const stored = await store.read(options.stream, runtime.signal)
  if (stored === undefined) return missingProblem(options.stream)
  if (options.output === 'json') await output.text(jsonDocument(leaseState(stored)))
  else await output.lines([leaseLine(stored, store.nowMs())])
  return undefined
}

/** The lease of a stream in one line, with the holder or else the last writer. */
export function leaseLine(
  { name, lease, summary }: Pick<StreamSnapshot, 'name' | 'lease' | 'summary'>,
  nowMs: number,
): string {
  return `${visibleName(name)}  ${leaseText(lease, nowMs, summary?.lastBy)}`
}

/** The lease as JSON. Fields are only ever added. The lease id is given to its holder only. */
export function leaseState(
  { name, lease, summary }: Pick<StreamSnapshot, 'name' | 'lease' | 'summary'>,
  leaseId?: string,
) {
  const { state, duration, until, holder } = leaseJson(lease)
  return { stream: name, state, leaseId: orNull(leaseId), duration, until, holder, lastBy: orNull(summary?.lastBy) }
}
