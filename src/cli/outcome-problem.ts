import { holderOrLast } from '../formats/lease.ts'
import { span } from '../formats/terminal/numbers.ts'
import type { TransactOutcome } from '../ops/transact/transact.ts'
import { StreamReplaced } from '../store/errors.ts'
import { missingStreamText } from '../store/names.ts'
import type { LeaseView } from '../store/store.ts'
import { commandWords } from '../util/strings.ts'
import { commandLine, sameCommand, shellWord } from './command-line.ts'
import { interruptedProblem } from './error-problem.ts'
import { exitOfRefusal } from './exit-codes.ts'
import { type Fact, type Problem, problem } from './problem.ts'
import type { Runtime } from './runtime.ts'

type Undone = Exclude<TransactOutcome, { kind: 'done' }>

/** The problem of a transaction that did not happen, with the command id for repeating it. */
export function outcomeProblem(stream: string, outcome: Undone, commandId: string, runtime: Runtime): Problem {
  return { commandId, ...undoneProblem(stream, outcome, runtime) }
}

function undoneProblem(stream: string, outcome: Undone, runtime: Runtime): Problem {
  switch (outcome.kind) {
    case 'refused':
      return refusedProblem(stream, outcome, runtime)
    case 'missing':
      return missingProblem(stream)
    case 'held':
      if (runtime.signal.aborted) return { ...interruptedProblem(runtime.signal), stream }
      return heldProblem(stream, outcome.lease, outcome.waitedMs, outcome.lastBy, runtime)
    case 'lost':
      return problem('lease-lost', `the given lease is not the lease of ${stream}; nothing was changed`, {
        stream,
        facts: serviceFacts(outcome.code, runtime),
      })
    case 'unknown':
      return unknownProblem(stream, outcome.commandId, outcome.cause, runtime)
    default:
      return outcome satisfies never
  }
}

/** The given lease is not, or no longer, that of the stream. */
export function leaseLostProblem(stream: string, code: string, runtime: Runtime): Problem {
  const message = `the given lease is not the lease of ${stream}`
  return problem('lease-lost', message, { stream, facts: serviceFacts(code, runtime) })
}

/** The error code of the service; nothing for stores without a service. */
export function serviceFacts(code: string, { opened }: Runtime): readonly Fact[] {
  return /^(sqlite|memory):/.test(opened?.store.address ?? '') ? [] : [['service', code]]
}

const NO_SUCH_EVENT = 'show lists the events of a stream with their ids.'

export function noStream(stream: string): string {
  return `there is no stream ${stream}`
}

const OWN_ID = /^\d{2,}(\.\d{2,})*$/

/** The stream has no event of this id: a usage error (exit 2) unless the id looks like those that leasectl gives. */
export function missingEventProblem(stream: string, event: string): Problem {
  const facts = { stream, event, hint: NO_SUCH_EVENT }
  if (OWN_ID.test(event)) return problem('event-not-found', `${stream} has no event ${event}`, facts)
  const message = `${JSON.stringify(event)} is not an event id such as 01.02.00, and ${stream} has no event of this id`
  return problem('invalid-value', message, facts)
}

/** No stream of this name. The store is named when the problem is printed. */
export function missingProblem(stream: string): Problem {
  const hint = isPattern(stream)
    ? `Names are literal: --match ${shellWord(stream)} selects by a pattern.`
    : 'Is it the right store? ls lists its streams.'
  return problem('stream-not-found', noStream(stream), { stream, hint })
}

/** The name looks like a pattern of `--match`. */
export function isPattern(name: string): boolean {
  return /[*?[{]/.test(name)
}

/** The stream was removed and created again: a claim is valid for one incarnation. */
export function replacedProblem(stream: string): Problem {
  return problem('stream-not-found', missingStreamText(stream, true), {
    stream,
    hint: 'Nothing was changed. The events of the new stream need new claims.',
  })
}

/** The lease was held by another holder for the whole waiting time. */
export function heldProblem(
  stream: string,
  lease: LeaseView,
  waitedMs: number,
  lastBy: string | undefined,
  runtime: Runtime,
): Problem {
  return problem('lease-held', `${stream} is leased by another; nothing was changed`, {
    stream,
    ...(lease.holder === undefined ? {} : { holder: lease.holder }),
    facts: [
      ['held by', holderOrLast(lease, runtime.nowMs(), lastBy)],
      ['waited', `${span(waitedMs)} (--lease-wait)`],
    ],
    ...wayOut(stream, lease, runtime),
  })
}

/** A way out: waiting longer, unless the lease never expires. */
function wayOut(stream: string, { duration }: LeaseView, runtime: Runtime): Pick<Problem, 'hint' | 'tryCommand'> {
  if (duration !== 'infinite') return { tryCommand: sameCommand(runtime, { '--lease-wait': '60s' }) }
  return {
    hint: 'It never expires. If its holder is gone, end it with lease break; check first.',
    tryCommand: commandLine(runtime, commandWords(['lease', 'show'], [stream])),
  }
}

function refusedProblem(
  stream: string,
  { refusal, commandId }: Extract<Undone, { kind: 'refused' }>,
  runtime: Runtime,
): Problem {
  if (refusal.code === 'event-not-found' && !OWN_ID.test(refusal.event))
    return { ...missingEventProblem(stream, refusal.event), commandId }
  const exit = exitOfRefusal(refusal.code)
  // Most messages begin with the id of their event, and one is about the stream.
  const isComplete = refusal.code === 'exists' || refusal.message.startsWith(refusal.event)
  const subject = isComplete ? stream : `${stream} ${refusal.event}`
  return problem(refusal.code, `${subject}: ${refusal.message}`, {
    exit,
    stream,
    ...(refusal.event === '' ? {} : { event: refusal.event }),
    commandId,
    // Whoever wanted it has failed it.
    ...(refusal.code === 'no-attempts' && { applied: 'yes' as const }),
    ...(refusal.code === 'event-not-found' ? { hint: NO_SUCH_EVENT } : {}),
    facts: [
      ...(refusal.status === '' || refusal.code === 'no-attempts' ? [] : [['status', refusal.status] as const]),
      ...(refusal.owner === undefined
        ? []
        : [['owner', claimText(refusal.owner, refusal.until, runtime.nowMs())] as const]),
    ],
  })
}

function claimText(owner: string, until: string | undefined, nowMs: number): string {
  const untilMs = until === undefined ? Number.NaN : Date.parse(until)
  if (Number.isNaN(untilMs)) return owner
  return untilMs > nowMs
    ? `${owner}, its claim expires in ${span(untilMs - nowMs)}`
    : `${owner}, its claim expired ${span(nowMs - untilMs)} ago`
}

/** The outcome of a write is unknown; repeating it with the same id is safe and resolves it. */
export function unknownProblem(
  stream: string,
  commandId: string | undefined,
  cause: unknown,
  runtime: Runtime,
): Problem {
  if (cause instanceof StreamReplaced) {
    const message = `${cause.message}: whether it was changed before that is unknown`
    const hint = 'Check the stream that is there now: show, log.'
    return problem('unknown', message, { applied: 'unknown', stream, cause, hint })
  }
  return problem('unknown', `the store did not answer: ${stream} may or may not have been changed`, {
    applied: 'unknown',
    stream,
    cause,
    ...(commandId === undefined ? {} : { commandId, facts: [['id', commandId]] }),
    hint: commandId === undefined ? 'Repeat the command.' : 'Repeat with the same command id: it is applied once.',
    tryCommand: commandId === undefined ? sameCommand(runtime) : sameCommand(runtime, { '--command-id': commandId }),
  })
}
