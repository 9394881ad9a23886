import { hookFormat } from '../../../../src/commands/watchdog/hooks.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import type { DeliveryReport } from '../../../../src/watchdog/hooks/attempt.ts'
import { openHooks } from '../../../../src/watchdog/hooks/hooks.ts'
import type { HookFeed, HookOptions } from '../../../../src/watchdog/hooks/options.ts'
import { type HookPosition, hookPositions, type PositionStore } from '../../../../src/watchdog/hooks/position-store.ts'
import type { HookKind, Hooks, WebhookTarget } from '../../../../src/watchdog/hooks/target.ts'
import { Pass } from '../../../../src/watchdog/pass.ts'
import type { PassReport } from '../../../../src/watchdog/report.ts'
import { memoryStore } from '../../ops/support.ts'
import { hurriedTiming, LOOPBACK, type Receiver, receiver } from './support.ts'

const TIMEOUT_MS = 30_000

/** The input of a receiver. */
export interface Told {
  readonly apiVersion: string
  readonly hook: HookKind
  readonly deliveryId: string
  readonly stream: string
  readonly transaction: { readonly op: string; readonly version: number; readonly why: string } | null
  readonly due: { readonly event: string } | null
}

/** A watchdog with hooks on a store; several may follow each other on the same store. */
export interface Started {
  readonly feed: HookFeed
  readonly reports: DeliveryReport[]
  readonly troubles: string[]
  /** A sweep, and all its deliveries. */
  sweep(): Promise<PassReport>
  /** A sweep whose deliveries are not awaited. */
  pass(): Promise<PassReport>
}

export interface HookWorld {
  readonly store: StreamStore
  advance(ms: number): void
  start(options?: Partial<HookOptions> & { readonly kinds?: readonly HookKind[] }): Started
  /** `failed 01.00 v2`, sorted. */
  told(): string[]
  readonly host: Receiver
  close(): Promise<void>
}

/** @param answer of the receiver; 204 unless given */
export async function hookWorld(...answer: Parameters<typeof receiver>): Promise<HookWorld> {
  const { store, advance } = memoryStore()
  const host = await receiver(...answer)
  const feeds: HookFeed[] = []
  return {
    store,
    advance,
    host,
    told: () => host.received.map(({ body }) => lineOf(JSON.parse(body) as Told)).sort(),
    start: ({ kinds = ['expired', 'done', 'failed'], ...options } = {}) => {
      const target = webhook(host)
      const hooks: Hooks = Object.fromEntries(kinds.map(kind => [kind, [target]]))
      const one = started(options.store ?? store, { hooks, ...options })
      feeds.push(one.feed)
      return one
    },
    async close() {
      for (const feed of feeds) await feed.drain(0)
      await host.close()
    },
  }
}

export function webhook({ url }: Receiver): WebhookTarget {
  return { kind: 'webhook', url, ...LOOPBACK, timeoutMs: TIMEOUT_MS, tries: 3 }
}

function lineOf({ hook, stream, transaction, due }: Told): string {
  return transaction === null
    ? `${hook} ${stream} ${due?.event} due`
    : `${hook} ${stream} ${transaction.op} v${transaction.version}`
}

function started(store: StreamStore, options: Partial<HookOptions> & Pick<HookOptions, 'hooks'>): Started {
  const reports: DeliveryReport[] = []
  const troubles: string[] = []
  const timing = hurriedTiming(TIMEOUT_MS)
  const feed = openHooks({
    store,
    memory: hookPositions(store, 'tester'),
    format: hookFormat,
    userAgent: 'leasectl/9',
    environment: {},
    timing,
    onDelivery: report => void reports.push(report),
    onTrouble: message => void troubles.push(message),
    ...options,
  })
  const watch = new Pass(
    store,
    {
      intervalMs: 10_000,
      onDue: 'abort-event',
      maxPerPass: 1_000,
      maxShare: 1,
      concurrency: 4,
      by: 'watchdog@test',
      observers: [feed],
      wantsMoved: true,
      wantsAll: () => feed.wantsAll(),
      timing,
    },
    { trustsClock: true, isDryRun: false, timing },
  )
  const pass = () => watch.pass('sweep', new AbortController().signal)
  return {
    feed,
    reports,
    troubles,
    pass,
    async sweep() {
      const report = await pass()
      await feed.idle()
      return report
    },
  }
}

/** Keeps progress only in memory, and records writes. */
export function plainMemory(): { readonly memory: () => PositionStore; readonly written: number[] } {
  const positions = new Map<number, HookPosition>()
  const written: number[] = []
  const memory: PositionStore = {
    read: async shard => positions.get(shard),
    async write(shard, _, position) {
      positions.set(shard, position)
      written.push(position.document.watermarkMs)
      return 'written'
    },
  }
  return { memory: () => memory, written }
}
