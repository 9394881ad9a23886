import { appendStep } from '../ops/transact/append.ts'
import type { TransactOutcome } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import { type EventInput, readEvent } from '../stream/specs.ts'
import { flag, isObject, requiredText, whole } from '../stream/values.ts'
import { checkTarget } from './checks.ts'
import { type ChangeStreamOptions, objectOrEmpty, withCommandId } from './streams.ts'

/** Options of `append`. */
export interface AppendOptions extends ChangeStreamOptions {
  /** Identifies the step: a repetition with the same id appends nothing, whoever sends it. */
  readonly commandId: string
  /** Makes the session if the stream is absent; `root` names its root, default `Session`. */
  readonly create?: boolean | { readonly root: string }
  /**
   * Drops the oldest completed steps but this many, at least 1, with their history and command ids: the document of a long
   * session stays small. A step that was dropped is appended again if its command id comes again.
   */
  readonly keep?: number
  /**
   * The number of the step within its session, from 1: it is done after the one before it, even if that comes later. All steps of
   * a session have one, or none.
   */
  readonly seq?: number
  /** No more steps follow: the session ends after this one. */
  readonly last?: boolean
}

/**
 * Appends a step to a session: a stream whose steps are done one by one, in the order in which they were appended. Any
 * number of sessions go on side by side. A session ends after the step with `last`, or by `signal(store, name, 'end', …)`.
 *
 * ```ts
 * await append(store, 'cars/7', { name: 'Move', data: '3,4' }, { by: 'gps', commandId: 'msg-18', create: true })
 * ```
 *
 * @returns as `transact`; `refused` with `no-session` for another stream, `session-ended`, `step-taken` for the
 * number of another step, or `bad-step`
 * @throws as `transact`; InvalidValue without `commandId`
 */
export async function append(
  store: StreamStore,
  name: string,
  step: EventInput,
  options: AppendOptions,
): Promise<TransactOutcome> {
  checkTarget(store, name)
  const { create, seq, last, keep, ...change } = objectOrEmpty<AppendOptions>(options)
  if (change.commandId === undefined) throw new InvalidValue('append needs a commandId, the id of the step')
  const root = isObject(create) ? requiredText(create.root, 'create.root') : 'Session'
  const appended = {
    step: readEvent(step, 'step'),
    ...(create === undefined || create === false ? {} : { create: root }),
    ...(seq === undefined ? {} : { seq: whole(1)(seq, 'seq') }),
    ...(last === undefined ? {} : { last: flag(last, 'last') }),
    ...(keep === undefined ? {} : { keep: whole(1)(keep, 'keep') }),
  }
  return appendStep(store, name, appended, withCommandId(change as ChangeStreamOptions))
}
