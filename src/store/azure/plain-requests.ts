import type { Readable } from 'node:stream'
import { createHttpHeaders, createPipelineRequest, type PipelineResponse } from '@azure/core-rest-pipeline'
import { ContainerClient, type Pipeline } from '@azure/storage-blob'
import { onlyTheService } from './answers.ts'

/** One request as it is sent, apart from what the SDK's pipeline adds: signature, client's name, request id. */
export interface PlainRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT'
  readonly url: string
  /** Of those without a value none is sent. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: Buffer
  readonly abortSignal: AbortSignal
  /** The status of an answer that means success. Any other is thrown. */
  readonly expected: number
}

export interface PlainAnswer {
  header(name: string): string | undefined
  /** `undefined` if the answer has no such header. */
  date(name: string): Date | undefined
  /** All headers, with names in lower case. */
  headers(): Iterable<readonly [name: string, value: string]>
  /** The body of the answer to a GET. The caller reads or destroys it. */
  readonly body: Readable | undefined
}

/**
 * A client of a container that also sends requests without the SDK's serializers, which take more processor time than all
 * other parts of a request. They go through the SDK's pipeline, so sign-in, proxies and policies are the same.
 */
export class PlainContainerClient extends ContainerClient {
  constructor(url: string, pipeline: Pipeline) {
    super(url, pipeline)
    const policies = this.storageClientContext.pipeline
    // The place of this policy is below redirects: an answer of another server must not reach them.
    policies.addPolicy(onlyTheService(), { afterPhase: 'Retry' })
    // No tracer can register with a bundled SDK, and this policy parses the URL of each request.
    policies.removePolicy({ name: 'tracingPolicy' })
  }

  /** Sends a request once. @throws RefusedAnswer if the status is not the expected one; errors of the network */
  async send({ method, url, headers, body, abortSignal, expected }: PlainRequest): Promise<PlainAnswer> {
    const request = createPipelineRequest({
      method,
      url,
      headers: createHttpHeaders({ accept: 'application/xml', 'x-ms-version': this.storageClientContext.version }),
      abortSignal,
      allowInsecureConnection: true,
      ...(body === undefined ? {} : { body }),
    })
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) request.headers.set(name, value)
    if (method === 'GET') request.streamResponseStatusCodes = new Set([expected])
    const response = await this.storageClientContext.sendRequest(request)
    if (response.status !== expected) throw new RefusedAnswer(response)
    return new Answered(response)
  }
}

class Answered implements PlainAnswer {
  readonly #response: PipelineResponse

  constructor(response: PipelineResponse) {
    this.#response = response
  }

  get body(): Readable | undefined {
    return this.#response.readableStreamBody as Readable | undefined
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name)
  }

  date(name: string): Date | undefined {
    const text = this.header(name)
    return text === undefined ? undefined : new Date(text)
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#response.headers
  }
}

/** An answer with another status than the expected one, in the form of the SDK's errors but without the request. */
class RefusedAnswer extends Error {
  readonly statusCode: number
  readonly response: Pick<PipelineResponse, 'headers'>

  constructor({ status, headers }: PipelineResponse) {
    super(`HTTP ${status}`)
    this.statusCode = status
    this.response = { headers }
  }
}

/** A URL with one more parameter; with a SAS it has some already. */
export function withQuery(url: string, query: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${query}`
}
