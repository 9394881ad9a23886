import type { Readable } from 'node:stream'
import type { RequestPolicyFactory } from '@azure/storage-blob'
import { ServiceError } from './errors.ts'

/** An answer as it came over the network, as far as it tells who gave it. */
export interface RawAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | undefined }
  readonly request: { readonly method: string; readonly url: string }
}

/** Requests that are answered without an ETag: what they are about has none (many blobs, an account), or is gone. */
const WITHOUT_ETAG = /[?&](comp=list|restype=(account|service))(&|$)/

/**
 * Why an answer cannot be the service's own, in words; `undefined` if nothing speaks against it. A proxy, a firewall or a
 * captive portal may answer in its place, with any status: of the request such an answer tells nothing.
 *
 * The service marks its answers so (https://learn.microsoft.com/rest/api/storageservices, each operation's "Response headers"):
 *
 * | answer | x-ms-request-id | ETag |
 * |---|---|---|
 * | an error, to any request | yes | |
 * | done: Get, Get Properties, Put, Set Metadata, Lease (each action), Create Container, Get Container Properties | yes | yes |
 * | done: Delete, List Blobs, Get Account Information, Get Service Properties | yes | |
 *
 * It redirects nobody.
 */
export function answerProblem({ status, headers, request }: RawAnswer): string | undefined {
  if (!headers.get('x-ms-request-id')) return `${describe(status, headers)} without x-ms-request-id`
  if (status >= 300 && status < 400) return `HTTP ${status}, a redirect`
  if (status < 300 && hasETag(request) && !headers.get('etag')) return `HTTP ${status} without ETag`
  return undefined
}

/**
 * Keeps answers that are not the service's from the SDK, which would take a page for a blob, and follow a redirect: such a
 * request has no answer.
 */
export function onlyTheService(): RequestPolicyFactory {
  const factory: RequestPolicyFactory = {
    create: next => ({
      sendRequest: async request => {
        const response = await next.sendRequest(request)
        const problem = answerProblem({ status: response.status, headers: response.headers, request })
        if (problem === undefined) return response
        close(response.readableStreamBody as Readable | undefined)
        throw ServiceError.ofAnother(problem, response.headers.get('retry-after'))
      },
    }),
  }
  // The SDK puts a factory of this name right at the network, any other where a redirect was followed already.
  return Object.defineProperty(factory, 'constructor', { value: { name: 'InjectorPolicyFactory' } })
}

/** Nobody reads the rest. */
function close(body: Readable | undefined): void {
  body?.on('error', () => {}).destroy()
}

function hasETag({ method, url }: RawAnswer['request']): boolean {
  const query = url.indexOf('?')
  return method !== 'DELETE' && (query < 0 || !WITHOUT_ETAG.test(url.slice(query)))
}

/** The type of the content is from a stranger. */
function describe(status: number, headers: RawAnswer['headers']): string {
  const [type] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}(?=\s*(;|$))/.exec(headers.get('content-type') ?? '') ?? []
  return type === undefined ? `HTTP ${status}` : `HTTP ${status} ${type}`
}
