import { createHmac, hash } from 'node:crypto'

/**
 * What hooks are told. `expired`: a watchdog ended an event whose limit had ended, or found one that is only to be told
 * of (`notify`). `done`: the stream's root became final, whichever way. `failed`: an event was aborted, by a worker, an
 * operator or a watchdog; a cancel is somebody's wish and no failure.
 */
export const HOOK_KINDS = ['expired', 'done', 'failed'] as const
export type HookKind = (typeof HOOK_KINDS)[number]

/** A program that is started for each delivery: no shell, data on standard input and in the environment. */
export interface CommandTarget {
  readonly kind: 'command'
  /** The program's absolute path and its arguments, handed over as they are. */
  readonly argv: readonly [string, ...string[]]
  readonly timeoutMs: number
  /** How often it is tried at most. */
  readonly tries: number
}

/** An address that takes a POST for each delivery. */
export interface WebhookTarget {
  readonly kind: 'webhook'
  /** https, or http on this machine; checked where it was read. */
  readonly url: string
  readonly secret?: SigningSecret
  /** Networks and addresses of one's own that it may lead to, `10.1.0.0/16`; none unless given. */
  readonly networks?: readonly string[]
  readonly timeoutMs: number
  readonly tries: number
}

export type HookTarget = CommandTarget | WebhookTarget

export type Hooks = { readonly [Kind in HookKind]?: readonly HookTarget[] }

export const DEFAULT_TIMEOUT_MS = 30_000
/** With the pauses between them a quarter of an hour or so: a receiver that is being replaced is back by then. */
export const DEFAULT_TRIES = 8

/** A target as logs may name it: arguments, paths of URLs and their queries often hold secrets. */
export function labelOf(target: HookTarget): string {
  return target.kind === 'command' ? target.argv[0] : new URL(target.url).origin
}

/**
 * The name under which the progress of a hook is kept, 16 hex digits: watchdogs with the same hook for the same streams
 * share it. What may be changed without beginning anew, secret, timeout and tries, is left out.
 */
export function hookKey(kind: HookKind, target: HookTarget, match: string | undefined): string {
  const what = target.kind === 'command' ? target.argv : target.url
  return hash('sha256', JSON.stringify([kind, target.kind, what, match ?? null]), 'hex').slice(0, 16)
}

const PREFIX = 'whsec_'
const MIN_BYTES = 16

/**
 * The secret that a webhook's receiver shares, kept where neither logs nor errors can show it.
 * Signs as Standard Webhooks has it: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class SigningSecret {
  readonly #key: Uint8Array

  private constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Reads `whsec_` and base64, or any other text as it is. @returns why not, never with the text in it */
  static read(text: string): SigningSecret | string {
    const trimmed = text.trim()
    if (trimmed === '') return 'it is empty'
    const key = keyOf(trimmed)
    if (key === undefined) return `what follows ${PREFIX} is not base64`
    if (key.length < MIN_BYTES) return `it is too short to be one: at least ${MIN_BYTES} bytes`
    return new SigningSecret(key)
  }

  /** The value of `webhook-signature`. @param timestampS when this try is sent, whole seconds since 1970 */
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
