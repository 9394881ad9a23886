import { checkStreamName } from '../../store/names.ts'
import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { rewrite } from '../../stream/operations/rewrite.ts'
import { checkCommandId, checkText } from '../../stream/text.ts'
import { parseBody } from './plan.ts'
import { isFollowed, pendingOperation, submit, type TransactOptions, type TransactOutcome } from './transact.ts'

/** Options of a rewrite. The lease, which the caller holds, is required: without it another writer could come between. */
export interface RewriteOptions extends TransactOptions {
  readonly leaseId: string
}

/**
 * Writes a whole document over a stream, under a lease of the caller: its events and everything around them count as given,
 * while the journal, the version and the incarnation of the stored document stay. The change is a `foreign` entry of its author.
 * Claims that the stored document does not have are not taken over. Repeating with the same command id is safe.
 *
 * @param body the document, as `show -o xml` prints it
 * @returns as `transact`
 * @throws BadDocument for an unreadable document, given or stored; InvalidValue for one without events; the errors of `transact`
 */
export async function rewriteStream(
  store: StreamStore,
  name: string,
  body: Uint8Array,
  options: RewriteOptions,
): Promise<TransactOutcome> {
  checkStreamName(name)
  checkCommandId(options.commandId)
  if (options.by === '') throw new InvalidValue('an actor is needed: who makes this change')
  checkText('by', options.by)
  if (options.why !== undefined) checkText('reason', options.why)
  const given = parseBody(body, undefined)
  if (given.events.length === 0) throw new InvalidValue('the given document has no event')
  options.signal?.throwIfAborted()
  const pending = pendingOperation({ op: 'settle' }, options)
  const { author, pin, born, nonce } = pending
  const applied = {
    ...pending,
    edit: (...[document, { versionFloor, modifiedMs }, nowMs]: Parameters<NonNullable<(typeof pending)['edit']>>) =>
      rewrite(document, given, author, {
        ...{ nowMs, versionFloor, nonce, born: pin.ifBorn || born },
        ...pin,
        ...(modifiedMs === undefined ? {} : { lastModifiedMs: modifiedMs }),
      }),
  }
  const outcome = await submit(store, name, applied, options, true)
  if (outcome.kind === 'done' && isFollowed(outcome.result)) await options.afterWrite?.(outcome.result)
  return outcome
}
