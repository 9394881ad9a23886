import type { Readable } from 'node:stream'
import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { ServiceError } from './errors.ts'

/** The parts of an HTTP answer that show whether the service sent it. */
export interface RawAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | undefined }
  readonly request: { readonly method: string; readonly url: string }
}

/** Queries of requests whose answers have no ETag: about many blobs, or an account. */
const WITHOUT_ETAG = /[?&](comp=list|restype=(account|service))(&|$)/

/**
 * The reason why an answer cannot come from the service, in words; `undefined` if it can. A proxy, a firewall or a captive portal
 * may answer in its place, with any status: such an answer proves nothing about the request.
 *
 * Headers of the service's answers (https://learn.microsoft.com/rest/api/storageservices, "Response headers" of each operation):
 *
 * | answer | x-ms-request-id | ETag |
 * |---|---|---|
 * | an error, to any request | yes | |
 * | done: Get, Get Properties, Put, Set Metadata, Lease (each action), Create Container, Get Container Properties | yes | yes |
 * | done: Delete, List Blobs, Get Account Information, Get Service Properties | yes | |
 *
 * It never redirects.
 */
export function answerProblem({ status, headers, request }: RawAnswer): string | undefined {
  if (!headers.get('x-ms-request-id')) return `${describe(status, headers)} without x-ms-request-id`
  if (status >= 300 && status < 400) return `HTTP ${status}, a redirect`
  if (status < 300 && hasETag(request) && !headers.get('etag')) return `HTTP ${status} without ETag`
  return undefined
}

/**
 * Hides answers of other servers from the SDK, which would take a web page for a blob and follow a redirect: the request then
 * counts as unanswered.
 */
export function onlyTheService(): PipelinePolicy {
  return {
    name: 'onlyTheService',
    sendRequest: async (request, next) => {
      const response = await next(request)
      const problem = answerProblem({ status: response.status, headers: response.headers, request })
      if (problem === undefined) return response
      close(response.readableStreamBody as Readable | undefined)
      throw ServiceError.ofAnother(problem, response.headers.get('retry-after'))
    },
  }
}

/** The rest of the body is not read. */
function close(body: Readable | undefined): void {
  body?.on('error', () => {}).destroy()
}

function hasETag({ method, url }: RawAnswer['request']): boolean {
  const query = url.indexOf('?')
  return method !== 'DELETE' && (query < 0 || !WITHOUT_ETAG.test(url.slice(query)))
}

/** The content type is untrusted text. */
function describe(status: number, headers: RawAnswer['headers']): string {
  const [type] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}(?=\s*(;|$))/.exec(headers.get('content-type') ?? '') ?? []
  return type === undefined ? `HTTP ${status}` : `HTTP ${status} ${type}`
}
