import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusedVisitor } from './listen-visitor.ts'
import type { Health } from './readiness.ts'

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
export async function answer(
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
