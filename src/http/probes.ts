import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Refused, refusedVisitor } from './visitor.ts'

/** The answer to a probe: whether all is well, and why; never contains untrusted text. */
export interface Health {
  readonly ok: boolean
  /** One line each; at least one. */
  readonly reasons: readonly string[]
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
export async function answerProbe(
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
  const refused = refusedVisitor(request, names) ?? refusedBody(request)
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

function refusedBody({ headers }: IncomingMessage): Refused | undefined {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  return hasBody ? { status: 400, reason: 'requests must not have a body' } : undefined
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
