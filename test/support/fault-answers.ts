import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fault } from './faults.ts'
import { type Answer, without } from './messages.ts'

/** The difference in bytes of an answer with a wrong length. */
const WRONG_BY = 10

/** No answer: the connection is closed, or with `silent` it stays open without data. */
export function hangUp(request: IncomingMessage, fault: Fault): void {
  if (!fault.silent) request.socket.resetAndDestroy()
}

export function failure({ kind, status, code: given, retryAfterS }: Fault): Answer {
  const code = status ?? (kind === 'error-after' ? 500 : 503)
  const name = given ?? (code === 503 ? 'ServerBusy' : code === 500 ? 'InternalError' : `Status${code}`)
  const headers = [
    'x-ms-request-id',
    randomUUID(),
    'x-ms-error-code',
    name,
    'content-length',
    '0',
    'date',
    new Date().toUTCString(),
  ]
  if (retryAfterS !== undefined) headers.push('retry-after', String(retryAfterS))
  return { status: code, headers, body: Buffer.alloc(0) }
}

/** A page of an intermediary in place of the service's answer: no request id, no ETag, another date. */
export function forged({ status = 200, location = '/login' }: Fault): Answer {
  const body = Buffer.from(
    '<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Welcome!<br></body></html>',
  )
  const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1_000).toUTCString()
  const headers = ['content-type', 'text/html; charset=utf-8', 'content-length', String(body.length), 'date', tomorrow]
  if (status >= 300 && status < 400) headers.push('location', location)
  if (status === 407) headers.push('proxy-authenticate', 'Basic realm="proxy"')
  return { status, headers, body }
}

/**
 * Half of the promised bytes, or for an answer without a body half of the header; then the connection is closed in
 * order (`truncate`), is reset (`reset`), or with `silent` stays open.
 */
export function brokenOff(response: ServerResponse, { status, headers, body }: Answer, fault: Fault): void {
  const { socket } = response
  const end = () => {
    if (fault.silent) return
    if (fault.kind === 'reset') socket?.resetAndDestroy()
    else socket?.destroy()
  }
  if (body.length === 0) socket?.write(`HTTP/1.1 ${status} OK\r\nx-ms-`, end)
  else {
    response.writeHead(status, withLength(headers, body.length))
    response.write(body.subarray(0, body.length >> 1), end)
  }
}

/**
 * The whole answer with a wrong header. `more`: it promises bytes that never come, and the connection stays open.
 * `less`: there are bytes after the end.
 */
export function wrongLength(response: ServerResponse, { status, headers, body }: Answer, { claims }: Fault): void {
  if (claims === 'less') {
    const sent = body.length > 0 ? body : Buffer.alloc(WRONG_BY, '?')
    response.writeHead(status, withLength(headers, Math.max(0, body.length - WRONG_BY)))
    response.end(sent)
  } else {
    response.writeHead(status, withLength(headers, body.length + WRONG_BY))
    response.flushHeaders()
    if (body.length > 0) response.write(body)
  }
}

/** Resolves as soon as the caller has closed the connection: any later answer is too late. */
export async function givenUp({ socket }: IncomingMessage): Promise<void> {
  if (!socket.destroyed) await once(socket, 'close')
}

function withLength(headers: readonly string[], length: number): string[] {
  return [...without(headers, 'transfer-encoding', 'content-length'), 'content-length', String(length)]
}
