import { serviceFacts } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import { leaseText } from '../../formats/lease.ts'
import type { Holder, LeaseOutcome, LeaseView, StreamSnapshot } from '../../store/store.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { HeldLeaseOptions, LeaseOptions } from './flags.ts'
import { type LeaseSubject, leaseFields, type SeenLease, subjectOf } from './subject.ts'

interface Acquisition extends LeaseOptions {
  readonly leaseId: string
  readonly durationS: number
  readonly holder: Holder
}

/** Tries once. Prints only the lease id to stdout, for scripts. */
export async function acquireLease(options: Acquisition, runtime: Runtime): Promise<Problem | undefined> {
  const { leaseId, durationS, holder } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const subject = subjectOf(options, store, runtime)
  const startedMs = store.nowMs()
  const outcome = await subject.acquire({ leaseId, durationS, holder })
  switch (outcome.kind) {
    case 'acquired': {
      if (options.output === 'json') {
        const lease = leaseTaken(durationS, holder, startedMs)
        await output.text(jsonDocument({ ...leaseFields(subject.fields, { lease }, outcome.leaseId), outcome: 'done' }))
      } else {
        await output.lines([outcome.leaseId])
        await output.say(
          `${subject.label} is leased by ${visibleText(holder.by)}, ${durationS < 0 ? 'until released or broken' : `for ${durationS}s`}`,
        )
      }
      return undefined
    }
    case 'held':
      return subject.held(outcome)
    case 'missing':
      return subject.missing()
    case 'unknown':
      return {
        ...subject.unknown(outcome.cause),
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
  act: (subject: LeaseSubject) => Promise<LeaseOutcome>,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const subject = subjectOf(options, store, runtime)
  const outcome = await act(subject)
  if (outcome.kind !== 'ok') return leaseProblem(subject, outcome, runtime)
  const state = word === 'released' ? 'available' : 'leased'
  if (options.output === 'json') {
    const known = leaseFields(subject.fields, { lease: { state } }, word === 'released' ? undefined : outcome.leaseId)
    await output.text(jsonDocument({ ...known, outcome: 'done' }))
  } else {
    if (word === 'changed') await output.lines([outcome.leaseId])
    await output.say(`the lease of ${subject.label} was ${word}`)
  }
  return undefined
}

/** Why renew, change or release failed; `undefined` on success. */
function leaseProblem(subject: LeaseSubject, outcome: LeaseOutcome, runtime: Runtime): Problem | undefined {
  switch (outcome.kind) {
    case 'ok':
      return undefined
    case 'lost':
      return subject.lost(serviceFacts(outcome.code, runtime))
    case 'missing':
      return subject.missing()
    case 'unknown':
      return subject.unknown(outcome.cause)
    default:
      return outcome satisfies never
  }
}

export async function showLease(options: LeaseOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const subject = subjectOf(options, store, runtime)
  const seen = await subject.view(runtime.signal)
  if (seen === undefined) return subject.missing()
  if (options.output === 'json') await output.text(jsonDocument(leaseFields(subject.fields, seen)))
  else await output.lines([subjectLine(subject, seen, store.nowMs())])
  return undefined
}

/** The service records no holder of a container's lease, so none is missing. */
function subjectLine({ label, fields }: LeaseSubject, { lease, lastBy }: SeenLease, nowMs: number): string {
  if (fields.stream !== null) return `${label}  ${leaseText(lease, nowMs, lastBy)}`
  return `${label}  ${lease.state}${lease.duration === 'infinite' ? ' (infinite)' : ''}`
}

/** The lease of a stream in one line, with the holder or else the last writer. */
export function leaseLine(
  { name, lease, summary }: Pick<StreamSnapshot, 'name' | 'lease' | 'summary'>,
  nowMs: number,
): string {
  return `${visibleName(name)}  ${leaseText(lease, nowMs, summary?.lastBy)}`
}

/** The lease of a stream as JSON. */
export function leaseState({ name, lease, summary }: Pick<StreamSnapshot, 'name' | 'lease' | 'summary'>) {
  return leaseFields({ stream: name }, { lease, lastBy: summary?.lastBy })
}
