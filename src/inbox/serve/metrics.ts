import { loopLag, makerOf, ofProcess, watchLoopDelay } from '../../http/instruments.ts'
import type { Handlers } from '../../http/probes.ts'
import type { InboxServer, ServeObserver } from './server.ts'

export interface ServeMetrics extends ServeObserver {
  /** For `/metrics`. */
  readonly page: ReturnType<Handlers['metrics']>
  close(): void
}

const PREFIX = 'leasectl_inbox_serve_'
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const STATUSES = [202, 400, 401, 403, 404, 405, 413, 415, 429, 500, 503]

/** Metrics of a server; docs/inbox.md lists their names. Loads prom-client. */
export async function openServeMetrics(
  server: () => InboxServer,
  {
    version,
    inboxes,
    isStoreThere,
    isRegionUp,
  }: {
    readonly version: string
    readonly inboxes: readonly string[]
    isStoreThere(): boolean
    /** With two regions. */
    readonly isRegionUp?: (place: 'first' | 'second') => boolean
  },
): Promise<ServeMetrics> {
  const client = await import('prom-client')
  const registry = new client.Registry()
  const maker = makerOf(client, registry, PREFIX)
  const loopDelay = watchLoopDelay()
  const requests = maker.counter('requests_total', 'Requests answered, by status', ['status'])
  const records = maker.counter('records_total', 'Records put durably', ['inbox'])
  const took = maker.histogram('request_duration_seconds', 'From the header of a request to its answer', BUCKETS_S)
  for (const status of STATUSES) requests.inc({ status }, 0)
  for (const inbox of inboxes) records.inc({ inbox }, 0)
  maker.gauge('requests_in_flight', 'Requests being answered', [], gauge => gauge.set(server().requests))
  maker.gauge('buffered_bytes', 'Bytes of their bodies', [], gauge => gauge.set(server().bufferedBytes))
  const connections = maker.gauge('connections', 'Open connections')
  maker.gauge('store_up', '1 while the store answers, otherwise 0', [], gauge => gauge.set(isStoreThere() ? 1 : 0))
  if (isRegionUp !== undefined)
    maker.gauge('region_up', 'With --also: 1 while the region takes records, otherwise 0', ['region'], gauge => {
      for (const region of ['first', 'second'] as const) gauge.set({ region }, isRegionUp(region) ? 1 : 0)
    })
  loopLag(maker, loopDelay)
  maker
    .gauge('build_info', 'Always 1; the versions of leasectl and Node', ['version', 'node'])
    .set({ version, node: process.version }, 1)
  ofProcess(client, registry)
  return {
    answered(status, inbox, put, tookMs) {
      requests.inc({ status })
      if (inbox === undefined) return
      took.observe(tookMs / 1_000)
      if (put > 0) records.inc({ inbox }, put)
    },
    page: {
      contentType: registry.contentType,
      text: async () => {
        connections.set(await server().connections())
        return registry.metrics()
      },
    },
    close: () => loopDelay.close(),
  }
}
