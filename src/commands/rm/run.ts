import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { outcomeProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { DEFAULT_LEASE_WAIT_MS } from '../../cli/store.ts'
import { removeStream } from '../../ops/remove.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isFinal } from '../../stream/event.ts'
import type { ChangeResult } from '../../stream/operations/operation.ts'
import { defined } from '../../util/defined.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type BatchAction, type Done, type TargetChange, unreadable } from '../batch/action.ts'
import { runBatchCommand } from '../batch/batch.ts'
import type { BatchCommandOptions } from '../batch/options.ts'

/** Removes streams, each only as it was shown. */
export function removeStreams(options: BatchCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  return runBatchCommand(REMOVE, options, runtime)
}

const REMOVE: BatchAction = {
  name: 'rm',
  question: what => `This removes ${what} for good, history and all`,
  pastParticiple: 'removed',
  asksAlways: true,
  objection,
  gone: done('already', 0),
  change: remove,
  // No journal is left that could tell who it was.
  note: ({ by, reason }) => `by ${visibleText(by)}${reason === undefined ? '' : ` "${visibleText(reason)}"`}`,
  fields: ({ by }) => ({ by }),
}

/** What is open, or may be, goes only by force. */
function objection(item: SummarizedStream, { force, ifVersion, blob }: BatchCommandOptions): Problem | undefined {
  const { listed, summary, pin } = item
  const stream = listed.name
  if (ifVersion !== undefined && pin.ifVersion !== ifVersion) return changed(stream, `is not at version ${ifVersion}`)
  const bad = unreadable(item)
  // It is somebody else's blob: no filter means it, not even by force.
  if (bad?.code === 'bad-name') return blob?.includes(stream) ? undefined : bad
  if (force) return undefined
  if (bad !== undefined) {
    const copy = bad.code === 'bad-document' ? '; export -o xml keeps a copy' : ''
    return { ...bad, hint: `--force removes it all the same${copy}.` }
  }
  if (summary === undefined || isFinal(summary)) return undefined
  return problem('still-open', `${stream}: it is ${summary.status || 'open'}; only what has ended is removed`, {
    exit: exitOfRefusal('still-open'),
    stream,
    facts: [['status', summary.status]],
    hint: 'cancel it first, or --force.',
  })
}

async function remove(change: TargetChange): Promise<Done | Problem> {
  const { target, etag, pin, version = 0, commandId, store, options, runtime } = change
  const { stream } = target
  const outcome = await removeStream(store, stream, {
    leaseWaitMs: options.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
    stopWaiting: runtime.signal,
    ...defined({ etag, born: pin.ifBorn, leaseId: options.leaseId }),
  })
  switch (outcome.kind) {
    case 'removed':
      return { ...done('done', version), commandId }
    case 'missing':
      return { ...done('already', version), commandId }
    case 'changed':
      return { ...changed(stream, 'was written since it was looked at'), commandId }
    case 'replaced':
      return { ...changed(stream, 'is gone, and another one has its name', 'that'), commandId }
    case 'held':
    case 'lost':
      return outcomeProblem(stream, outcome, commandId, runtime)
    case 'unknown':
      return { ...outcomeProblem(stream, { ...outcome, commandId }, commandId, runtime), hint: 'Look: ls, or repeat.' }
    default:
      return outcome satisfies never
  }
}

/** @param kept what stays */
function changed(stream: string, how: string, kept: 'it' | 'that' = 'it'): Problem {
  return problem('changed', `${stream}: it ${how}; ${kept} was not removed`, { exit: exitOfRefusal('changed'), stream })
}

/** A stream that is gone, as an outcome like that of every change. */
function done(outcome: ChangeResult['outcome'], version: number): Done {
  const nothing = { changed: [], closed: [], joined: [], added: [], duplicate: false }
  return { kind: 'done', commandId: '', result: { outcome, version, done: true, ...nothing } }
}
