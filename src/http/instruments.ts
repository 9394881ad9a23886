import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'

export type PromClient = typeof import('prom-client')

/** Makes instruments whose names have the prefix of the program. */
export interface Maker {
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void): Gauge
  counter(name: string, help: string, labels?: readonly string[]): Counter
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram
}

/** @param prefix of all names, `leasectl_watchdog_` */
export function makerOf({ Gauge, Counter, Histogram }: PromClient, registry: Registry, prefix: string): Maker {
  const common = (name: string, help: string, labelNames: readonly string[]) => ({
    name: `${prefix}${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  return {
    gauge(name, help, labels = [], collect) {
      const gauge: Gauge = new Gauge({
        ...common(name, help, labels),
        ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
      })
      return gauge
    },
    counter: (name, help, labels = []) => new Counter(common(name, help, labels)),
    histogram: (name, help, buckets, labels = []) =>
      new Histogram({ ...common(name, help, labels), buckets: [...buckets] }),
  }
}

/** Adds the lag of the event loop. */
export function loopLag({ gauge }: Maker, loopDelay: LoopDelay): void {
  const help = 'Lag of the event loop since the last scrape; quantile 1 is the maximum'
  gauge('event_loop_lag_seconds', help, ['quantile'], lag => {
    const { p50, p99, max } = loopDelay.read()
    lag.set({ quantile: '0.5' }, p50)
    lag.set({ quantile: '0.99' }, p99)
    lag.set({ quantile: '1' }, max)
  })
}

/**
 * Default metrics of prom-client without the lag of the event loop, which is measured above. Its own measurement cannot
 * be disabled; once a minute it costs nothing.
 */
export function ofProcess({ collectDefaultMetrics }: PromClient, registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 60_000 })
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name)
  }
}

/** Lag of the event loop since the last reading, seconds. */
export interface LoopLag {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface LoopDelay {
  /** Reads and resets. */
  read(): LoopLag
  close(): void
}

/** Interval of the timer that measures the lag: the default of 10 ms would take 0.6 % of a core, 50 ms take 0.1 %. */
const EVERY_MS = 50

/** Measures how late a timer fires. Node reports the time between two firings, so the interval is subtracted. */
export function watchLoopDelay(): LoopDelay {
  const delay = monitorEventLoopDelay({ resolution: EVERY_MS })
  delay.enable()
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - EVERY_MS) / 1000
  return {
    read() {
      const lag = { p50: seconds(delay.percentile(50)), p99: seconds(delay.percentile(99)), max: seconds(delay.max) }
      delay.reset()
      return lag
    },
    close: () => void delay.disable(),
  }
}
