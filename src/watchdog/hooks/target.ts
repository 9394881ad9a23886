import { createHmac, hash } from 'node:crypto'

/**
 * Kinds of events for hooks. `expired`: a watchdog ended an event after its deadline, or found one that only notifies
 * (`notify`). `done`: the root of a stream became final, with any status. `failed`: an event was aborted, by a worker,
 * an operator or a watchdog; a cancellation is a user's decision and not a failure. `compensated`, `compensation-failed`: a
 * stream has ended after its undo sequence, which undid everything, or did not.
 */
export const HOOK_KINDS = ['expired', 'done', 'failed', 'compensated', 'compensation-failed'] as const
export type HookKind = (typeof HOOK_KINDS)[number]

/** A program that is started for each delivery: no shell, data on standard input and in the environment. */
export interface CommandTarget {
  readonly kind: 'command'
  /** Absolute path and arguments of the program, passed on unchanged. */
  readonly argv: readonly [string, ...string[]]
  readonly timeoutMs: number
  /** Maximum number of attempts. */
  readonly tries: number
}

/** An address that receives a POST for each delivery. */
export interface WebhookTarget {
  readonly kind: 'webhook'
  /** https, or http on this machine; already validated. */
  readonly url: string
  readonly secret?: SigningSecret
  /** Permitted private networks and addresses, `10.1.0.0/16`; default none. */
  readonly networks?: readonly string[]
  readonly timeoutMs: number
  readonly tries: number
}

export type HookTarget = CommandTarget | WebhookTarget

export type Hooks = { readonly [Kind in HookKind]?: readonly HookTarget[] }

export const DEFAULT_TIMEOUT_MS = 30_000

/** Name of a target for logs: arguments, and paths and queries of URLs, often contain secrets. */
export function labelOf(target: HookTarget): string {
  return target.kind === 'command' ? target.argv[0] : new URL(target.url).origin
}

/**
 * The key of a hook's positions, 16 hex digits: watchdogs with the same hook for the same streams share it. It does not
 * depend on secret, timeout and tries, so these can be changed without a new start.
 */
export function hookKey(kind: HookKind, target: HookTarget, match: string | undefined): string {
  const what = target.kind === 'command' ? target.argv : target.url
  return hash('sha256', JSON.stringify([kind, target.kind, what, match ?? null]), 'hex').slice(0, 16)
}

/** One target of one kind, with the key of its positions. */
export interface Hook {
  readonly kind: HookKind
  readonly target: HookTarget
  readonly key: string
}

/** The hooks one by one. */
export function hooksOf(hooks: Hooks, match: string | undefined): Hook[] {
  return HOOK_KINDS.flatMap(kind =>
    (hooks[kind] ?? []).map(target => ({ kind, target, key: hookKey(kind, target, match) })),
  )
}

const PREFIX = 'whsec_'
const MIN_BYTES = 16

/**
 * The secret shared with the receiver of a webhook, in a private field that neither logs nor errors can show.
 * Signatures follow Standard Webhooks:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class SigningSecret {
  readonly #key: Uint8Array

  private constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Reads `whsec_` with base64, or any other text literally. @returns why it is invalid, never quoting the text */
  static read(text: string): SigningSecret | string {
    const trimmed = text.trim()
    if (trimmed === '') return 'it is empty'
    const key = keyOf(trimmed)
    if (key === undefined) return `the text after ${PREFIX} is not base64`
    if (key.length < MIN_BYTES) return `it is too short: at least ${MIN_BYTES} bytes`
    return new SigningSecret(key)
  }

  /** The value of `webhook-signature`. @param timestampS time of this attempt, whole seconds since 1970 */
  sign(id: string, timestampS: number, body: string): string {
    const signed = createHmac('sha256', this.#key).update(`${id}.${timestampS}.${body}`)
    return `v1,${signed.digest('base64')}`
  }
}

function keyOf(text: string): Uint8Array | undefined {
  if (!text.startsWith(PREFIX)) return Buffer.from(text)
  const encoded = text.slice(PREFIX.length)
  return /^[A-Za-z0-9+/_-]+=*$/.test(encoded) ? Buffer.from(encoded, 'base64') : undefined
}
