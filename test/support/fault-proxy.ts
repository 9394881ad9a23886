import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brokenOff, failure, forged, givenUp, hangUp, wrongLength } from './fault-answers.ts'
import type { FaultProxy, FaultProxyOptions } from './fault-proxy-types.ts'
import { chooseFault, type Fault, type Injected, seededRandom } from './faults.ts'
import { type Answer, collect, forward, type Message } from './messages.ts'
import { type Seen, seen } from './seen-request.ts'

export type { FaultProxy, FaultProxyOptions } from './fault-proxy-types.ts'
export type { Fault, FaultKind, Injected } from './faults.ts'
export type { Operation, Seen } from './seen-request.ts'

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new HttpFaultProxy(options)
  await proxy.listen()
  return proxy
}

class HttpFaultProxy implements FaultProxy {
  readonly requests: Seen[] = []
  readonly injected: Injected[] = []
  rounds = 0
  abandoned = 0
  #answeredInRound = true
  readonly #faults: { fault: Fault; matches: number; used: number }[]
  readonly #random: () => number
  readonly #options: FaultProxyOptions
  readonly #agent: Agent
  readonly #connections = new WeakMap<Socket, number>()
  #connected = 0
  readonly #server = createServer(
    (request, response) => void this.#serve(request, response).catch(() => response.destroy()),
  )
  #late: { fault: Fault; request: Seen; send: () => Promise<unknown> }[] = []

  constructor(options: FaultProxyOptions) {
    this.#options = options
    const isTls = 'url' in options.target && options.target.url.protocol === 'https:'
    this.#agent = new (isTls ? HttpsAgent : Agent)({ keepAlive: true })
    this.#random = seededRandom(options.seed ?? 1)
    this.#faults = (options.faults ?? []).map(fault => ({ fault, matches: 0, used: 0 }))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async listen(): Promise<void> {
    // Longer than any test: the proxy must not close idle connections by itself.
    this.#server.keepAliveTimeout = 120_000
    this.#server.on('connection', socket => {
      socket.on('close', () => {
        if (!this.#connections.has(socket)) this.abandoned += 1
      })
    })
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
    const arrived = seen(request, this.#connectionOf(request.socket))
    this.requests.push(arrived)
    if (this.#answeredInRound) this.rounds += 1
    this.#answeredInRound = false
    const fault = chooseFault(this.#faults, arrived, this.#random)
    if (fault !== undefined) this.injected.push({ kind: fault.kind, silent: fault.silent === true, request: arrived })
    else response.on('close', () => this.#noteUnfinished(response))
    const body = await collect(request)
    await this.#delay(fault?.delayMs)
    await fault?.before?.(arrived)
    const message: Message = { headers: request.rawHeaders, body }
    const send = () => forward(this.#options.target, arrived, message, this.#agent)
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
      case 'dead-socket':
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
      case 'forged-before':
        return this.#answer(response, forged(fault))
      case 'forged-after':
        await send()
        return this.#answer(response, forged(fault))
      case 'duplicate':
        await send()
        return this.#answer(response, await send())
      case 'duplicate-late': {
        const answer = await send()
        this.#late.push({ fault, request: arrived, send })
        return this.#answer(response, answer)
      }
      case 'truncate':
      case 'reset':
        return brokenOff(response, await send(), fault)
      case 'wrong-length':
        return wrongLength(response, await send(), fault)
      case 'answer-late': {
        const answer = await send()
        await givenUp(request)
        return this.#answer(response, answer)
      }
      case 'delay':
        return this.#answer(response, await send())
      default:
        return fault.kind satisfies never
    }
  }

  #noteUnfinished(response: ServerResponse): void {
    if (!response.writableFinished) this.abandoned += 1
  }

  #connectionOf(socket: Socket): Pick<Seen, 'connection' | 'reused'> {
    const known = this.#connections.get(socket)
    if (known !== undefined) return { connection: known, reused: true }
    this.#connected += 1
    this.#connections.set(socket, this.#connected)
    return { connection: this.#connected, reused: false }
  }

  /** Sends delayed requests until a request like the one just answered. */
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
}
