import type { Scene } from '../state/context.ts'
import { detailSize, dialogHeight, layoutOf, type ScreenLayout } from '../state/layout.ts'
import { activityRows } from './activity.ts'
import { asciiRow } from './ascii.ts'
import { dialogRows } from './dialogs/dialog.ts'
import { footRow } from './footer.ts'
import { helpRows } from './help.ts'
import { leaseRows } from './leases.ts'
import { listDetailRows } from './list-detail.ts'
import { type Area, BLANK, besideRow, type Frame, filled, rowOf, type ScreenRow } from './row.ts'
import { statusRow } from './status-line.ts'
import { detailRows } from './stream/detail.ts'
import { tailRows } from './stream/journal.ts'
import { timelineRows } from './stream/timeline.ts'
import { treeRows } from './stream/tree.ts'
import { xmlRows } from './stream/xml.ts'
import { streamRows } from './streams.ts'
import { headRule, titleRow } from './title.ts'
import { watchdogRows } from './watchdog.ts'

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
  const layout = layoutOf(scene.state)
  const area = (rows: number) => ({ columns, rows })
  const part = (rows: number, draw: (area: Area) => readonly ScreenRow[]) =>
    rows <= 0 ? [] : filled(draw(area(rows)), area(rows))
  return [
    ...headRows(scene, layout),
    ...part(layout.body, body => (layout.side > 0 ? bodyWithDetail(scene, body) : bodyRows(scene, body))),
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
  const list = filled(bodyRows(scene, { columns: width, rows }), { columns: width, rows })
  const detail = filled(detailRows(scene, pane), pane)
  return list.map((row, at) => besideRow(row, detail[at] ?? BLANK, width))
}

function headRows(scene: Scene, { head }: ScreenLayout): ScreenRow[] {
  if (head === 0) return []
  return head === 1 ? [titleRow(scene)] : [titleRow(scene), statusRow(scene), headRule(scene)]
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
    default:
      return screen satisfies never
  }
}

/**
 * The screen with the dialog, if any, as a band of full width over its middle. Title and last line stay visible if
 * there is room.
 */
function withDialog(scene: Scene, rows: readonly ScreenRow[]): readonly ScreenRow[] {
  const { dialog, size } = scene.state
  if (dialog === undefined) return rows
  const area = { columns: size.columns, rows: Math.min(rows.length, dialogHeight(size, dialog)) }
  const band = dialog.kind === 'help' ? helpRows(scene, dialog, area) : dialogRows(scene, dialog, area)
  const shown = band.slice(0, area.rows)
  const top = Math.floor((rows.length - shown.length) / 2)
  return [...rows.slice(0, top), ...shown, ...rows.slice(top + shown.length)]
}
