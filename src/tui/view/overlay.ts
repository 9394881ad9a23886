import type { Scene } from '../state/context.ts'
import { dialogHeight } from '../state/layout.ts'
import { dialogRows } from './dialogs/dialog.ts'
import { helpRows } from './help.ts'
import type { Row } from './row.ts'

/** The screen with the dialog, if there is one, as a band of full width over its middle. Title and foot stay where there is room. */
export function withDialog(scene: Scene, rows: readonly Row[]): readonly Row[] {
  const { dialog, size } = scene.state
  if (dialog === undefined) return rows
  const area = { columns: size.columns, rows: Math.min(rows.length, dialogHeight(size, dialog)) }
  const band = dialog.kind === 'help' ? helpRows(scene, dialog, area) : dialogRows(scene, dialog, area)
  const shown = band.slice(0, area.rows)
  const top = Math.floor((rows.length - shown.length) / 2)
  return [...rows.slice(0, top), ...shown, ...rows.slice(top + shown.length)]
}
