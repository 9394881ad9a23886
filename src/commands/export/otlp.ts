import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { unansweredDelay } from '../../store/backoff.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { firstBytes } from '../../util/first-bytes.ts'
import { isLoopback } from '../../util/loopback.ts'

/** A collector that accepts traces as OTLP/HTTP with JSON. */
export interface Endpoint {
  /** Sends one request. Returns why it was not fully accepted; `undefined` if it was. Does not throw. */
  send(body: string): Promise<Problem | undefined>
}

const HEADERS_VARIABLE = 'OTEL_EXPORTER_OTLP_HEADERS'
const TIMEOUT_MS = 10_000
const TRIES = 3
const MAX_ANSWER_BYTES = 64 * 1_024

/** Parses the endpoint URL: https, or http on this machine only. The default path is `/v1/traces`. */
export function endpointUrl(text: string): URL {
  const bad = (what: string, hint = 'Write --endpoint https://HOST:4318 or https://HOST/PATH.') =>
    new UsageError(`--endpoint: ${what}`, { hint })
  if (!URL.canParse(text)) throw bad('not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw bad('must not have a user, a query or a fragment', `Pass credentials in ${HEADERS_VARIABLE}=KEY=VALUE.`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw bad('neither https nor http')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw bad('http would send the streams unencrypted', 'Use https, or http://localhost.')
  }
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url
}

/** @throws UsageError if the headers variable is malformed; the message never quotes it, as it holds secrets */
export function openEndpoint(url: URL, runtime: Runtime): Endpoint {
  const headers = { ...headersFrom(runtime.env[HEADERS_VARIABLE]), 'content-type': 'application/json' }
  return {
    async send(body) {
      for (let index = 0; ; index += 1) {
        const { why, isRetryable, retryAfterMs } = await post(url, headers, body)
        if (why === undefined || !isRetryable || index + 1 >= TRIES || runtime.signal.aborted) return why
        await sleepUntilAborted(unansweredDelay(index, retryAfterMs, Math.random))
      }
    },
  }
}

/** `KEY=VALUE,KEY=VALUE` with percent-encoded values, as OpenTelemetry defines it. */
function headersFrom(text: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const item of (text ?? '').split(',').filter(part => part.trim() !== '')) {
    const [, key, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(item) ?? []
    const decoded = value === undefined ? undefined : headerValue(value)
    if (key === undefined || decoded === undefined) {
      throw new UsageError(`${HEADERS_VARIABLE} is malformed`, {
        hint: 'Write KEY=VALUE,KEY=VALUE with percent-encoded values.',
      })
    }
    headers[key.toLowerCase()] = decoded
  }
  return headers
}

function headerValue(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text)
    return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value) ? value : undefined
  } catch {
    return undefined
  }
}

interface Answer {
  readonly why: Problem | undefined
  /** The same request may succeed a moment later. */
  readonly isRetryable: boolean
  readonly retryAfterMs?: number
}

async function post(url: URL, headers: Record<string, string>, body: string): Promise<Answer> {
  const where = url.origin + url.pathname
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    const text = await firstText(response)
    if (response.ok) return { why: partialProblem(where, text), isRetryable: false }
    return refusal(where, response)
  } catch (error) {
    return { why: noAnswer(where, error), isRetryable: true }
  }
}

/** 429, 502, 503 and 504 are retryable: https://opentelemetry.io/docs/specs/otlp/#failures-1 */
function refusal(where: string, response: Response): Answer {
  const { status } = response
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}
  const isRetryable = [429, 502, 503, 504].includes(status)
  return { why: statusProblem(where, status), isRetryable, ...retryAfterMs }
}

function statusProblem(where: string, status: number): Problem {
  if (status === 401 || status === 403 || status === 407) {
    return problem('not-permitted', `${where} denied access (HTTP ${status})`, {
      hint: `Pass credentials in ${HEADERS_VARIABLE}=KEY=VALUE.`,
    })
  }
  if (status >= 300 && status < 400) {
    return problem('endpoint-refused', `${where} redirects (HTTP ${status}); redirects are not followed`, {
      hint: 'Give the final address.',
    })
  }
  if (status === 429 || status >= 500) {
    return problem('endpoint-unreachable', `${where} does not accept traces now (HTTP ${status})`, {
      hint: 'Try again later: the span ids stay the same.',
    })
  }
  return problem('endpoint-refused', `${where} refused the traces (HTTP ${status})`, {
    hint: 'Is it an OTLP/HTTP receiver that accepts JSON? The usual path is /v1/traces.',
  })
}

function noAnswer(where: string, error: unknown): Problem {
  const timedOut = error instanceof Error && error.name === 'TimeoutError'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const code = cause !== undefined && 'code' in cause ? String(cause.code) : (cause?.message ?? 'no answer')
  const why = timedOut ? `no answer within ${TIMEOUT_MS / 1_000}s` : code
  return problem('endpoint-unreachable', `${where} does not answer: ${why}`, {
    hint: 'Is the collector running, and is this its address?',
  })
}

/** A request may be accepted in part: https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
function partialProblem(where: string, text: string): Problem | undefined {
  const { rejectedSpans, errorMessage } = partialSuccess(text)
  const rejected = Number(rejectedSpans ?? 0)
  if (!(rejected > 0)) return undefined
  const why = typeof errorMessage === 'string' && errorMessage !== '' ? `: ${errorMessage.slice(0, 500)}` : ''
  return problem('spans-refused', `${where} refused ${rejected} of the spans of this request${why}`, { exit: 9 })
}

interface PartialSuccess {
  readonly rejectedSpans?: unknown
  readonly errorMessage?: unknown
}

function partialSuccess(text: string): PartialSuccess {
  try {
    return (JSON.parse(text) as { readonly partialSuccess?: PartialSuccess | null }).partialSuccess ?? {}
  } catch {
    return {}
  }
}

async function firstText({ body }: Response): Promise<string> {
  return body === null ? '' : (await firstBytes(body, MAX_ANSWER_BYTES)).toString('utf8')
}
