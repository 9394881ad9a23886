import { randomUUID } from 'node:crypto'
import type { StreamStore } from '../../store/store.ts'
import { type EventData, withoutBytes } from '../../stream/data.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
import type {
  Authorship,
  ChangeResult,
  EventSpec,
  Operation,
  Refusal,
  StepSpec,
} from '../../stream/operations/operation.ts'
import { removeLifeData, type StreamLife, type WriteDataOptions, writeDataBytes } from '../event-data.ts'
import { readStream } from '../read-stream.ts'
import { tryOperation } from './plan.ts'

/** The operation as it is applied to the document: of data beside it, only type, size and hash. */
export function operationWithoutBytes(operation: Operation): Operation {
  switch (operation.op) {
    case 'init':
      return { ...operation, root: stripped(operation.root), ...strippedSuccessors(operation) }
    case 'advance': {
      const { next } = operation
      const successors = strippedSuccessors(operation)
      return { ...operation, ...(next && { next: stripped(next) }), ...successors, ...strippedResult(operation) }
    }
    case 'complete':
    case 'fail':
      return { ...operation, ...strippedResult(operation) }
    case 'append':
      return { ...operation, step: stripped(operation.step) }
    case 'signal':
      return { ...operation, ...(operation.data && { data: withoutBytes(operation.data) }) }
    default:
      return operation
  }
}

interface Added {
  readonly forks: readonly EventSpec[]
  readonly steps?: readonly StepSpec[]
  readonly join?: EventSpec
}

function strippedSuccessors({ forks, steps, join }: Added) {
  return {
    forks: forks.map(stripped),
    ...(steps && { steps: steps.map(stripped) }),
    ...(join && { join: stripped(join) }),
  }
}

function strippedResult({ result }: { readonly result?: EventData }) {
  return result && { result: withoutBytes(result) }
}

function stripped<Spec extends EventSpec>(spec: Spec): Spec {
  return spec.data === undefined ? spec : { ...spec, data: withoutBytes(spec.data) }
}

/** Writes data beside the document of a stream, all at once. @throws the errors of `writeDataBytes` */
export async function writeAll(
  store: StreamStore,
  life: StreamLife,
  all: readonly EventData[],
  { by, signal }: WriteDataOptions,
): Promise<void> {
  const each = new Map(all.map(data => [data.sha256, data]))
  await Promise.all(
    [...each.values()].map(async data => {
      if (data.bytes !== undefined) await writeDataBytes(store, life, data, data.bytes, { by, signal })
    }),
  )
}

/** Author, precondition and signal of the change. */
interface ChangeOfData extends Authorship, Precondition {
  readonly signal?: AbortSignal
}

/** The outcomes that a state which was read can give. */
type FoundOutcome =
  | { readonly kind: 'done'; readonly result: ChangeResult; readonly commandId: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly commandId: string }
  | { readonly kind: 'missing' }

/** Sends the operation under a further precondition. */
type Send<Outcome> = (operation: Operation, pin: Pick<Precondition, 'ifBorn'>) => Promise<Outcome>

/** Maximum number of incarnations that one change follows while the stream is replaced again and again. */
const ROUNDS = 4

/**
 * Sends an operation with data that is kept beside the document: writes the data first. The change is then bound to the
 * incarnation of the stream whose data it is. An operation that the present state refuses writes nothing.
 */
export async function sendWithData<Outcome extends { readonly kind: string }>(
  store: StreamStore,
  name: string,
  { operation, data }: { readonly operation: Operation; readonly data: readonly EventData[] },
  options: ChangeOfData,
  send: Send<Outcome | FoundOutcome>,
): Promise<Outcome | FoundOutcome> {
  const applied = operationWithoutBytes(operation)
  if (applied.op === 'init') return sendInit(store, name, { applied, data, born: applied.born }, options, send)
  for (let round = 1; ; round++) {
    const found = await findLife(store, name, applied, options)
    if ('kind' in found) return found
    await writeAll(store, found, data, options)
    const outcome = await send(applied, { ifBorn: found.born })
    if (!isOtherLife(outcome) || isPinned(options) || round === ROUNDS) return outcome
  }
}

/** The incarnation that the change will belong to, or its outcome if nothing has to be written. */
async function findLife(
  store: StreamStore,
  stream: string,
  operation: Operation,
  { commandId, by, why, ifBorn, signal }: ChangeOfData,
): Promise<StreamLife | FoundOutcome> {
  const view = await readStream(store, stream, signal)
  if (view === undefined) return { kind: 'missing' }
  const { document, stored, nowMs } = view
  const trial = tryOperation(
    operation,
    { commandId, by, ...(why === undefined ? {} : { why }) },
    document,
    stored,
    nowMs,
  )
  if (trial.kind === 'refused') return { kind: 'refused', refusal: trial.refusal, commandId }
  if (trial.kind === 'unchanged') return { kind: 'done', result: trial.result, commandId }
  if (trial.kind === 'failed') throw trial.error
  return { stream, born: document.born || ifBorn || randomUUID() }
}

function isOtherLife(outcome: object): boolean {
  return 'refusal' in outcome && (outcome as Extract<FoundOutcome, { refusal: Refusal }>).refusal.code === 'changed'
}

function isPinned({ ifBorn, ifVersion, ifSum }: Precondition): boolean {
  return ifBorn !== undefined || ifVersion !== undefined || ifSum !== undefined
}

/** Nobody else knows the incarnation of a stream that was not created: its data is removed. */
async function sendInit<Outcome extends { readonly kind: string }>(
  store: StreamStore,
  stream: string,
  { applied, data, born }: { readonly applied: Operation; readonly data: readonly EventData[]; readonly born: string },
  options: ChangeOfData,
  send: Send<Outcome | FoundOutcome>,
): Promise<Outcome | FoundOutcome> {
  const life = { stream, born }
  await writeAll(store, life, data, options)
  const outcome = await send(applied, {})
  const isCreated = outcome.kind === 'unknown' || ('result' in outcome && !outcome.result.duplicate)
  if (!isCreated) await removeUnused(store, life).catch(() => {})
  return outcome
}

/** A repetition may name the very incarnation that its first attempt created. */
async function removeUnused(store: StreamStore, life: StreamLife): Promise<void> {
  const view = await readStream(store, life.stream)
  if (view?.document.born !== life.born) await removeLifeData(store, life)
}
