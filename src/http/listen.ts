import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { LeasectlError } from '../stream/errors.ts'
import { isLoopback } from '../util/loopback.ts'

/** Address of `--listen`. */
export interface ListenAddress {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string
  /** 0 lets the system choose a port. */
  readonly port: number
  /** Accepted host names besides `host`, `localhost` and addresses. */
  readonly names?: readonly string[]
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

/** Starts listening until the signal aborts or it is closed. @throws ListenFailed */
export async function listenOn(server: Server, address: ListenAddress, signal: AbortSignal): Promise<Listening> {
  const bound = await begin(server, address)
  // Errors of single connections need no handling.
  server.on('error', () => {})
  const close = closerOf(server)
  if (signal.aborted) await close()
  signal.addEventListener('abort', () => void close(), { once: true })
  return { address: textOf(bound), isLoopback: isLoopback(bound.address), close }
}

/** Connections that wait to be accepted: those of a burst must not be reset. The system may allow fewer. */
const BACKLOG = 4_096

function begin(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', error => reject(listenFailed(error, `${bracketed(host)}:${port}`)))
    server.listen({ host, port, exclusive: true, backlog: BACKLOG }, () => {
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
  EADDRINUSE: ['the port is in use', 'Is another one running here? Choose another port, or 0 for any.'],
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

/**
 * Closes idle connections, so that clients that send nothing, or send slowly, cannot lock out others: a new one
 * displaces the one that has been idle longest.
 */
export function giveWay(server: Server, mostWaiting: number): void {
  const waiting = new Set<Socket>()
  const wait = (socket: Socket): void => {
    if (socket.destroyed) return
    waiting.add(socket)
    const [longest] = waiting
    if (waiting.size > mostWaiting) longest?.destroy()
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

/** Disconnects a reader that is too slow. */
export function limitAnswer(response: ServerResponse, ms: number): void {
  const limit = setTimeout(() => response.destroy(), ms)
  response.once('close', () => clearTimeout(limit))
}
