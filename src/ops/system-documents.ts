import { hostname } from 'node:os'
import type { Decision, Holder, StreamStore } from '../store/store.ts'
import { EMPTY_DOCUMENT } from '../stream/document.ts'
import { InvalidValue } from '../stream/errors.ts'
import { summarize } from '../stream/summarize.ts'

/** A small document is at most so long, in bytes of UTF-8. */
export const MAX_ASIDE_BYTES = 64 * 1024

export interface AsideOptions {
  /** Actor, `user@host`. */
  readonly by: string
  /** What it is for, in words: shown to others while the lease is held. */
  readonly purpose: string
  /** How long to wait for a lease held by another, ms. Default 2 000. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/**
 * What became of a change. `written`: durable. `left`: the document is as `change` wants it, or it wanted nothing.
 * `busy`: leased by another for longer than `waitMs`, nothing was written. `unknown`: a write has no answer.
 */
export type AsideOutcome = 'written' | 'left' | 'busy' | 'unknown'

/**
 * Reads one of the tool's own small documents, below `.leasectl/`; `undefined` if there is none. Takes no lease. Never
 * fails for what it holds: bytes that are not UTF-8 are replaced, and of a document that is too long (nobody's of ours)
 * only the beginning is returned.
 *
 * @throws the store's faults, the signal's reason
 */
export async function readAside(store: StreamStore, name: string, signal?: AbortSignal): Promise<string | undefined> {
  const stored = await store.read(name, signal)
  return stored && textOf(stored.body)
}

/**
 * Changes one of the tool's own small documents under its lease, or creates it. `change` gets the text as it stands
 * (`undefined`: there is no document) and returns the new one, or `undefined` to leave it. It is pure and may be called
 * again with the outcome of its own earlier try, whose answer was lost: applied to its own result it must change nothing.
 *
 * @throws `InvalidValue` if the new text is longer than `MAX_ASIDE_BYTES`; the store's faults, nothing was written
 */
export async function changeAside(
  store: StreamStore,
  name: string,
  change: (text: string | undefined) => string | undefined,
  options: AsideOptions,
): Promise<AsideOutcome> {
  for (let round = 0; round < ROUNDS; round++) {
    const changed = await rewrite(store, name, change, options)
    if (changed !== 'missing') return changed
    const text = change(undefined)
    if (text === undefined) return 'left'
    const created = await createAside(store, name, text, options)
    if (created === 'created') return 'written'
    // Created by another, or perhaps by us: under the lease `change` sees which.
    if (created === 'unknown' && (await isUnread(store, name, options.signal))) return 'unknown'
  }
  return 'busy'
}

/** Somebody creates and removes the document in turns: that many times is enough. */
const ROUNDS = 4

/** Creates a small document unless something has its name. @throws as `changeAside` */
export async function createAside(
  store: StreamStore,
  name: string,
  text: string,
  { by, signal }: Pick<AsideOptions, 'by' | 'signal'>,
): Promise<'created' | 'exists' | 'unknown'> {
  const outcome = await store.create(name, bodyOf(name, text), summaryOf(store, by), signal)
  return outcome.kind
}

async function rewrite(
  store: StreamStore,
  name: string,
  change: (text: string | undefined) => string | undefined,
  { by, purpose, waitMs = 2_000, signal }: AsideOptions,
): Promise<AsideOutcome | 'missing'> {
  const decide = ({ body }: { readonly body: Uint8Array }): Decision => {
    const text = textOf(body)
    const next = change(text)
    if (next === undefined || next === text) return { kind: 'leave' }
    return { kind: 'put', body: bodyOf(name, next), summary: summaryOf(store, by) }
  }
  const holder: Holder = { by, host: hostname(), pid: process.pid, purpose, sinceMs: store.nowMs() }
  const outcome = await store.update(name, decide, { waitMs, holder, ...(signal && { signal }) })
  switch (outcome.kind) {
    case 'committed':
      return 'written'
    case 'held':
    // No lease was given that could be lost.
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

/** After a create without an answer: a document that cannot be seen may still come. */
async function isUnread(store: StreamStore, name: string, signal: AbortSignal | undefined): Promise<boolean> {
  return (await store.read(name, signal).catch(() => undefined)) === undefined
}

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, MAX_ASIDE_BYTES))
}

function bodyOf(name: string, text: string): Uint8Array {
  const body = Buffer.from(text)
  if (body.length <= MAX_ASIDE_BYTES) return body
  throw new InvalidValue(`${name} would take ${body.length} bytes, it may take ${MAX_ASIDE_BYTES}`)
}

/** To a listing it would be an empty stream; listings leave it out by its name. */
function summaryOf(store: StreamStore, lastBy: string) {
  return summarize(EMPTY_DOCUMENT, { nowMs: store.nowMs(), lastBy })
}
