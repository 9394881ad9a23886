import type { Heart } from '../../watchdog/heart.ts'
import { type ListenAddress, type Listening, listen } from '../../watchdog/listen.ts'
import { type Metrics, openMetrics } from '../../watchdog/metrics.ts'
import { openReadiness, type Readiness } from '../../watchdog/readiness.ts'
import type { Observer } from '../../watchdog/report.ts'
import { VERSION } from '../version.ts'

/** What others may ask of a watchdog over HTTP. */
export interface Operation {
  readonly observers: readonly Observer[]
  readonly metrics: Metrics
  readonly listening: Listening
  /** Not ready any more: it drains. */
  stopping(): void
  close(): Promise<void>
}

/** Opens `/livez`, `/readyz` and `/metrics`. @throws ListenFailed */
export async function openOperation(
  address: ListenAddress,
  heart: Heart,
  intervalMs: number,
  nowMs: () => number,
): Promise<Operation> {
  const readiness: Readiness = openReadiness(intervalMs, () => performance.now())
  const metrics = await openMetrics({ version: VERSION, nowMs })
  const handlers = { livez: () => heart.health(), readyz: () => readiness.health(), metrics: () => metrics }
  // it answers until the very end: a probe that finds nobody takes a drain for a crash
  const listening = await listen(address, handlers, new AbortController().signal)
  return {
    observers: [readiness, metrics],
    metrics,
    listening,
    stopping: () => readiness.stopping(),
    async close() {
      await listening.close()
      metrics.close()
    },
  }
}
