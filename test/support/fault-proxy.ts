import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseFault, type Fault, type Injected, seededRandom } from './faults.ts'
import { type Seen, seen } from './seen-request.ts'

export type { Fault, FaultKind, Injected } from './faults.ts'
export type { Operation, Seen } from './seen-request.ts'

export interface FaultProxyOptions {
  /** Where the real service listens on 127.0.0.1. */
  readonly target: { readonly port: number }
  /** The same seed and the same requests in the same order give the same faults. */
  readonly seed?: number
  readonly faults?: readonly Fault[]
  /** Of every request and of every answer. */
  readonly delayMs?: number
}

/** An HTTP proxy that loses, delays, doubles and breaks requests and answers on purpose. */
export interface FaultProxy {
  readonly port: number
  /** Every request that arrived, in order. */
  readonly requests: readonly Seen[]
  /** Every fault that was put in: the proof that it reached the code under test. */
  readonly injected: readonly Injected[]
  /** How many round trips one after the other the requests so far took: those that overlap count once. */
  readonly rounds: number
  count(operation: Seen['operation']): number
  /** Adds a fault; `nth` counts from now. */
  add(fault: Fault): void
  /** Takes all faults out. */
  heal(): void
  /** Forgets requests, injections and rounds. */
  reset(): void
  /** Lets the requests that are held back (`late`) through to the service, and waits until it has answered them. */
  deliverLate(): Promise<void>
  stop(): Promise<void>
}

/** A request or an answer as it goes over the wire. Headers keep their case and order: signatures cover them. */
interface Message {
  readonly headers: string[]
  readonly body: Buffer
}

interface Answer extends Message {
  readonly status: number
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new HttpFaultProxy(options)
  await proxy.listen()
  return proxy
}

class HttpFaultProxy implements FaultProxy {
  readonly requests: Seen[] = []
  readonly injected: Injected[] = []
  rounds = 0
  #answeredInRound = true
  readonly #faults: { fault: Fault; matches: number; used: number }[]
  readonly #random: () => number
  readonly #options: FaultProxyOptions
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server = createServer(
    (request, response) => void this.#serve(request, response).catch(() => response.destroy()),
  )
  #late: { fault: Fault; request: Seen; send: () => Promise<unknown> }[] = []

  constructor(options: FaultProxyOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed ?? 1)
    this.#faults = (options.faults ?? []).map(fault => ({ fault, matches: 0, used: 0 }))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async listen(): Promise<void> {
    // Longer than any test: the proxy must not close idle connections by itself.
    this.#server.keepAliveTimeout = 120_000
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
  }

  count(operation: Seen['operation']): number {
    return this.requests.filter(request => request.operation === operation).length
  }

  add(fault: Fault): void {
    this.#faults.push({ fault, matches: 0, used: 0 })
  }

  heal(): void {
    this.#faults.length = 0
  }

  reset(): void {
    this.requests.length = 0
    this.injected.length = 0
    this.rounds = 0
    this.#answeredInRound = true
  }

  async deliverLate(): Promise<void> {
    const late = this.#late
    this.#late = []
    for (const { send } of late) await send()
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#agent.destroy()
    await new Promise<unknown>(resolve => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = seen(request)
    this.requests.push(arrived)
    if (this.#answeredInRound) this.rounds += 1
    this.#answeredInRound = false
    const fault = chooseFault(this.#faults, arrived, this.#random)
    if (fault !== undefined) this.injected.push({ kind: fault.kind, request: arrived })
    const body = await collect(request)
    await this.#delay(fault?.delayMs)
    await fault?.before?.(arrived)
    const message: Message = { headers: request.rawHeaders, body }
    const send = () => this.#forward(arrived, message)
    if (fault === undefined) await this.#answer(response, await send())
    else await this.#inject(fault, arrived, request, response, send)
    this.#answeredInRound = true
    await this.#deliverAfter(arrived)
  }

  async #inject(
    fault: Fault,
    arrived: Seen,
    request: IncomingMessage,
    response: ServerResponse,
    send: () => Promise<Answer>,
  ): Promise<void> {
    switch (fault.kind) {
      case 'lose-request':
        return hangUp(request, fault)
      case 'lose-answer':
        await send()
        return hangUp(request, fault)
      case 'late':
        this.#late.push({ fault, request: arrived, send })
        return hangUp(request, fault)
      case 'error-before':
        return this.#answer(response, failure(fault))
      case 'error-after':
        await send()
        return this.#answer(response, failure(fault))
      case 'duplicate':
        await send()
        return this.#answer(response, await send())
      case 'truncate':
        return truncated(response, await send())
      case 'delay':
        return this.#answer(response, await send())
      default:
        return fault.kind satisfies never
    }
  }

  /** Sends what was held back until a request like the one just answered. */
  async #deliverAfter(answered: Seen): Promise<void> {
    const due = this.#late.filter(({ fault, request }) => request !== answered && fault.after?.(answered))
    this.#late = this.#late.filter(held => !due.includes(held))
    for (const { send } of due) await send()
  }

  async #answer(response: ServerResponse, answer: Answer): Promise<void> {
    await this.#delay(undefined)
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body)
  }

  async #delay(extraMs: number | undefined): Promise<void> {
    const ms = (this.#options.delayMs ?? 0) + (extraMs ?? 0)
    if (ms > 0) await sleep(ms)
  }

  #forward({ method, target }: Seen, { headers, body }: Message): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { port } = this.#options.target
      const options = { host: '127.0.0.1', port, method, path: target, headers: endToEnd(headers), agent: this.#agent }
      const outgoing = forward(options, incoming => {
        const status = incoming.statusCode ?? 502
        collect(incoming).then(read => resolve({ status, headers: endToEnd(incoming.rawHeaders), body: read }), reject)
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

/** No answer: the connection is closed, or with `silent` it stays open and nothing ever comes. */
function hangUp(request: IncomingMessage, fault: Fault): void {
  if (!fault.silent) request.socket.resetAndDestroy()
}

function failure({ kind, status, retryAfterS }: Fault): Answer {
  const code = status ?? (kind === 'error-after' ? 500 : 503)
  const name = code === 503 ? 'ServerBusy' : code === 500 ? 'InternalError' : `Status${code}`
  const headers = ['x-ms-error-code', name, 'content-length', '0', 'date', new Date().toUTCString()]
  if (retryAfterS !== undefined) headers.push('retry-after', String(retryAfterS))
  return { status: code, headers, body: Buffer.alloc(0) }
}

/** Half of what the header promised, or for an answer without a body half of the header. */
function truncated(response: ServerResponse, { status, headers, body }: Answer): void {
  const { socket } = response
  if (body.length === 0) socket?.write(`HTTP/1.1 ${status} OK\r\nx-ms-`, () => socket.destroy())
  else {
    response.writeHead(status, [
      ...without(headers, 'transfer-encoding', 'content-length'),
      'content-length',
      String(body.length),
    ])
    response.write(body.subarray(0, body.length >> 1), () => socket?.destroy())
  }
}

function endToEnd(headers: readonly string[]): string[] {
  return without(headers, 'connection', 'keep-alive')
}

function without(headers: readonly string[], ...names: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2)
    if (!names.includes(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

async function collect(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
