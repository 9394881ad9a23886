import type { Scene } from '../state/context.ts'
import { detailSize, dialogHeight, layoutOf, type ScreenLayout } from '../state/layout.ts'
import { filterOf } from '../state/lists/filters.ts'
import { isScrolled } from '../state/panes.ts'
import { activityRows } from './activity.ts'
import { asciiRow } from './ascii.ts'
import { dialogRows } from './dialogs/dialog.ts'
import { footRow } from './footer.ts'
import { healthRow } from './health.ts'
import { helpRows } from './help.ts'
import { leaseRows } from './leases.ts'
import { listDetailRows } from './list-detail.ts'
import { withMatches } from './matches.ts'
import { type Area, BLANK, besideRow, type Frame, filled, rowOf, type ScreenRow } from './row.ts'
import { headRule } from './status-line.ts'
import { detailRows } from './stream/detail.ts'
import { streamHeader } from './stream/header.ts'
import { tailRows } from './stream/journal.ts'
import { timelineRows } from './stream/timeline.ts'
import { treeRows } from './stream/tree.ts'
import { xmlRows } from './stream/xml.ts'
import { streamRows } from './streams.ts'
import { subscriptionRows } from './subscriptions.ts'
import { pageRows } from './text.ts'
import { titleRow } from './title.ts'
import { inboxRows } from './two-lists/inboxes.ts'
import { watchdogRows } from './watchdog.ts'
import { workerRows } from './workers.ts'

export interface FrameOptions {
  /** Use only ASCII characters. */
  readonly isAscii?: boolean
}

/** The whole screen as of now: exactly its number of rows, none too wide. Never throws, whatever the size. */
export function frameOf(scene: Scene, { isAscii = false }: FrameOptions = {}): Frame {
  const { columns, rows: height } = scene.state.size
  const screen = { columns: Math.max(0, columns), rows: Math.max(0, height) }
  if (screen.columns === 0) return { columns: 0, rows: filled([], screen) }
  const drawn = filled(withDialog(scene, screenRows(scene, screen)), screen)
  const rows = layoutOf(scene.state).isTiny ? drawn.map(row => rowOf(row.spans, columns, row.highlight)) : drawn
  return { columns, rows: isAscii ? rows.map(asciiRow) : rows }
}

function screenRows(scene: Scene, { columns }: Area): ScreenRow[] {
  const { page, size } = scene.state
  if (page !== undefined && size.rows > 2)
    return [titleRow(scene), ...pageRows(page, { columns, rows: size.rows - 2 }), footRow(scene)]
  const layout = layoutOf(scene.state)
  const area = (rows: number) => ({ columns, rows })
  const part = (rows: number, draw: (area: Area) => readonly ScreenRow[]) =>
    rows <= 0 ? [] : filled(draw(area(rows)), area(rows))
  return [
    ...headRows(scene, layout),
    ...part(layout.body, body => (layout.side > 0 ? bodyWithDetail(scene, body) : listRows(scene, body))),
    ...part(layout.detail, pane =>
      scene.state.screen === 'stream' ? detailRows(scene, pane) : listDetailRows(scene, pane),
    ),
    ...part(layout.tail, pane => tailRows(scene, pane)),
    ...(layout.foot > 0 ? [footRow(scene)] : []),
  ]
}

/** The list, and the details of the row under the cursor beside it. */
function bodyWithDetail(scene: Scene, { columns, rows }: Area): ScreenRow[] {
  const pane = detailSize(scene.state)
  const width = columns - pane.columns - 1
  const list = filled(listRows(scene, { columns: width, rows }), { columns: width, rows })
  const detail = filled(detailRows(scene, pane), pane)
  return list.map((row, at) => besideRow(row, detail[at] ?? BLANK, width))
}

function headRows(scene: Scene, { head }: ScreenLayout): ScreenRow[] {
  if (head === 0) return []
  if (head === 1) return [titleRow(scene)]
  const isStream = scene.state.screen === 'stream'
  const lines = [...(isStream && head === 3 ? [] : [healthRow(scene)]), ...(isStream ? [streamHeader(scene)] : [])]
  return [titleRow(scene), ...lines, headRule(scene)]
}

/** The body with what the filter looks for marked; the XML has a search of its own. */
function listRows(scene: Scene, area: Area): readonly ScreenRow[] {
  const rows = bodyRows(scene, area)
  const filter = filterOf(scene.state)
  return filter.isEmpty || isScrolled(scene.state) ? rows : rows.map(row => withMatches(row, filter))
}

function bodyRows(scene: Scene, area: Area): readonly ScreenRow[] {
  const { screen, pane } = scene.state
  switch (screen) {
    case 'streams':
      return streamRows(scene, area)
    case 'stream':
      if (pane === 'tree') return treeRows(scene, area)
      return pane === 'timeline' ? timelineRows(scene, area) : xmlRows(scene, area)
    case 'leases':
      return leaseRows(scene, area)
    case 'watchdog':
      return watchdogRows(scene, area)
    case 'activity':
      return activityRows(scene, area)
    case 'workers':
      return workerRows(scene, area)
    case 'subscriptions':
      return subscriptionRows(scene, area)
    case 'inboxes':
      return inboxRows(scene, area)
    default:
      return screen satisfies never
  }
}

/**
 * The screen with the dialog, if any, as a band of full width over its middle. Title and last line stay visible if
 * there is room.
 */
function withDialog(scene: Scene, rows: readonly ScreenRow[]): readonly ScreenRow[] {
  const { dialog, page, size } = scene.state
  if (dialog === undefined || page !== undefined) return rows
  const area = { columns: size.columns, rows: Math.min(rows.length, dialogHeight(size, dialog)) }
  const band = dialog.kind === 'help' ? helpRows(scene, dialog, area) : dialogRows(scene, dialog, area)
  const shown = band.slice(0, area.rows)
  const top = Math.floor((rows.length - shown.length) / 2)
  return [...rows.slice(0, top), ...shown, ...rows.slice(top + shown.length)]
}
