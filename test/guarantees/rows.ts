/** A promise of the project with the figures that its tests must show. */
export interface Row {
  readonly promise: string
  /** The names of the figures that the report must contain. */
  readonly figures: readonly string[]
}

/**
 * Every promise that `npm run trust` reports on. A row counts as kept only with each of its figures, with at least one
 * negative control that failed as it must, and with proof that the faults it is about reached the code.
 */
export const ROWS = {
  changes: {
    promise: 'no change is lost, duplicated or reordered',
    figures: ['updates at 5 %', 'updates at 20 %', 'violations', 'unknown left unresolved'],
  },
  ambiguity: { promise: 'every ambiguous answer has one documented outcome', figures: ['cells'] },
  paused: { promise: 'a paused worker cannot do harm', figures: ['points', 'stale writes accepted'] },
  clocks: { promise: 'correct under clock skew', figures: ['clocks', 'lost', 'early expiries'] },
  watchdog: {
    promise: 'the watchdog never aborts a live event and always aborts a stale one',
    figures: ['heartbeats', 'ended early', 'stale', 'ended late'],
  },
  checker: { promise: 'the checker detects violations', figures: ['mutants caught', 'false alarms'] },
  domain: { promise: 'the domain model is correct', figures: ['runs', 'identical replays', 'mutation score'] },
  subscriptions: {
    promise: 'a subscription hands over every transaction of a stream, in order, and repeats few',
    figures: ['kills', 'missed or out of order', 'repeated beyond the bound', 'faults of position writes'],
  },
  regions: {
    promise: 'a record put into two regions has its effect once, in order, whichever region is away',
    figures: ['cuts and outages', 'records lost, doubled or out of order'],
  },
  sagas: { promise: 'a command of a subscription is executed once', figures: ['cells'] },
  sqlite: {
    promise: 'the embedded store survives crashes',
    figures: ['kills', 'power cuts', 'injected I/O errors', 'acknowledged changes lost'],
  },
  outage: {
    promise: 'recovery from outages',
    figures: ['requests a second and worker', 'calls past their deadline', 'throughput after it'],
  },
  xml: { promise: 'untrusted XML is safe', figures: ['documents', 'accepted that a parser rejects', 'ms a MB'] },
  terminal: { promise: 'untrusted text cannot control the terminal', figures: ['cells', 'control bytes from data'] },
  graphs: { promise: 'malformed graphs are handled in linear time', figures: ['graphs', 's per 20 000 events'] },
  names: { promise: 'names cannot escape the target', figures: ['names', 'files outside the target'] },
  secrets: { promise: 'secrets stay secret', figures: ['commands', 'hits'] },
  shells: { promise: 'no value is run by a shell', figures: ['values', 'run by a shell'] },
  webhooks: { promise: 'webhooks reach no internal address', figures: ['addresses', 'requests that arrived'] },
  endpoint: { promise: 'the local endpoint rejects foreign requests', figures: ['requests', 'answered to strangers'] },
  stops: {
    promise: 'programs stop cleanly',
    figures: ['stops', 'longest idle stop, ms', 'longest busy stop, ms', 'leases left'],
  },
  supply: { promise: 'the supply chain is small', figures: ['dependencies at run time', 'install scripts'] },
} as const satisfies Record<string, Row>

export type RowId = keyof typeof ROWS

/** A figure of a row, by its name there. */
export type FigureOf<Id extends RowId> = (typeof ROWS)[Id]['figures'][number]
