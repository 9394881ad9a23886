import type { Timing } from '../options.ts'
import { type Attempt, type Cut, Excerpt, errorCode, whyCut } from './attempt.ts'
import type { WebhookTarget } from './target.ts'

/** So much of an answer is read. */
const MAX_ANSWER_BYTES = 4 * 1_024
/**
 * What no later try changes: the document is refused, or the address has moved or gone for good. Everything else is tried
 * again, for it comes and goes while a receiver is replaced or its keys and routes are rolled out: 401, 403, 404, 408, 409,
 * 425, 429, all 5xx, and a redirect for the time being, which a page about maintenance is.
 */
const HOPELESS = [301, 308, 400, 405, 410, 413, 414, 415, 422, 431]
/** Nobody is left alone for longer on his own demand. */
const MAX_RETRY_AFTER_MS = 2 * 60_000

export interface WebhookInput {
  readonly id: string
  readonly body: string
  /** `leasectl/1.2.3`. */
  readonly userAgent: string
  /** Epoch ms: receivers refuse what is signed with a time far from theirs. */
  readonly nowMs: number
  readonly timing: Timing
  /** Ends it before its time. */
  readonly stop: AbortSignal
}

/**
 * Sends a delivery to a webhook, once. Redirects are not followed: who may be sent to is decided by the configuration.
 * Where the name of a host leads is up to whoever wrote it there, and to his name server. Never throws.
 */
export async function postWebhook(target: WebhookTarget, input: WebhookInput): Promise<Attempt> {
  const over = new AbortController()
  const late = new AbortController()
  void input.timing.pause(target.timeoutMs, AbortSignal.any([over.signal, input.stop])).then(() => late.abort())
  try {
    return await answerOf(await fetch(target.url, requestOf(target, input, late.signal)), input.nowMs)
  } catch (error) {
    return { ...(late.signal.aborted ? whyCut(input.stop) : unanswered(error)), output: '' }
  } finally {
    over.abort()
  }
}

function requestOf({ secret }: WebhookTarget, { id, body, userAgent, nowMs }: WebhookInput, signal: AbortSignal) {
  const timestampS = Math.floor(nowMs / 1_000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'idempotency-key': id,
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    ...(secret === undefined ? {} : { 'webhook-signature': secret.sign(id, timestampS, body) }),
  }
  return { method: 'POST', redirect: 'manual', headers, body, signal } as const
}

async function answerOf(response: Response, nowMs: number): Promise<Attempt> {
  const { ok, status, headers } = response
  const output = await firstText(response)
  const code = `http-${status}`
  if (ok) return { kind: 'delivered', code, output }
  if (HOPELESS.includes(status)) return { kind: 'hopeless', code, output }
  const retryAfterMs = retryAfter(headers.get('retry-after'), nowMs)
  return { kind: 'repeat', code, output, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

function unanswered(error: unknown): Cut {
  return { kind: 'repeat', code: errorCode(error) }
}

/** What the receiver said counts as soon as its status is here: an answer that breaks off changes nothing. */
async function firstText({ body }: Response): Promise<string> {
  const output = new Excerpt(MAX_ANSWER_BYTES)
  try {
    for await (const chunk of body ?? []) {
      output.add(chunk)
      if (output.isFull) break
    }
  } catch {
    // what came is enough
  }
  return output.text()
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function retryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS)
}
