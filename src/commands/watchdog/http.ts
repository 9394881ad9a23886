import { VERSION } from '../../cli/version.ts'
import type { ListenAddress, Listening } from '../../http/listen.ts'
import type { LivenessProbe } from '../../watchdog/http/liveness.ts'
import { openReadiness, type Readiness } from '../../watchdog/http/readiness.ts'
import { listen } from '../../watchdog/http/server.ts'
import { type Metrics, openMetrics } from '../../watchdog/metrics/metrics.ts'
import type { Observer } from '../../watchdog/report.ts'

/** HTTP endpoints of a watchdog. */
export interface HttpEndpoints {
  readonly observers: readonly Observer[]
  readonly metrics: Metrics
  readonly listening: Listening
  /** Reports "not ready" from now on: the watchdog drains. */
  stopping(): void
  close(): Promise<void>
}

/** Opens `/livez`, `/readyz` and `/metrics`. @throws ListenFailed */
export async function openEndpoints(
  address: ListenAddress,
  heart: LivenessProbe,
  intervalMs: number,
  nowMs: () => number,
): Promise<HttpEndpoints> {
  const readiness: Readiness = openReadiness(intervalMs, () => performance.now())
  const metrics = await openMetrics({ version: VERSION, nowMs })
  const handlers = { livez: () => heart.health(), readyz: () => readiness.health(), metrics: () => metrics }
  // The server answers until the very end: a probe would take a refused connection for a crash.
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
