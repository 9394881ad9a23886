import type { IncomingMessage } from 'node:http'

/** The operation of the Blob service that a request asks for. */
export type Operation =
  | 'acquire'
  | 'renew'
  | 'change'
  | 'release'
  | 'break'
  | 'get'
  | 'head'
  | 'put'
  | 'metadata'
  | 'delete'
  | 'append'
  | 'list'
  | 'container'
  | 'other'

/** A request as the proxy saw it. */
export interface Seen {
  readonly operation: Operation
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: IncomingMessage['headers']
  /** The number of its connection, from 1 in their order. */
  readonly connection: number
  /** Whether another request used it before. */
  readonly reused: boolean
}

const LEASE_ACTIONS: ReadonlySet<string> = new Set(['acquire', 'renew', 'change', 'release', 'break'])

export function seen(request: IncomingMessage, over: Pick<Seen, 'connection' | 'reused'>): Seen {
  const { method = 'GET', url = '/', headers } = request
  const query = new URL(url, 'http://proxy').searchParams
  return { operation: operationOf(method, query, headers), method, target: url, query, headers, ...over }
}

function operationOf(method: string, query: URLSearchParams, headers: IncomingMessage['headers']): Operation {
  const comp = query.get('comp')
  if (comp === 'lease') {
    const action = String(headers['x-ms-lease-action'])
    return LEASE_ACTIONS.has(action) ? (action as Operation) : 'other'
  }
  if (comp === 'list') return 'list'
  if (comp === 'metadata') return 'metadata'
  if (comp === 'appendblock') return 'append'
  if (query.get('restype') === 'container') return 'container'
  if (comp !== null) return 'other'
  switch (method) {
    case 'GET':
      return 'get'
    case 'HEAD':
      return 'head'
    case 'PUT':
      return 'put'
    case 'DELETE':
      return 'delete'
    default:
      return 'other'
  }
}
