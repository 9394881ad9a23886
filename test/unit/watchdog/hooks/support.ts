import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StreamView } from '../../../../src/ops/read-stream.ts'
import type { Timing } from '../../../../src/util/clock.ts'
import { machineTiming } from '../../../../src/util/clock.ts'
import { type EventRules, eventIn, type HookEvent } from '../../../../src/watchdog/hooks/events.ts'
import { HOOK_KINDS, type HookKind } from '../../../../src/watchdog/hooks/target.ts'

/** Real processes with a clock of the test: pauses last until `passed` is called, or their signal aborts. */
export function heldTiming(): Timing & { readonly pauses: number[]; passed(): void } {
  const waiting = new Set<() => void>()
  const pauses: number[] = []
  return {
    ...machineTiming,
    random: () => 0.5,
    pauses,
    pause: (ms, signal) =>
      new Promise(resolve => {
        pauses.push(ms)
        const go = () => {
          waiting.delete(go)
          resolve()
        }
        waiting.add(go)
        if (signal.aborted) go()
        signal.addEventListener('abort', go, { once: true })
      }),
    passed() {
      for (const go of waiting) go()
    },
  }
}

/** Pauses take no time, except those of a limit, which last unless they are aborted. */
export function hurriedTiming(limitMs: number): Timing & { readonly pauses: number[] } {
  const pauses: number[] = []
  return {
    ...machineTiming,
    random: () => 0.5,
    pauses,
    async pause(ms, signal) {
      pauses.push(ms)
      if (ms !== limitMs) return void (await soon())
      await new Promise<void>(resolve => {
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
  }
}

/** All events of a stream for hooks of these kinds, oldest first. */
export function eventsIn(
  view: StreamView,
  { kinds = new Set(HOOK_KINDS), ...rules }: EventRules & { readonly kinds?: ReadonlySet<HookKind> },
): HookEvent[] {
  return view
    .transactions()
    .flatMap(transaction => [...kinds].flatMap(kind => eventIn(view, transaction, kind, rules) ?? []))
}

/** Yields once. */
export const soon = () => new Promise(resolve => setImmediate(resolve))

/** Yields until the condition holds. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await soon()
}

/** Of webhooks to a receiver on this machine. */
export const LOOPBACK = { networks: ['127.0.0.0/8'] } as const

export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Resolves when this number has arrived in total. */
  came(count: number): Promise<void>
  close(): Promise<void>
}

/** Receives webhooks on this machine. @param answer 204 unless given */
export async function receiver(
  answer: (response: ServerResponse, received: Received, count: number) => void = response =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = []
  const waiting: { count: number; go: () => void }[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const one = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
    received.push(one)
    answer(response, one, received.length)
    for (const { count, go } of waiting) if (received.length >= count) go()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    came: count => (received.length >= count ? Promise.resolve() : new Promise(go => waiting.push({ count, go }))),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
