import { hostname } from 'node:os'
import type { Decision, Holder, StreamStore, WriteMode } from '../store/store.ts'
import { EMPTY_DOCUMENT } from '../stream/document.ts'
import { InvalidValue } from '../stream/errors.ts'
import { summarize } from '../stream/summarize.ts'
import { defined } from '../util/defined.ts'
import { MAX_SYSTEM_DOCUMENT_BYTES, systemText } from './read-system-document.ts'

export interface SystemDocumentOptions {
  /** Actor, `user@host`. */
  readonly by: string
  /** The purpose of the lease, shown to others while it is held. */
  readonly purpose: string
  /** How long to wait for a lease held by another, ms. Default 2 000. */
  readonly waitMs?: number
  /** Default `lease`. With `optimistic`, a killed writer leaves no lease that others wait for. */
  readonly write?: WriteMode
  /** Maximum size, bytes. Default `MAX_SYSTEM_DOCUMENT_BYTES`. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

/**
 * The outcome of a change. `written`: durable. `left`: nothing to change. `busy`: leased by another for longer than
 * `waitMs`, nothing was written. `unknown`: a write was not answered.
 */
export type SystemDocumentOutcome = 'written' | 'left' | 'busy' | 'unknown'

/**
 * Changes a system document under its lease, or creates it. `change` gets the present text (`undefined`: there is no
 * document) and returns the new one, or `undefined` to leave it. It is pure and idempotent: after a lost answer it may
 * be called again with its own result, which it must not change.
 *
 * @throws `InvalidValue` if the new text is longer than the maximum; the store's faults, nothing was written
 */
export async function changeSystemDocument(
  store: StreamStore,
  name: string,
  change: (text: string | undefined) => string | undefined,
  options: SystemDocumentOptions,
): Promise<SystemDocumentOutcome> {
  for (let round = 0; round < ROUNDS; round++) {
    const changed = await rewrite(store, name, change, options)
    if (changed !== 'missing') return changed
    const text = change(undefined)
    if (text === undefined) return 'left'
    const created = await createSystemDocument(store, name, text, options)
    if (created === 'created') return 'written'
    // Created by another process, or by us: under the lease `change` sees the text.
    if (created === 'unknown' && (await isUnread(store, name, options.signal))) return 'unknown'
  }
  return 'busy'
}

/** Maximum number of rounds while another process creates and removes the document in turns. */
const ROUNDS = 4

/** Creates a system document unless the name is taken. @throws the errors of `changeSystemDocument` */
export async function createSystemDocument(
  store: StreamStore,
  name: string,
  text: string,
  { by, maxBytes, signal }: Pick<SystemDocumentOptions, 'by' | 'maxBytes' | 'signal'>,
): Promise<'created' | 'exists' | 'unknown'> {
  const outcome = await store.create(name, bodyOf(name, text, maxBytes), systemSummary(store, by), signal)
  return outcome.kind
}

async function rewrite(
  store: StreamStore,
  name: string,
  change: (text: string | undefined) => string | undefined,
  { by, purpose, waitMs = 2_000, write, maxBytes, signal }: SystemDocumentOptions,
): Promise<SystemDocumentOutcome | 'missing'> {
  const decide = ({ body }: { readonly body: Uint8Array }): Decision => {
    const text = systemText(body, maxBytes)
    const next = change(text)
    if (next === undefined || next === text) return { kind: 'leave' }
    return { kind: 'put', body: bodyOf(name, next, maxBytes), summary: systemSummary(store, by) }
  }
  const holder: Holder = { by, host: hostname(), pid: process.pid, purpose, sinceMs: store.nowMs() }
  const outcome = await store.update(name, decide, { waitMs, holder, ...defined({ write, signal }) })
  switch (outcome.kind) {
    case 'committed':
      return 'written'
    case 'held':
    // `lost` is impossible without a given lease.
    case 'lost':
      return 'busy'
    case 'left':
    case 'missing':
    case 'unknown':
      return outcome.kind
    default:
      return outcome satisfies never
  }
}

/** Whether the document is still missing after an unanswered create, which may still be applied. */
async function isUnread(store: StreamStore, name: string, signal: AbortSignal | undefined): Promise<boolean> {
  return (await store.read(name, signal).catch(() => undefined)) === undefined
}

function bodyOf(name: string, text: string, maxBytes = MAX_SYSTEM_DOCUMENT_BYTES): Uint8Array {
  const body = Buffer.from(text)
  if (body.length <= maxBytes) return body
  throw new InvalidValue(`${name} would have ${body.length} bytes; the limit is ${maxBytes}`)
}

/** The summary of an empty stream; listings leave out system documents by name. */
export function systemSummary(store: StreamStore, lastBy: string) {
  return summarize(EMPTY_DOCUMENT, { nowMs: store.nowMs(), lastBy })
}
