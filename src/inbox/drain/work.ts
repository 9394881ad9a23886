import { hash, randomUUID } from 'node:crypto'
import { type AlikeInit, AlikeStreams } from '../../ops/transact/alike-streams.ts'
import { appendStep } from '../../ops/transact/append.ts'
import { type TransactOptions, type TransactOutcome, transact } from '../../ops/transact/transact.ts'
import { StoreFull, StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { dataOf, type EventData } from '../../stream/data.ts'
import { InvalidValue, StreamFault } from '../../stream/errors.ts'
import type { EventSpec, Operation } from '../../stream/operations/operation.ts'
import { encodeCommandId } from '../../stream/text.ts'
import { defined } from '../../util/defined.ts'
import type { InboxRecord, ReadRecord } from '../record.ts'
import { type RecordText, recordName, recordText, takesValues } from './texts.ts'

/** What became of a record. */
export type RecordOutcome =
  /** `changed`: another operation; `ignored`: the handler wanted nothing, or allowed the refusal. */
  | { readonly kind: 'created' | 'appended' | 'changed' | 'duplicate' | 'ignored'; readonly stream: string }
  /** It can never be done. */
  | { readonly kind: 'dead'; readonly code: string; readonly why: string; readonly stream?: string }
  /** It could not be done now. `isOverload`: the store refuses or does not answer. */
  | { readonly kind: 'again'; readonly code: string; readonly why: string; readonly isOverload: boolean }

/** What a drain does with each record, once for its id however often it is called. */
export interface DrainWork {
  /** In one line, for those who drain the same inbox. */
  readonly description: string
  /** Different for work that is not the same. */
  readonly fingerprint: string
  /** @throws faults of the store that waiting does not mend */
  readonly apply: (read: ReadRecord, commandId: string) => Promise<RecordOutcome>
}

/** The same work, in an inbox where a dead letter blocks its key. */
export function inStrictOrder(work: DrainWork): DrainWork {
  const { description, fingerprint } = work
  return { ...work, description: `${description}, in strict order`, fingerprint: `${fingerprint}-strict` }
}

/** Who works, and how. */
export type RecordChange = Pick<TransactOptions, 'by' | 'why' | 'write' | 'leaseWaitMs' | 'onLeaseAttempt' | 'purpose'>

/** Each record creates a stream. */
export interface CreatesStreams {
  readonly kind: 'create'
  /** The name of the stream, with `{/pointer}`. */
  readonly name: string
  /** Its root gets the record's data as its input. Its texts may have `{/pointer}`. */
  readonly init: Omit<Extract<Operation, { op: 'init' }>, 'born'>
}

/** Each record is appended to a session as a step, which is made if it is absent. */
export interface AppendsSteps {
  readonly kind: 'append'
  /** The name of the session, with `{/pointer}`. */
  readonly name: string
  /** It gets the record's data as its input. */
  readonly step: EventSpec
}

/** @throws InvalidValue for a pointer that cannot be */
export function drainWork(store: StreamStore, spec: CreatesStreams | AppendsSteps, options: RecordChange): DrainWork {
  if (!takesValues(spec.name)) {
    throw new InvalidValue(
      `the name ${JSON.stringify(spec.name)} takes no value of the record: all would be one stream`,
      {
        hint: 'Write {/id} or {/key} in it.',
      },
    )
  }
  const nameOf = recordName(spec.name)
  const send = spec.kind === 'create' ? creation(store, spec.init, options) : appending(store, spec.step)
  const done = spec.kind === 'create' ? 'created' : 'appended'
  const apply = async (read: ReadRecord, commandId: string): Promise<RecordOutcome> => {
    let stream: string | undefined
    try {
      stream = nameOf(read.record)
      const outcome = await send(stream, read, { ...options, commandId })
      return outcomeOf(outcome, stream, done)
    } catch (error) {
      return afterError(error, stream)
    }
  }
  const what = spec.kind === 'create' ? `streams ${spec.name}` : `steps ${spec.step.name} in ${spec.name}`
  return { description: what, fingerprint: hash('sha256', JSON.stringify(spec), 'hex').slice(0, 16), apply }
}

type Outcome = TransactOutcome | { readonly kind: 'created' }
type Send = (stream: string, read: ReadRecord, options: TransactOptions) => Promise<Outcome>

function creation(store: StreamStore, init: AlikeInit, change: RecordChange): Send {
  // Then the streams differ in their data only.
  if (!takesValues(JSON.stringify(init))) {
    const streams = new AlikeStreams(store, init, change)
    return (stream, { json }, { commandId }) => streams.create(stream, inputOf(json), commandId)
  }
  const { root, forks, join, steps, ...rest } = init
  const fillRoot = filled(root)
  const fillForks = forks.map(filled)
  const fillSteps = steps?.map(filled)
  const fillJoin = join && filled(join)
  return (stream, { record, json }, options) => {
    const operation: Operation = {
      ...rest,
      root: { ...fillRoot(record), data: inputOf(json) },
      forks: fillForks.map(fill => fill(record)),
      ...(fillJoin && { join: fillJoin(record) }),
      ...(fillSteps && { steps: fillSteps.map(fill => fill(record)) }),
      born: randomUUID(),
    }
    return transact(store, stream, operation, options)
  }
}

function appending(store: StreamStore, step: EventSpec): Send {
  const fill = filled(step)
  return (stream, { record, json }, options) =>
    appendStep(
      store,
      stream,
      { step: { ...fill(record), data: inputOf(json) }, create: 'Session', ...defined({ seq: record.seq }) },
      options,
    )
}

/** The data of a record as the input of an event, as it was put. */
export function inputOf(json: string): EventData {
  return dataOf(Buffer.from(json), 'application/json')
}

/** An event whose texts and data take values of the record. One that takes none is the same object for all records. */
function filled<Spec extends EventSpec>(spec: Spec): (record: InboxRecord) => Spec {
  const texts = Object.entries(spec).flatMap(([field, value]): [string, RecordText][] =>
    typeof value === 'string' && takesValues(value) ? [[field, recordText(value)]] : [],
  )
  const { data } = spec
  const dataText = data?.text !== undefined && takesValues(data.text) ? recordText(data.text) : undefined
  if (texts.length === 0 && dataText === undefined) return () => spec
  return record => ({
    ...spec,
    ...Object.fromEntries(texts.map(([field, text]) => [field, text(record)])),
    ...(dataText && { data: dataOf(Buffer.from(dataText(record)), data?.type) }),
  })
}

/** What the outcome of its operation means for a record. */
export function outcomeOf(outcome: Outcome, stream: string, done: 'created' | 'appended' | 'changed'): RecordOutcome {
  switch (outcome.kind) {
    case 'created':
      return { kind: 'created', stream }
    case 'done':
      return { kind: outcome.result.duplicate ? 'duplicate' : done, stream }
    case 'refused': {
      const { code, message } = outcome.refusal
      // The stream knows the record: another template, or another copy of the record, made it.
      if (code === 'command-id-reused') return { kind: 'duplicate', stream }
      return { kind: 'dead', code, why: message, stream }
    }
    case 'held':
      return again('lease-held', `${stream} is leased by another`, false)
    case 'unknown':
      return again('unknown', `the store did not say whether ${stream} was written`, true)
    case 'missing':
      return again('missing', `${stream} was removed meanwhile`, false)
    case 'lost':
      return again(outcome.code, `the lease of ${stream} was lost`, false)
    default:
      return outcome satisfies never
  }
}

function again(code: string, why: string, isOverload: boolean): RecordOutcome {
  return { kind: 'again', code, why, isOverload }
}

/** What an error means for a record. @throws those that waiting does not mend */
export function afterError(error: unknown, stream: string | undefined): RecordOutcome {
  if (error instanceof StoreUnreachable || error instanceof StoreFull) return again(error.code, error.message, true)
  if (error instanceof InvalidValue || error instanceof StreamFault)
    return { kind: 'dead', code: error.code, why: error.message, ...(stream !== undefined && { stream }) }
  throw error
}

/** The command id of a record: the same in every drain. */
export function recordCommandId(inbox: string, id: string): string {
  try {
    return encodeCommandId(`inbox:${inbox}:${id}`)
  } catch {
    return `inbox:${inbox}:sha256:${hash('sha256', id, 'hex')}`
  }
}
