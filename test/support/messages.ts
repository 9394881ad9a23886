import { type Agent, request as forwardHttp, type IncomingMessage } from 'node:http'
import { request as forwardHttps, type Agent as HttpsAgent } from 'node:https'
import type { Seen } from './seen-request.ts'

/** A raw request or answer. Headers keep their case and order: signatures cover them. */
export interface Message {
  readonly headers: string[]
  readonly body: Buffer
}

export interface Answer extends Message {
  readonly status: number
}

/** The real service: on 127.0.0.1, or an account elsewhere. */
export type Target = { readonly port: number } | Elsewhere

/**
 * An account by the URL of its blobs, http or https. Requests to the proxy have the account at the start of the path,
 * as for any server without a name; it is removed, and `Host` becomes the account's. A signature by key covers the path
 * and would break, one in the query (SAS) does not.
 */
export interface Elsewhere {
  readonly url: URL
  readonly account: string
}

/** Forwards a request to the service and reads its whole answer. */
export function forward(
  target: Target,
  { method, target: path }: Seen,
  { headers, body }: Message,
  agent: Agent | HttpsAgent,
): Promise<Answer> {
  const where =
    'port' in target
      ? { host: '127.0.0.1', port: target.port, path, headers: endToEnd(headers) }
      : elsewhere(target, path, headers)
  const isTls = 'url' in target && target.url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const outgoing = (isTls ? forwardHttps : forwardHttp)({ ...where, method, agent }, incoming => {
      const status = incoming.statusCode ?? 502
      collect(incoming).then(read => resolve({ status, headers: endToEnd(incoming.rawHeaders), body: read }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function elsewhere({ url, account }: Elsewhere, path: string, headers: readonly string[]) {
  const own = url.pathname.replace(/\/$/, '')
  return {
    host: url.hostname,
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: `${own}${path.slice(`/${account}`.length)}`,
    headers: [...without(endToEnd(headers), 'host'), 'Host', url.host],
  }
}

function endToEnd(headers: readonly string[]): string[] {
  return without(headers, 'connection', 'keep-alive')
}

/** Raw headers, name after value, without some; `names` in lower case. */
export function without(headers: readonly string[], ...names: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2)
    if (!names.includes(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

export async function collect(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
