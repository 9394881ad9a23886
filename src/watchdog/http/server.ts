import type { IncomingMessage, ServerResponse } from 'node:http'
import { giveWay, type ListenAddress, type Listening, limitAnswer, listenOn } from '../../http/listen.ts'
import { answerProbe, type Handlers } from '../../http/probes.ts'

/** Limits; each has a default. */
export interface ListenLimits {
  /** Number of open connections; further ones are closed at once. */
  readonly connections?: number
  /** From a request to the end of its answer; slower readers are disconnected. */
  readonly answerMs?: number
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
    void answerProbe(request, response, handlers, names)
  }
  // `Expect` is answered as if the body had been sent: no client is asked to send one.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest)
  server.maxConnections = limits.connections ?? MAX_CONNECTIONS
  giveWay(server, MAX_WAITING)
  return listenOn(server, address, signal)
}
