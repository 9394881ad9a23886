import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PutPlace } from '../regions/writer.ts'
import type { BadRecord } from './records.ts'

/** An answer to a client. */
export interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const API_VERSION = 'leasectl/v1'

/** All records are durable. */
export function accepted(
  inbox: string,
  ids: readonly string[],
  regions: Readonly<Record<PutPlace, number>> | undefined,
): Reply {
  const where = regions === undefined ? '' : `,"regions":${JSON.stringify(regions)}`
  const body = `{"apiVersion":"${API_VERSION}","inbox":"${inbox}","ids":${JSON.stringify(ids)}${where}}\n`
  return { status: 202, body }
}

/** Why a request was not accepted. */
export interface NotAccepted {
  readonly status: number
  /** Stable word for programs. */
  readonly code: string
  readonly message: string
  /** Whether records of the request may be in the inbox. Default `no`. */
  readonly applied?: 'no' | 'unknown'
  /** Whether the same request may succeed later, s. */
  readonly retryAfterS?: number
  readonly records?: readonly BadRecord[]
  readonly badCount?: number
  readonly headers?: Readonly<Record<string, string>>
}

export function notAccepted({
  status,
  code,
  message,
  applied = 'no',
  retryAfterS,
  records,
  badCount,
  headers,
}: NotAccepted): Reply {
  const error = {
    ...{ code, message, applied, retryable: retryAfterS !== undefined },
    ...(records !== undefined && { records, badCount }),
  }
  return {
    status,
    body: `${JSON.stringify({ apiVersion: API_VERSION, error })}\n`,
    headers: { ...headers, ...(retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }) },
  }
}

/** A body that was not read is read to its end, and dropped, if it is no longer than this. */
const DROPPED_BYTES = 64 * 1024
/** So long a client that sends more may read its answer before the connection is closed, ms. */
const LINGER_MS = 1_000

/** Sends a reply. @param isLast closes the connection behind it */
export function send(request: IncomingMessage, response: ServerResponse, reply: Reply, isLast: boolean): void {
  if (response.destroyed || response.headersSent) return
  const isEndless = !request.complete && !isShort(request)
  response.writeHead(reply.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(reply.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...reply.headers,
    ...((isLast || isEndless) && { connection: 'close' }),
  })
  if (!isEndless) {
    response.end(reply.body)
    return
  }
  // Closed at once, the answer would be lost to a client that is still sending.
  response.write(reply.body)
  const timer = setTimeout(end, LINGER_MS)
  function end(): void {
    clearTimeout(timer)
    response.end()
  }
  request.once('end', end).once('close', end).resume()
}

function isShort({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= DROPPED_BYTES
}
