import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { giveWay, type ListenAddress, type Listening, limitAnswer, listenOn } from '../../http/listen.ts'
import { answerProbe, type Handlers, PATHS } from '../../http/probes.ts'
import { refusedVisitor } from '../../http/visitor.ts'
import { within } from '../../util/concurrency.ts'
import type { RecordFields } from '../record.ts'
import { Buffered, readBody } from './body.ts'
import { type BodyForm, recordsOf } from './records.ts'
import { accepted, type NotAccepted, notAccepted, type Reply, send } from './reply.ts'
import type { ServedInboxes } from './served-inboxes.ts'
import type { BearerTokens } from './tokens.ts'

/** What the server does, for logs and metrics. Neither bodies nor tokens. */
export interface ServeObserver {
  /** A request was answered. @param records those that were put */
  answered(status: number, inbox: string | undefined, records: number, tookMs: number): void
}

/** Limits; each has a default. */
export interface ServeLimits {
  /** Bytes of bodies of all requests at a time; further ones are answered with 429. */
  readonly bufferedBytes?: number
  /** Bytes of one body. */
  readonly bodyBytes?: number
  /** Requests at a time. */
  readonly requests?: number
  readonly connections?: number
  /** From the first byte of a request to the last, ms. */
  readonly requestMs?: number
  /** From the first byte of a request to the last of its header, ms. */
  readonly headerMs?: number
  /** For reading an answer, ms. */
  readonly answerMs?: number
}

export interface ServeOptions {
  readonly address: ListenAddress
  readonly inboxes: ServedInboxes
  readonly fields: RecordFields
  /** Without them anyone who reaches the address may put. */
  readonly tokens?: BearerTokens
  readonly probes: Handlers
  readonly observer: ServeObserver
  readonly limits?: ServeLimits
}

const BUFFERED_BYTES = 32 * 1024 * 1024
const BODY_BYTES = 4 * 1024 * 1024
const REQUESTS = 20_000
const CONNECTIONS = 12_000
const REQUEST_MS = 30_000
const HEADER_MS = 10_000
const ANSWER_MS = 30_000
/** Longer than those of load balancers, which would send into a connection that is being closed. */
const IDLE_MS = 75_000
/** Interval of checks for expired requests. */
const LOOK_MS = 1_000
const MAX_HEADER_BYTES = 8 * 1024
/** Requests of a connection that are not answered. */
const MOST_PIPELINED = 128
/** For the rest of bodies that have begun when it stops, ms. */
const LAST_BODIES_MS = 1_000
/** For the last answers to reach their clients, ms. */
const LAST_ANSWERS_MS = 2_000

const BUSY_S = 1
const AWAY_S = 2

/** Takes records over HTTP. */
export class InboxServer {
  readonly #options: ServeOptions
  readonly #names: readonly string[]
  readonly #bodyBytes: number
  readonly #buffered: Buffered
  readonly #mostRequests: number
  /** Give up the bodies that are being read. */
  readonly #reading = new Set<() => void>()
  readonly #unanswered = new WeakMap<Socket, number>()
  readonly #end = new AbortController()
  #server: Server | undefined
  #requests = 0
  #idle = Promise.withResolvers<void>()
  #isStopping = false

  constructor(options: ServeOptions) {
    const { address, limits = {} } = options
    this.#options = options
    this.#names = [address.host, ...(address.names ?? [])]
    this.#bodyBytes = limits.bodyBytes ?? BODY_BYTES
    this.#mostRequests = limits.requests ?? REQUESTS
    this.#buffered = new Buffered(limits.bufferedBytes ?? BUFFERED_BYTES)
  }

  /** Requests being answered. */
  get requests(): number {
    return this.#requests
  }

  /** Bytes of their bodies. */
  get bufferedBytes(): number {
    return this.#buffered.bytes
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Number of open connections. */
  connections(): Promise<number> {
    return new Promise(resolve => {
      if (this.#server === undefined) resolve(0)
      else this.#server.getConnections((_, count = 0) => resolve(count))
    })
  }

  /** @throws ListenFailed */
  async listen(): Promise<Listening> {
    const { createServer } = await import('node:http')
    const { address, limits = {} } = this.#options
    const connections = limits.connections ?? CONNECTIONS
    const server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headerMs ?? HEADER_MS,
      requestTimeout: limits.requestMs ?? REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: Math.min(LOOK_MS, limits.headerMs ?? LOOK_MS),
    })
    server.on('request', (request, response) => void this.#take(request, response, false))
    server.on('checkContinue', (request, response) => void this.#take(request, response, true))
    server.maxConnections = connections
    giveWay(server, Math.max(1, Math.floor((connections * 3) / 4)))
    this.#server = server
    return listenOn(server, address, this.#end.signal)
  }

  /** Takes no more requests, answers those that were taken, and closes. A body that does not come to its end is not put. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const giveUp = setTimeout(() => {
      for (const body of this.#reading) body()
    }, LAST_BODIES_MS)
    if (this.#requests > 0) await this.#idle.promise
    clearTimeout(giveUp)
    const closed = new Promise<void>(resolve => this.#server?.close(() => resolve()) ?? resolve())
    await within(LAST_ANSWERS_MS, closed)
    this.#end.abort()
  }

  async #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const startMs = performance.now()
    // A proxy may send the whole address: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
    const path = request.url?.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] ?? ''
    if (PATHS.some(probe => probe === path)) {
      limitAnswer(response, this.#answerMs)
      return answerProbe(request, response, this.#options.probes, this.#names)
    }
    const { socket } = request
    const before = this.#unanswered.get(socket) ?? 0
    const isBusy = this.#requests >= this.#mostRequests
    if (before >= MOST_PIPELINED || (isBusy && before > 0)) return void socket.destroy()
    this.#unanswered.set(socket, before + 1)
    this.#requests += 1
    const done = { inbox: undefined, records: 0, bytes: 0 }
    let status: number | undefined
    try {
      const reply = await this.#replyTo(request, response, { path, isBusy, expectsContinue }, done)
      if (reply === undefined) return
      status = reply.status
      send(request, response, reply, this.#isStopping)
    } catch {
      // The cause may contain confidential names.
      status = 500
      const unexpected = { status, code: 'unexpected', message: 'internal error', applied: 'unknown' } as const
      send(request, response, notAccepted(unexpected), true)
    } finally {
      this.#buffered.give(done.bytes)
      this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1)
      if (status !== undefined)
        this.#options.observer.answered(status, done.inbox, done.records, performance.now() - startMs)
      if (!response.writableFinished && !response.destroyed) limitAnswer(response, this.#answerMs)
      this.#requests -= 1
      if (this.#requests === 0) {
        this.#idle.resolve()
        this.#idle = Promise.withResolvers()
      }
    }
  }

  get #answerMs(): number {
    return this.#options.limits?.answerMs ?? ANSWER_MS
  }

  /** `undefined` if the client is gone. */
  async #replyTo(
    request: IncomingMessage,
    response: ServerResponse,
    given: { readonly path: string; readonly isBusy: boolean; readonly expectsContinue: boolean },
    done: { inbox: string | undefined; records: number; bytes: number },
  ): Promise<Reply | undefined> {
    const { inboxes, fields } = this.#options
    const wanted = this.#admit(request, given)
    if ('status' in wanted) return notAccepted(wanted)
    done.inbox = wanted.inbox
    if (given.expectsContinue) response.writeContinue()
    const body = await readBody(request, this.#buffered, this.#bodyBytes, this.#reading)
    switch (body.kind) {
      case 'gone':
        return undefined
      case 'too-large':
        return notAccepted(tooLarge(`the body is longer than ${this.#bodyBytes} bytes`))
      case 'full':
        return notAccepted(BUSY)
      case 'given-up':
        return notAccepted(STOPPING)
    }
    done.bytes = body.bytes.length
    const content = recordsOf(body.bytes, wanted.form, fields, wanted.givenId)
    switch (content.kind) {
      case 'too-large':
        return notAccepted(tooLarge(content.message))
      case 'bad': {
        const { message, bad: records, badCount } = content
        return notAccepted({ status: 400, code: 'bad-records', message, ...(badCount > 0 && { records, badCount }) })
      }
    }
    const { records } = content
    const outcome = await inboxes.put(wanted.inbox, records)
    if (outcome.kind === 'failed') return notAccepted(notPut(outcome.code))
    done.records = records.length
    return accepted(
      wanted.inbox,
      records.map(({ id }) => id),
      outcome.regions,
    )
  }

  /** Everything that can be said before the body is read. */
  #admit(
    request: IncomingMessage,
    { path, isBusy }: { readonly path: string; readonly isBusy: boolean },
  ): Admitted | NotAccepted {
    const { inboxes, tokens } = this.#options
    const { method, headers } = request
    const doubled = doubledHeader(request.rawHeaders)
    if (doubled !== undefined) return bad(`more than one ${doubled}`)
    if (tokens === undefined) {
      const stranger = refusedVisitor(request, this.#names)
      if (stranger !== undefined) return { status: stranger.status, code: 'refused', message: stranger.reason }
    } else if (!tokens.accept(headers.authorization)) return UNAUTHORIZED
    const name = INBOX_PATH.exec(path)?.[1]
    if (name === undefined || !inboxes.has(name)) return NOT_FOUND
    if (method !== 'POST') return WRONG_METHOD
    const form = FORMS.get(mediaType(headers['content-type']))
    if (form === undefined) return WRONG_TYPE
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') return WRONG_ENCODING
    if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') return WRONG_ENCODING
    if (Number(headers['content-length'] ?? 0) > this.#bodyBytes)
      return tooLarge(`the body is longer than ${this.#bodyBytes} bytes`)
    if (this.#isStopping) return STOPPING
    if (inboxes.fault !== undefined) return away(inboxes.fault)
    if (isBusy || this.#buffered.isFull || inboxes.isFull(name)) return BUSY
    const key = headers['idempotency-key']
    const givenId = typeof key === 'string' ? keyText(key) : undefined
    if (givenId === null) return bad('the Idempotency-Key is not UTF-8')
    return { inbox: name, form, givenId }
  }
}

interface Admitted {
  readonly inbox: string
  readonly form: BodyForm
  readonly givenId: string | undefined
}

const INBOX_PATH = /^\/inboxes\/([^/]+)$/

const FORMS: ReadonlyMap<string, BodyForm> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
])

/** The type without its parameters; nothing for another character set than UTF-8. */
function mediaType(given = ''): string {
  if (FORMS.has(given)) return given
  const [type = '', ...parameters] = given.toLowerCase().split(';')
  const isUtf8 = parameters.every(parameter => !/^\s*charset=/.test(parameter) || /=\s*"?utf-?8"?\s*$/.test(parameter))
  return isUtf8 ? type.trim() : ''
}

/**
 * As in the draft of the IETF a string in quotes, or bare, as many clients send it; `null` if it is not UTF-8. Node gives each byte
 * of a header as a character.
 */
function keyText(key: string): string | null {
  const bytes = Buffer.from(key, 'latin1')
  if (!isUtf8(bytes)) return null
  const text = bytes.toString('utf8')
  return /^"(.*)"$/.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? text
}

const ONCE = new Set([
  'host',
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'idempotency-key',
])

/** Two programs could go by different ones. */
function doubledHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (ONCE.has(name) && seen.size === seen.add(name).size) return name
  }
  return undefined
}

const UNAUTHORIZED: NotAccepted = {
  status: 401,
  code: 'unauthorized',
  message: 'no valid bearer token',
  headers: { 'www-authenticate': 'Bearer' },
}
const NOT_FOUND: NotAccepted = {
  status: 404,
  code: 'not-found',
  message: 'there is no such inbox here; the path is /inboxes/NAME',
}
const WRONG_METHOD: NotAccepted = {
  status: 405,
  code: 'wrong-method',
  message: 'only POST',
  headers: { allow: 'POST' },
}
const WRONG_TYPE: NotAccepted = {
  status: 415,
  code: 'wrong-type',
  message: 'Content-Type must be application/json or application/x-ndjson, in UTF-8',
}
const WRONG_ENCODING: NotAccepted = { status: 415, code: 'wrong-type', message: 'compressed bodies are not taken' }
const BUSY: NotAccepted = { status: 429, code: 'busy', message: 'too much is waiting', retryAfterS: BUSY_S }
const STOPPING: NotAccepted = { status: 503, code: 'stopping', message: 'the server stops', retryAfterS: BUSY_S }

function away(code: string): NotAccepted {
  const message = code === 'store-unreachable' ? 'the store is away' : `the store fails: ${code}`
  return { status: 503, code, message, retryAfterS: AWAY_S }
}

function bad(message: string): NotAccepted {
  return { status: 400, code: 'bad-request', message }
}

function tooLarge(message: string): NotAccepted {
  return { status: 413, code: 'too-large', message }
}

/** Blocks go to the store together: one may be there although another failed. */
function notPut(code: string): NotAccepted {
  const message = 'the records were not confirmed by the store: send them again, under the same ids'
  return { status: 503, code, message, applied: 'unknown', retryAfterS: AWAY_S }
}
