import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { LeasectlError } from '../../stream/errors.ts'
import { isLoopback } from '../../util/loopback.ts'
import type { Health } from './readiness.ts'

/** Where to listen: `--listen`. */
export interface ListenAddress {
  /** A name or an IP address, an IPv6 one without brackets. */
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** Names under which it may be asked, beside `host`, `localhost` and addresses. */
  readonly names?: readonly string[]
}

/** Usual unless given. */
export interface ListenLimits {
  /** So many connections are open at a time; one more is closed at once. */
  readonly connections?: number
  /** From a request to the end of its answer: whoever reads more slowly than that reads nothing. */
  readonly answerMs?: number
}

/** The address cannot be listened on: in use, not permitted, or not of this machine. Nothing was begun. */
export class ListenFailed extends LeasectlError {
  readonly code = 'listen-failed'
}

export interface Listening {
  /** `127.0.0.1:9464`, with the port the system chose. */
  readonly address: string
  /** Whether other machines cannot reach it. */
  readonly isLoopback: boolean
  /** Ends it and what is connected. */
  close(): Promise<void>
}

/** A scraper and a few probes need no more. Of those that ask nothing the one that waits longest gives way to a new one. */
const MAX_WAITING = 32
/** Those that are being answered, too. */
const MAX_CONNECTIONS = 256
const MAX_HEADER_BYTES = 8 * 1024
const REQUEST_MS = 2_000
/** So often it is looked whose time is over. */
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
  // who asks whether to send a body is answered as if it had been sent: nobody is told to go on
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest)
  server.maxConnections = limits.connections ?? MAX_CONNECTIONS
  giveWay(server)
  const bound = await begin(server, address)
  // what goes wrong with a single connection later on is nobody's business
  server.on('error', () => {})
  const close = closerOf(server)
  if (signal.aborted) await close()
  signal.addEventListener('abort', () => void close(), { once: true })
  return { address: textOf(bound), isLoopback: isLoopback(bound.address), close }
}

/** Whoever opens connections and sends nothing, or a little at a time, keeps no probe out. */
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
  EADDRINUSE: ['the port is in use', 'Does another watchdog run here? Choose another port, or 0 for any.'],
  EACCES: ['not permitted', 'Ports below 1024 need a right of their own; choose a higher one.'],
  EADDRNOTAVAIL: ['this machine has no such address', 'Take one of its own: 127.0.0.1, or 0.0.0.0 for all.'],
  ENOTFOUND: ['no address is known for this name', 'Write an IP address: 127.0.0.1:9464.'],
  EAI_AGAIN: ['the name cannot be looked up now', 'Write an IP address: 127.0.0.1:9464.'],
}

function textOf({ address, port }: AddressInfo): string {
  return `${bracketed(address)}:${port}`
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** What the paths answer. */
export interface Handlers {
  livez(): Health
  readyz(): Health
  metrics(): { readonly contentType: string; text(): Promise<string> }
}

/** All there is. */
export const PATHS = ['/livez', '/readyz', '/metrics'] as const
type Path = (typeof PATHS)[number]

interface Answer {
  readonly status: number
  readonly type?: string
  readonly text: string
}

const PLAIN = 'text/plain; charset=utf-8'

/**
 * Answers `GET` and `HEAD` of those who may ask; nothing it says comes from a fault or from a stream. No header lets the
 * scripts of other sites read it.
 *
 * @param names as `refusedVisitor` has them
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
    // what else was sent is not read
    ...(NOT_READ.includes(status) ? { connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : text)
}

const NOT_READ = [400, 403, 405]

async function answerTo(request: IncomingMessage, handlers: Handlers, names: readonly string[]): Promise<Answer> {
  const { url, method } = request
  const isRead = method === 'GET' || method === 'HEAD'
  const refused = refusedVisitor(request, names)
  // what is sent along with another method is not looked at either
  if (refused !== undefined && (isRead || refused.status === 403)) {
    return { status: refused.status, text: lines([refused.reason]) }
  }
  const path = PATHS.find(known => known === url?.split('?', 1)[0])
  if (path === undefined && isRead) return { status: 404, text: lines(['not found; there are', ...PATHS]) }
  if (path === undefined || !isRead) return { status: 405, text: lines(['only GET and HEAD']) }
  try {
    return await contentOf(path, handlers)
  } catch {
    // the cause may name what is nobody's business
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

/** What is said to whom it may not be told, with the status. */
export interface Refused {
  readonly status: 400 | 403
  readonly reason: string
}

/**
 * Why a request is not answered; `undefined` if it is. There is no sign-in, so pages of other sites, open in a browser that
 * reaches this address, must read nothing: neither directly nor under a name of theirs that leads here (DNS rebinding). Their
 * requests carry such a name as `Host`, an `Origin`, or say themselves that they come from another site; those of probes and
 * scrapers carry an address, or a name that was let in.
 *
 * @param names those under which this address may be asked, beside addresses and `localhost`
 */
function refusedVisitor(request: IncomingMessage, names: readonly string[]): Refused | undefined {
  const { headers, rawHeaders, httpVersion } = request
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) return refused(400, 'more than one Host')
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0) {
    return refused(400, 'requests have no body here')
  }
  const { host, origin, 'sec-fetch-site': site = 'none' } = headers
  if (origin !== undefined) return refused(403, 'scripts of web pages are not answered')
  if (site !== 'none' && site !== 'same-origin') return refused(403, 'other web sites are not answered')
  // browsers always name one; the checks of some load balancers do not
  if (host === undefined && httpVersion === '1.0') return undefined
  if (isKnown(host ?? '', names)) return undefined
  return refused(403, 'not asked by an address or a known name: listen-names in the file of --config lets names in')
}

function refused(status: Refused['status'], reason: string): Refused {
  return { status, reason }
}

/** Where a name leads is up to whoever owns it; an address is where it says. The port may be that of a forwarding. */
function isKnown(host: string, names: readonly string[]): boolean {
  const [, v6, name = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@[\]\\]+))(?::\d{1,5})?$/i.exec(host) ?? []
  if (v6 !== undefined) return isIP(v6) === 6
  const asked = canonical(name)
  return isIP(asked) === 4 || asked === 'localhost' || names.some(known => canonical(known) === asked)
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
