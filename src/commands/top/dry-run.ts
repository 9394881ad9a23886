import type { Runtime } from '../../cli/runtime.ts'
import { tableRows, tableWidths } from '../../formats/terminal/table.ts'
import type { EventStore } from '../../store/store.ts'
import type { Ports } from '../../tui/ports.ts'
import { runOnce } from '../../watchdog/once.ts'
import type { Observer } from '../../watchdog/report.ts'
import { decisionColumns, decisionRow, type Told } from '../watchdog/decisions.ts'
import { breakerText } from '../watchdog/once.ts'
import { watchdogOptions } from '../watchdog/run.ts'
import { readSettings } from '../watchdog/settings.ts'

/** So many decisions are told; all are counted. */
const MOST_TOLD = 200

/** What `watchdog --once --dry-run` would tell. Changes nothing. */
export async function dryRun(store: EventStore, runtime: Runtime, signal: AbortSignal): ReturnType<Ports['dryRun']> {
  const told: Told[] = []
  let total = 0
  const teller: Observer = {
    planned(decision) {
      if (total++ < MOST_TOLD) told.push({ decision })
    },
  }
  const options = { ...watchdogOptions(await readSettings({}), store, runtime), observers: [teller] }
  const report = await runOnce(store, options, { isDryRun: true, signal })
  const rows = told.map(one => decisionRow(one, store.nowMs()))
  const columns = decisionColumns(true).map(column => ({ ...column, title: '' }))
  return {
    kind: 'done',
    atMs: report.startedMs,
    tookMs: report.tookMs,
    total,
    decisions: tableRows(columns, rows, tableWidths(columns, rows)).map(line => line.trimEnd()),
    breaker: report.breaker.isOpen ? breakerText(report) : undefined,
  }
}
