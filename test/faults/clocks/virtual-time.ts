import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../src/util/clock.ts'
import { collect, forward, without } from '../../support/messages.ts'
import { seen } from '../../support/seen-request.ts'

/** Time that passes only when a test advances it, and then all at once. */
export class VirtualTime implements Clock {
  readonly #startMs: number
  #nowMs: number
  #isQuiet = (): boolean => true

  constructor(startMs: number) {
    this.#startMs = startMs
    this.#nowMs = startMs
  }

  readonly wallMs = (): number => this.#nowMs
  readonly monotonicMs = (): number => this.#nowMs - this.#startMs

  advance(ms: number): Promise<void> {
    return this.goTo(this.#nowMs + ms)
  }

  async goTo(ms: number): Promise<void> {
    while (!this.#isQuiet()) await sleep(1)
    if (ms < this.#nowMs) throw new Error('time does not go back')
    this.#nowMs = ms
  }

  /** From now on time waits for work in flight: nothing in a test takes seconds. */
  waitsUntil(isQuiet: () => boolean): void {
    this.#isQuiet = isQuiet
  }
}

/** A service whose answers have a time of ours, truncated to the second as usual. */
export interface DatedService {
  readonly port: number
  stop(): Promise<void>
}

export async function startDatedService(target: { readonly port: number }, time: VirtualTime): Promise<DatedService> {
  const agent = new Agent({ keepAlive: true })
  let underWay = 0
  /** Ids of held leases: they are released after the caller's answer. */
  const leases = new Set<string>()
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const arrived = seen(request, { connection: 0, reused: true })
    const message = { headers: request.rawHeaders, body: await collect(request) }
    const { status, headers, body } = await forward(target, arrived, message, agent)
    response.writeHead(status, [...without(headers, 'date'), 'Date', new Date(time.wallMs()).toUTCString()])
    response.end(body)
    const { operation, headers: asked } = arrived
    if (operation === 'acquire' && status < 300) leases.add(String(asked['x-ms-proposed-lease-id']))
    if (operation === 'release') leases.delete(String(asked['x-ms-lease-id']))
  }
  const server = createServer((request, response) => {
    underWay += 1
    response.on('close', () => {
      underWay -= 1
    })
    void pass(request, response).catch(() => response.destroy())
  })
  time.waitsUntil(() => underWay === 0 && leases.size === 0)
  // Longer than any test: it must not close idle connections by itself.
  server.keepAliveTimeout = 120_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    agent.destroy()
    await new Promise<unknown>(resolve => server.close(resolve))
  }
  return { port, stop }
}
