import type { IncomingMessage, RequestOptions } from 'node:http'
import type { Timing } from '../../util/clock.ts'
import { AddressRefused, guardedLookup, literalOf, type Resolve, refusalOf } from './address-policy.ts'
import { type DeliveryAttempt, Excerpt, failureCode, whyCut } from './attempt.ts'
import type { WebhookTarget } from './target.ts'

/** Limit for the part of an answer that is read. */
const MAX_ANSWER_BYTES = 4 * 1_024
/**
 * Statuses that no retry changes: the document is rejected, or the address has moved or gone permanently. All others
 * are retried, since they come and go while a receiver is replaced or its keys and routes are rolled out: 401, 403,
 * 404, 408, 409, 425, 429, all 5xx, and temporary redirects, for example to a maintenance page.
 */
const HOPELESS = [301, 308, 400, 405, 410, 413, 414, 415, 422, 431]
/** Limit for the delay that a receiver may request. */
const MAX_RETRY_AFTER_MS = 2 * 60_000

export interface WebhookInput {
  readonly id: string
  readonly body: string
  /** `leasectl/1.2.3`. */
  readonly userAgent: string
  /** Epoch ms: receivers reject signatures with a time far from theirs. */
  readonly nowMs: number
  readonly timing: Timing
  /** Aborts the request. */
  readonly stop: AbortSignal
  /** Resolves names; default: the system's resolver. */
  readonly resolve?: Resolve | undefined
}

/**
 * Sends a delivery to a webhook, once, over a new connection. Only the configuration decides about destinations:
 * redirects and proxies of the environment are ignored, and private addresses are refused unless they are in
 * `target.networks`. The connection uses exactly the checked address. Never throws.
 */
export async function postWebhook(target: WebhookTarget, input: WebhookInput): Promise<DeliveryAttempt> {
  const over = new AbortController()
  const late = new AbortController()
  void input.timing.pause(target.timeoutMs, AbortSignal.any([over.signal, input.stop])).then(() => late.abort())
  try {
    return await answerOf(await sent(target, input, late.signal), input.nowMs)
  } catch (error) {
    return late.signal.aborted ? { ...whyCut(input.stop), output: '' } : unanswered(error)
  } finally {
    over.abort()
  }
}

/** Resolves with the headers of the answer. @throws AddressRefused, and connection errors of the system */
async function sent(target: WebhookTarget, input: WebhookInput, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(target.url)
  const { networks = [] } = target
  const literal = literalOf(url.hostname)
  const why = literal && refusalOf(literal, networks)
  if (why !== undefined) throw new AddressRefused(why)
  const [{ request, Agent }, { lookup }] = await Promise.all([
    url.protocol === 'https:' ? import('node:https') : import('node:http'),
    import('node:dns/promises'),
  ])
  const resolve = input.resolve ?? ((host, options) => lookup(host, { ...options, all: true }))
  // The environment may make the default agent use a proxy, which would resolve the name again.
  const agent = new Agent({ keepAlive: false })
  const options = { ...requestOf(target, input), agent, signal, lookup: guardedLookup(networks, resolve) }
  return new Promise((answered, reject) => {
    const outgoing = request(url, options, answered)
    outgoing.on('error', reject).on('close', () => reject(new Error('the connection ended without an answer')))
    outgoing.end(input.body)
  })
}

function requestOf({ secret }: WebhookTarget, { id, body, userAgent, nowMs }: WebhookInput): RequestOptions {
  const timestampS = Math.floor(nowMs / 1_000)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': userAgent,
    'idempotency-key': id,
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    ...(secret === undefined ? {} : { 'webhook-signature': secret.sign(id, timestampS, body) }),
  }
  return { method: 'POST', headers }
}

async function answerOf(response: IncomingMessage, nowMs: number): Promise<DeliveryAttempt> {
  const { statusCode: status = 0, headers } = response
  const output = await firstText(response)
  const code = `http-${status}`
  if (status >= 200 && status < 300) return { kind: 'delivered', code, output }
  if (HOPELESS.includes(status)) return { kind: 'hopeless', code, output }
  const retryAfterMs = retryAfter(headers['retry-after'], nowMs)
  return { kind: 'repeat', code, output, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** Only our own refusal is quoted: other messages may contain confidential names. */
function unanswered(error: unknown): DeliveryAttempt {
  return { kind: 'repeat', code: failureCode(error), output: error instanceof AddressRefused ? error.message : '' }
}

/** The status alone decides: an answer that breaks off after it changes nothing. */
async function firstText(body: IncomingMessage): Promise<string> {
  const output = new Excerpt(MAX_ANSWER_BYTES)
  try {
    for await (const chunk of body) {
      output.add(chunk)
      if (output.isFull) break
    }
  } catch {
    // The part received so far suffices.
  }
  return output.text()
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function retryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS)
}
