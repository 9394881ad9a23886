import { cut, widthOf } from '../../formats/width.ts'
import { keyLabel, worksOn } from '../ui/bindings.ts'
import { KEYS } from '../ui/keys.ts'
import type { State } from '../ui/state.ts'
import type { Scene } from '../ui/world.ts'
import { fieldSpans } from './field.ts'
import { rowOf } from './fit.ts'
import { BLANK, type Row } from './row.ts'
import { safeText } from './safe.ts'

/** The last line: what is typed, else what was just done, else the keys. */
export function footRow({ state, nowMs }: Scene): Row {
  const { columns } = state.size
  const { prompt, notice } = state
  if (prompt !== undefined) {
    const sign = prompt.kind === 'filter' ? '/' : ':'
    return rowOf([[sign, 'strong'], ...fieldSpans(prompt.field, columns - 1)], columns)
  }
  if (notice !== undefined && notice.untilMs > nowMs) {
    return rowOf([[` ${cut(safeText(notice.text), Math.max(0, columns - 1))}`, notice.style]], columns)
  }
  // A dialog has the keys and says which.
  return state.dialog === undefined ? rowOf([[hintText(state), 'dim']], columns) : BLANK
}

/** The keys of the screen that are worth knowing, as many as fit. The keys that lead to all others are always among them. */
function hintText({ screen, size }: State): string {
  const hints = KEYS.filter(binding => binding.hint !== undefined && worksOn(binding, screen))
  const texts = hints.map(({ command, keys, hint }) => ({
    isLast: LAST.has(command),
    text: `${keyLabel(keys[0] ?? '')} ${hint}`,
  }))
  const last = texts.filter(({ isLast }) => isLast).map(({ text }) => text)
  let line = ''
  for (const { text, isLast } of texts) {
    if (isLast) continue
    const longer = `${line}${GAP}${text}`
    if (widthOf([longer, ...last].join(GAP)) > size.columns) break
    line = longer
  }
  return cut(`${line}${GAP}${last.join(GAP)}`.replace(/^ +/, ' '), Math.max(0, size.columns))
}

const GAP = '  '
const LAST: ReadonlySet<string> = new Set(['help', 'quit'])
