import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { unansweredDelay } from '../../store/backoff.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { firstBytes } from '../../util/first-bytes.ts'
import { isLoopback } from '../../util/loopback.ts'

/** A collector that takes traces as OTLP/HTTP with JSON. */
export interface Endpoint {
  /** One request; `undefined` when all of it was taken. Nothing throws: what is wrong is returned. */
  send(body: string): Promise<Problem | undefined>
}

const HEADERS_VARIABLE = 'OTEL_EXPORTER_OTLP_HEADERS'
const TIMEOUT_MS = 10_000
const TRIES = 3
const MAX_ANSWER_BYTES = 64 * 1_024

/** The address of an endpoint as it is typed: https, http on this machine only. Without a path it is `/v1/traces`. */
export function endpointUrl(text: string): URL {
  const bad = (what: string, hint = 'Write --endpoint https://HOST:4318 or https://HOST/PATH.') =>
    new UsageError(`--endpoint: ${what}`, { hint })
  if (!URL.canParse(text)) throw bad('it is not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw bad('it has a user, a query or a fragment', `Put what signs in into ${HEADERS_VARIABLE}=KEY=VALUE.`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw bad('it is neither https nor http')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw bad('http would send the streams readable for everyone in between', 'Use https, or http://localhost.')
  }
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url
}

/** @throws UsageError the variable with the headers cannot be read; it is never repeated, it holds secrets */
export function openEndpoint(url: URL, runtime: Runtime): Endpoint {
  const headers = { ...headersFrom(runtime.env[HEADERS_VARIABLE]), 'content-type': 'application/json' }
  return {
    async send(body) {
      for (let index = 0; ; index += 1) {
        const { why, again, retryAfterMs } = await post(url, headers, body)
        if (why === undefined || !again || index + 1 >= TRIES || runtime.signal.aborted) return why
        await sleepUntilAborted(unansweredDelay(index, retryAfterMs, Math.random))
      }
    },
  }
}

/** `KEY=VALUE,KEY=VALUE`, values percent-encoded, as OpenTelemetry's own programs read it. */
function headersFrom(text: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const item of (text ?? '').split(',').filter(part => part.trim() !== '')) {
    const [, key, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(item) ?? []
    const decoded = value === undefined ? undefined : headerValue(value)
    if (key === undefined || decoded === undefined) {
      throw new UsageError(`${HEADERS_VARIABLE} cannot be read`, {
        hint: 'KEY=VALUE,KEY=VALUE, with values percent-encoded.',
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
  /** The same request may be taken a moment later. */
  readonly again: boolean
  readonly retryAfterMs?: number
}

async function post(url: URL, headers: Record<string, string>, body: string): Promise<Answer> {
  const where = url.origin + url.pathname
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    const text = await firstText(response)
    if (response.ok) return { why: partialProblem(where, text), again: false }
    return refusal(where, response)
  } catch (error) {
    return { why: silence(where, error), again: true }
  }
}

/** 429, 502, 503 and 504 may be repeated: https://opentelemetry.io/docs/specs/otlp/#failures-1 */
function refusal(where: string, response: Response): Answer {
  const { status } = response
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}
  const again = [429, 502, 503, 504].includes(status)
  return { why: statusProblem(where, status), again, ...retryAfterMs }
}

function statusProblem(where: string, status: number): Problem {
  if (status === 401 || status === 403 || status === 407) {
    return problem('not-permitted', `${where} does not let us in (HTTP ${status})`, {
      hint: `Put what signs in into ${HEADERS_VARIABLE}=KEY=VALUE.`,
    })
  }
  if (status >= 300 && status < 400) {
    return problem('endpoint-refused', `${where} leads elsewhere (HTTP ${status}), which is not followed`, {
      hint: 'Name the final address.',
    })
  }
  if (status === 429 || status >= 500) {
    return problem('endpoint-unreachable', `${where} does not take the traces now (HTTP ${status})`, {
      hint: 'Try again later: the ids of the spans stay the same.',
    })
  }
  return problem('endpoint-refused', `${where} refused the traces (HTTP ${status})`, {
    hint: 'Is it the address of an OTLP/HTTP receiver that takes JSON? Its path is /v1/traces as a rule.',
  })
}

function silence(where: string, error: unknown): Problem {
  const timedOut = error instanceof Error && error.name === 'TimeoutError'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const code = cause !== undefined && 'code' in cause ? String(cause.code) : (cause?.message ?? 'no answer')
  const why = timedOut ? `no answer within ${TIMEOUT_MS / 1_000}s` : code
  return problem('endpoint-unreachable', `${where} does not answer: ${why}`, {
    hint: 'Is the collector running, and is this its address?',
  })
}

/** A request may be taken in part: https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
function partialProblem(where: string, text: string): Problem | undefined {
  const { rejectedSpans, errorMessage } = partialSuccess(text)
  const rejected = Number(rejectedSpans ?? 0)
  if (!(rejected > 0)) return undefined
  const why = typeof errorMessage === 'string' && errorMessage !== '' ? `: ${errorMessage.slice(0, 500)}` : ''
  return problem('spans-refused', `${where} refused ${rejected} of the spans of this request${why}`, { exit: 9 })
}

function partialSuccess(text: string): { readonly rejectedSpans?: unknown; readonly errorMessage?: unknown } {
  try {
    const answer: unknown = JSON.parse(text)
    const partial = answer !== null && typeof answer === 'object' && 'partialSuccess' in answer && answer.partialSuccess
    return partial !== null && typeof partial === 'object' ? partial : {}
  } catch {
    return {}
  }
}

async function firstText({ body }: Response): Promise<string> {
  return body === null ? '' : (await firstBytes(body, MAX_ANSWER_BYTES)).toString('utf8')
}
