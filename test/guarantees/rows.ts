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
    promise: 'no change is lost, doubled or reordered',
    figures: ['updates at 5 %', 'updates at 20 %', 'violations', 'unknown left unresolved'],
  },
  ambiguity: { promise: 'every ambiguous answer has one written outcome', figures: ['cells'] },
  paused: { promise: 'a paused worker cannot harm', figures: ['points', 'stale writes accepted'] },
  clocks: { promise: 'clocks may lie', figures: ['clocks', 'lost', 'early expiries'] },
  watchdog: {
    promise: 'the watchdog never ends a live event, always ends a stale one',
    figures: ['heartbeats', 'ended early', 'stale', 'ended late'],
  },
  checker: { promise: 'the checker has teeth', figures: ['mutants caught', 'false alarms'] },
  domain: { promise: 'the domain is right', figures: ['runs', 'identical replays', 'mutation score'] },
  sqlite: {
    promise: 'the embedded store survives',
    figures: ['kills', 'power cuts', 'injected I/O errors', 'acknowledged changes lost'],
  },
  outage: {
    promise: 'an outage is weathered',
    figures: ['requests a second and worker', 'calls past their deadline', 'throughput after it'],
  },
  xml: { promise: "strangers' XML is safe", figures: ['documents', 'accepted that a parser rejects', 'ms a MB'] },
  terminal: { promise: "strangers' text cannot drive the terminal", figures: ['cells', 'control bytes from data'] },
  graphs: { promise: 'strange graphs are no trap', figures: ['graphs', 's per 20 000 events'] },
  names: { promise: 'names cannot escape', figures: ['names', 'files outside the target'] },
  secrets: { promise: 'secrets stay secret', figures: ['commands', 'hits'] },
  shells: { promise: 'commands are not shells', figures: ['values', 'run by a shell'] },
  webhooks: { promise: 'webhooks reach no inner addresses', figures: ['addresses', 'requests that arrived'] },
  endpoint: { promise: 'the local endpoint lets nobody in', figures: ['requests', 'answered to strangers'] },
  stops: {
    promise: 'it stops well',
    figures: ['stops', 'longest idle stop, ms', 'longest busy stop, ms', 'leases left'],
  },
  supply: { promise: 'the supply chain is small', figures: ['dependencies at run time', 'install scripts'] },
} as const satisfies Record<string, Row>

export type RowId = keyof typeof ROWS

/** A figure of a row, by its name there. */
export type FigureOf<Id extends RowId> = (typeof ROWS)[Id]['figures'][number]
