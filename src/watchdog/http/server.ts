import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { LeasectlError } from '../../stream/errors.ts'
import { isLoopback } from '../../util/loopback.ts'
import type { Health } from './readiness.ts'

/** Address of `--listen`. */
export interface ListenAddress {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string
  /** 0 lets the system choose a port. */
  readonly port: number
  /** Accepted host names besides `host`, `localhost` and addresses. */
  readonly names?: readonly string[]
}

/** Limits; each has a default. */
export interface ListenLimits {
  /** Number of open connections; further ones are closed at once. */
  readonly connections?: number
  /** From a request to the end of its answer; slower readers are disconnected. */
  readonly answerMs?: number
}

/** The address cannot be used: occupied, not permitted, or not of this machine. Nothing was started. */
export class ListenFailed extends LeasectlError {
  readonly code = 'listen-failed'
}

export interface Listening {
  /** `127.0.0.1:9464`, with the actual port. */
  readonly address: string
  /** True if other machines cannot reach it. */
  readonly isLoopback: boolean
  /** Closes the server and all connections. */
  close(): Promise<void>
}

/** Idle connections, enough for a scraper and a few probes; a new one displaces the one that has been idle longest. */
const MAX_WAITING = 32
/** All connections, including those being answered. */
const MAX_CONNECTIONS = 256
const MAX_HEADER_BYTES = 8 * 1024
const REQUEST_MS = 2_000
/** Interval of checks for expired requests. */
const LOOK_MS = 500
const IDLE_MS = 15_000
const ANSWER_MS = 10_000

/**
 * Answers `GET` and `HEAD` on `/livez`, `/readyz` and `/metrics` until the signal aborts or it is closed.
 * @throws ListenFailed
 */
export async function listen(
  address: ListenAddress,
  handlers: Handlers,
  signal: AbortSignal,
  limits: ListenLimits = {},
): Promise<Listening> {
  const { createServer } = await import('node:http')
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: LOOK_MS,
  })
  const names = [address.host, ...(address.names ?? [])]
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    limitAnswer(response, limits.answerMs ?? ANSWER_MS)
    void answer(request, response, handlers, names)
  }
  // `Expect` is answered as if the body had been sent: no client is asked to send one.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest)
  server.maxConnections = limits.connections ?? MAX_CONNECTIONS
  giveWay(server)
  const bound = await begin(server, address)
  // Errors of single connections need no handling.
  server.on('error', () => {})
  const close = closerOf(server)
  if (signal.aborted) await close()
  signal.addEventListener('abort', () => void close(), { once: true })
  return { address: textOf(bound), isLoopback: isLoopback(bound.address), close }
}

/** Closes idle connections, so that clients that send nothing, or send slowly, cannot lock out probes. */
function giveWay(server: Server): void {
  const waiting = new Set<Socket>()
  const wait = (socket: Socket): void => {
    if (socket.destroyed) return
    waiting.add(socket)
    const [longest] = waiting
    if (waiting.size > MAX_WAITING) longest?.destroy()
  }
  server.on('connection', socket => {
    socket.once('close', () => waiting.delete(socket))
    wait(socket)
  })
  server.on('request', ({ socket }, response) => {
    waiting.delete(socket)
    response.once('finish', () => wait(socket))
  })
}

function limitAnswer(response: ServerResponse, ms: number): void {
  const limit = setTimeout(() => response.destroy(), ms)
  response.once('close', () => clearTimeout(limit))
}

function begin(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', error => reject(listenFailed(error, `${bracketed(host)}:${port}`)))
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners('error')
      const bound = server.address()
      resolve(typeof bound === 'object' && bound !== null ? bound : { address: host, port, family: '' })
    })
  })
}

function closerOf(server: Server): () => Promise<void> {
  let closed: Promise<void> | undefined
  return () => {
    closed ??= new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
    return closed
  }
}

function listenFailed(error: NodeJS.ErrnoException, where: string): ListenFailed {
  const [why, hint] = REASONS[error.code ?? ''] ?? [error.code ?? 'no reason given', 'Choose another address.']
  return new ListenFailed(`cannot listen on ${where}: ${why}`, { cause: error, hint })
}

const REASONS: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EADDRINUSE: ['the port is in use', 'Is another watchdog running here? Choose another port, or 0 for any.'],
  EACCES: ['not permitted', 'Ports below 1024 need extra privileges; choose a higher one.'],
  EADDRNOTAVAIL: ['this machine has no such address', 'Use one of its addresses: 127.0.0.1, or 0.0.0.0 for all.'],
  ENOTFOUND: ['the name has no address', 'Write an IP address: 127.0.0.1:9464.'],
  EAI_AGAIN: ['the name cannot be resolved now', 'Write an IP address: 127.0.0.1:9464.'],
}

function textOf({ address, port }: AddressInfo): string {
  return `${bracketed(address)}:${port}`
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Handlers of the paths. */
export interface Handlers {
  livez(): Health
  readyz(): Health
  metrics(): { readonly contentType: string; text(): Promise<string> }
}

/** All paths. */
export const PATHS = ['/livez', '/readyz', '/metrics'] as const
type Path = (typeof PATHS)[number]

interface Answer {
  readonly status: number
  readonly type?: string
  readonly text: string
}

const PLAIN = 'text/plain; charset=utf-8'

/**
 * Answers `GET` and `HEAD` of permitted clients; answers contain no texts of errors or streams. No header allows
 * scripts of other sites to read them.
 *
 * @param names accepted host names, see `refusedVisitor`
 */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: Handlers,
  names: readonly string[],
): Promise<void> {
  const { status, type = PLAIN, text } = await answerTo(request, handlers, names)
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    // The rest of the request is not read.
    ...(UNREAD.includes(status) ? { connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : text)
}

const UNREAD = [400, 403, 405]

async function answerTo(request: IncomingMessage, handlers: Handlers, names: readonly string[]): Promise<Answer> {
  const { url, method } = request
  const isRead = method === 'GET' || method === 'HEAD'
  const refused = refusedVisitor(request, names)
  // Bodies of other methods are not examined either.
  if (refused !== undefined && (isRead || refused.status === 403)) {
    return { status: refused.status, text: lines([refused.reason]) }
  }
  const path = PATHS.find(known => known === url?.split('?', 1)[0])
  if (path === undefined && isRead) return { status: 404, text: lines(['not found; paths:', ...PATHS]) }
  if (path === undefined || !isRead) return { status: 405, text: lines(['only GET and HEAD']) }
  try {
    return await contentOf(path, handlers)
  } catch {
    // The cause may contain confidential names.
    return { status: 500, text: lines(['internal error']) }
  }
}

async function contentOf(path: Path, handlers: Handlers): Promise<Answer> {
  switch (path) {
    case '/livez':
      return healthAnswer(handlers.livez())
    case '/readyz':
      return healthAnswer(handlers.readyz())
    case '/metrics': {
      const metrics = handlers.metrics()
      return { status: 200, type: metrics.contentType, text: await metrics.text() }
    }
    default:
      return path satisfies never
  }
}

function healthAnswer({ ok, reasons }: Health): Answer {
  return { status: ok ? 200 : 503, text: lines(reasons) }
}

function lines(texts: readonly string[]): string {
  return `${texts.join('\n')}\n`
}

/** A refused request: status and reason. */
export interface Refused {
  readonly status: 400 | 403
  readonly reason: string
}

/**
 * Why a request is refused; `undefined` if it is answered. There is no authentication, so pages of other sites, opened
 * in a browser that reaches this address, must not be able to read anything: neither directly nor through a name of
 * theirs that resolves to this address (DNS rebinding). Their requests carry such a name as `Host`, or an `Origin`, or
 * declare themselves as cross-site; those of probes and scrapers carry an address or an accepted name.
 *
 * @param names accepted host names besides addresses and `localhost`
 */
function refusedVisitor(request: IncomingMessage, names: readonly string[]): Refused | undefined {
  const { headers, rawHeaders, httpVersion } = request
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) return refused(400, 'more than one Host')
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0) {
    return refused(400, 'requests must not have a body')
  }
  const { host, origin, 'sec-fetch-site': site = 'none' } = headers
  if (origin !== undefined) return refused(403, 'scripts of web pages are refused')
  if (site !== 'none' && site !== 'same-origin') return refused(403, 'other web sites are refused')
  // Browsers always send Host; health checks of some load balancers do not.
  if (host === undefined && httpVersion === '1.0') return undefined
  if (isKnown(host ?? '', names)) return undefined
  return refused(403, 'Host is neither an address nor an accepted name: add it to listen-names in the file of --config')
}

function refused(status: Refused['status'], reason: string): Refused {
  return { status, reason }
}

/**
 * Anyone can point a name of theirs here, but an address cannot be redirected. The port may be that of a port
 * forwarding.
 */
function isKnown(host: string, names: readonly string[]): boolean {
  const [, v6, name = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@[\]\\]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (v6 !== undefined) return isIP(v6) === 6
  const requested = canonical(name)
  return isIP(requested) === 4 || requested === 'localhost' || names.some(known => canonical(known) === requested)
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
