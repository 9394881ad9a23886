import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { LeasectlError } from '../../stream/errors.ts'
import { answer, type Handlers } from './listen-answers.ts'

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

function isLoopback(address: string): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(address)
}

function textOf({ address, port }: AddressInfo): string {
  return `${bracketed(address)}:${port}`
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
