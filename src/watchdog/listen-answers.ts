import type { IncomingMessage, ServerResponse } from 'node:http'
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

/** Answers `GET` and `HEAD`; nothing it says comes from a fault or from a stream. */
export async function answer(request: IncomingMessage, response: ServerResponse, handlers: Handlers): Promise<void> {
  const path = PATHS.find(known => known === request.url?.split('?', 1)[0])
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const { status, type = PLAIN, text } = await answerTo(path, isRead, handlers)
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    // what else was sent is not read
    ...(isRead ? {} : { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : text)
}

async function answerTo(path: Path | undefined, isRead: boolean, handlers: Handlers): Promise<Answer> {
  if (path === undefined) return { status: 404, text: lines(['not found; there are', ...PATHS]) }
  if (!isRead) return { status: 405, text: lines(['only GET and HEAD']) }
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
