import { randomUUID } from 'node:crypto'
import { type EditOutcome, edit } from '../ops/transact/edit.ts'
import { transact as transactAs } from '../ops/transact/transact.ts'
import type { TransactOptions, TransactOutcome } from '../ops/transact/types.ts'
import type { EventStore } from '../store/store.ts'
import type { EventSpec, Operation } from '../stream/operations/operation.ts'
import { checkCommandId } from '../stream/text.ts'
import {
  callback,
  flag,
  inField,
  needed,
  objectOf,
  type Read,
  requiredText,
  signal,
  storedText,
  text,
  uuid,
  whole,
} from '../stream/values.ts'
import { checkTarget, reason, waitMs, write } from './checks.ts'
import { StreamEditor } from './editor.ts'
import { readOperation } from './operations.ts'
import { type EventInput, readEvent, SUCCESSORS, type SuccessorSpecs, type Successors } from './specs.ts'

/** How a stream is changed: by whom, why, and how long to wait for it. */
export interface ChangeStreamOptions extends Omit<TransactOptions, 'commandId'> {
  /**
   * Makes a repetition safe: what was done under an id is not done again, the first result comes back. Take one that follows
   * from what causes the change, as the id of a message. 1–196 characters of `A–Z a–z 0–9 . _ : / @ + % -`. Default: a fresh
   * one for each call, which makes the tries of one call safe.
   */
  readonly commandId?: string
}

const commandId: Read<string> = (given, field) => {
  inField(field, () => checkCommandId(text(given, field)))
  return text(given, field)
}

const readChange = objectOf<ChangeStreamOptions>({
  by: needed(requiredText),
  why: reason,
  commandId,
  leaseWaitMs: waitMs,
  leaseId: uuid,
  write,
  afterWrite: callback,
  purpose: storedText(),
  stopWaiting: signal,
  signal,
  ifVersion: whole(0),
  ifBorn: text,
  ifSum: text,
})

/** A stream that is to be created. */
export interface NewStream extends Omit<Successors, 'next'> {
  /** Its first event. Default `Start`. */
  readonly root?: EventInput
  /** The root stays `init`: nothing in the stream is worked or due until the root is started. */
  readonly hold?: boolean
}

const { forks, join } = SUCCESSORS

const readNewStream = objectOf<{
  readonly root?: EventSpec
  readonly forks?: SuccessorSpecs['forks']
  readonly join?: EventSpec
  readonly hold?: boolean
}>({ root: readEvent, forks, join, hold: flag })

/**
 * Changes a stream in one write: whatever steps `change` takes land together or not at all. It sees the stream as it
 * stands while others are kept away, and what its own steps made of it.
 *
 * ```ts
 * const outcome = await changeStream(store, 'orders/4711', { by: 'shop' }, stream => {
 *   const search = stream.mustFind('01.00')
 *   if (search.isOpen) search.complete('12 results')
 *   stream.mustFind('02.00').advance({ forks: ['Search', 'Search'], join: 'Merge' })
 * })
 * ```
 *
 * `change` must be synchronous, and do nothing but look and take steps: it is called again, with the state of then, where
 * somebody else was faster or an answer was lost. At most 100 steps, fewer in a stream of thousands of events. The steps have
 * the command ids `ID/1`, `ID/2` …; was `ID/1` done before, `change` is not called.
 *
 * @returns done with a result for each step, refused (by the first step that is not legal; nothing was written), missing, held,
 * lost or unknown
 * @throws what `change` throws, as EventNotFound: nothing was written; InvalidValue a text or id that can never be right, an
 * asynchronous `change`; BadDocument and the store's faults
 */
export async function changeStream(
  store: EventStore,
  name: string,
  options: ChangeStreamOptions,
  change: (stream: StreamEditor) => void,
): Promise<EditOutcome> {
  checkTarget(store, name)
  const given = { purpose: 'change', ...withCommandId(options) }
  callback(change, 'change')
  return edit(store, name, given, editing => change(new StreamEditor(name, editing)))
}

/**
 * Creates a stream: its root and, if asked, a first fork with a join.
 *
 * @returns done; refused with `exists` if there is one already, unless it was made under the same command id; unknown
 * @throws InvalidValue a text or id that can never be right; the store's faults
 */
export async function createStream(
  store: EventStore,
  name: string,
  options: ChangeStreamOptions,
  stream: NewStream = {},
): Promise<TransactOutcome> {
  checkTarget(store, name)
  const born = randomUUID()
  const init = {
    op: 'init',
    root: { name: 'Start' },
    forks: [],
    hold: false,
    ...readNewStream(stream, 'stream'),
    born,
  } as const
  return transactAs(store, name, init, withCommandId(options))
}

/**
 * One operation on a stream: read, applied, written once. It lands whole or not at all. Operations on the same stream that
 * are asked for at the same time in this process are written together.
 *
 * @returns done, refused, missing, held, lost or unknown
 * @throws InvalidValue a text or id that can never be right; BadDocument the document cannot be read (it stays as it is); the
 * store's faults: nothing was applied
 */
export async function transact(
  store: EventStore,
  name: string,
  operation: Operation,
  options: ChangeStreamOptions,
): Promise<TransactOutcome> {
  checkTarget(store, name)
  return transactAs(store, name, readOperation(operation, 'operation'), withCommandId(options))
}

function withCommandId(options: ChangeStreamOptions): TransactOptions {
  return { commandId: randomUUID(), ...readChange(options, 'options') }
}
