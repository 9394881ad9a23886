import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { outcomeProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { DEFAULT_LEASE_WAIT_MS } from '../../cli/store.ts'
import { type AuditEntry, readAuditLog } from '../../ops/audit-log.ts'
import { removeStream } from '../../ops/remove.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isFinal } from '../../stream/event.ts'
import type { ChangeResult } from '../../stream/operations/operation.ts'
import { defined } from '../../util/defined.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type BatchAction, type Done, type TargetChange, unreadable } from '../batch/action.ts'
import { runBatchCommand } from '../batch/batch.ts'
import type { BatchCommandOptions } from '../batch/options.ts'

/** Removes streams, each only in the version that was shown. */
export function removeStreams(options: BatchCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  return runBatchCommand(REMOVE, options, runtime)
}

const REMOVE: BatchAction = {
  name: 'rm',
  question: what => `This permanently removes ${what}, including the history`,
  pastParticiple: 'removed',
  asksAlways: true,
  audit: { op: 'rm', isRequired: true },
  objection,
  gone: done('already', 0),
  async repeated(store, commandId) {
    const earlier = (await readAuditLog(store, { ops: ['rm'] })).find(entry => entry.commandId === commandId)
    if (earlier === undefined) return undefined
    return {
      ...REMOVE,
      isRepeated: true,
      objection: (item, options) => writtenSince(earlier, item) ?? objection(item, options),
    }
  },
  change: remove,
  // No journal is left to record who removed the stream.
  note: ({ by, reason }) => `by ${visibleText(by)}${reason === undefined ? '' : ` "${visibleText(reason)}"`}`,
  fields: ({ by }) => ({ by }),
}

/** Of what is there now, a repeated run removes only what was there at its first run: no stream that took a name since. */
function writtenSince({ at, end }: AuditEntry, { listed, summary }: SummarizedStream): Done | Problem | undefined {
  // The time of the last write may be in whole seconds.
  const writtenMs = Math.max(listed.modifiedMs, summary?.createdMs ?? 0)
  if (writtenMs <= Date.parse(at)) return undefined
  const hasLeftNone = end !== undefined && Object.keys(end.counts).every(word => word === 'done' || word === 'already')
  if (hasLeftNone) return { ...done('already', summary?.version ?? 0), words: 'removed before; this one is newer' }
  return changed(listed.name, `was written after the command ran first, at ${at}`)
}

/** An open stream, or one that may be open, is removed only with `--force`. */
function objection(item: SummarizedStream, { force, ifVersion, blob }: BatchCommandOptions): Problem | undefined {
  const { listed, summary, pin } = item
  const stream = listed.name
  if (ifVersion !== undefined && pin.ifVersion !== ifVersion) return changed(stream, `is not at version ${ifVersion}`)
  const bad = unreadable(item)
  // The blob belongs to another program: no filter selects it, even with --force.
  if (bad?.code === 'bad-name') return blob?.includes(stream) ? undefined : bad
  if (force) return undefined
  if (bad !== undefined) {
    const copy = bad.code === 'bad-document' ? '; export -o xml keeps a copy' : ''
    return { ...bad, hint: `--force removes it anyway${copy}.` }
  }
  if (summary === undefined || isFinal(summary)) return undefined
  return problem('still-open', `${stream} is ${summary.status || 'open'}; only ended streams are removed`, {
    exit: exitOfRefusal('still-open'),
    stream,
    facts: [['status', summary.status]],
    hint:
      summary.outcome === 'compensating'
        ? 'It is undoing what it did: wait for its end, or use --force. abort ends that by force.'
        : 'Cancel it first, or use --force.',
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
      return { ...changed(stream, 'was written after it was checked'), commandId }
    case 'replaced':
      return { ...changed(stream, 'was replaced by a new stream of the same name', 'the new one'), commandId }
    case 'held':
    case 'lost':
      return outcomeProblem(stream, outcome, commandId, runtime)
    case 'unknown':
      return {
        ...outcomeProblem(stream, { ...outcome, commandId }, commandId, runtime),
        hint: 'Check with ls, or repeat the command.',
      }
    default:
      return outcome satisfies never
  }
}

/** @param kept what was not removed */
function changed(stream: string, how: string, kept: 'it' | 'the new one' = 'it'): Problem {
  return problem('changed', `${stream} ${how}; ${kept} was not removed`, { exit: exitOfRefusal('changed'), stream })
}

/** The removal of a stream as the outcome of a change. */
function done(outcome: ChangeResult['outcome'], version: number): Done {
  const nothing = { changed: [], closed: [], joined: [], opened: [], added: [], duplicate: false }
  return { kind: 'done', commandId: '', result: { outcome, version, done: true, ...nothing } }
}
