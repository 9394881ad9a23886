import { cut, widthOf } from '../../formats/terminal/width.ts'
import type { Scene } from '../state/context.ts'
import { type Hint, hintsOf } from '../state/keys/hints.ts'
import { prefixText } from '../state/keys/key-prefix.ts'
import { filterOf } from '../state/lists/filters.ts'
import type { Prompt, State } from '../state/state.ts'
import { BLANK, rowOf, type ScreenRow } from './row.ts'
import { safeText } from './safe-text.ts'
import { fieldSpans } from './text-field.ts'

/** The last line: the prompt, else the notice, else the keys. */
export function footRow({ state, nowMs }: Scene): ScreenRow {
  const { columns } = state.size
  const { prompt, notice, prefix } = state
  if (prompt !== undefined) {
    const sign = prompt.kind === 'line' ? ':' : '/'
    const fault = (prompt.kind === 'filter' ? filterOf(state).fault : undefined) ?? ''
    const said = fault === '' ? completionText(prompt, columns) : cut(`  ✗ ${fault}`, Math.floor(columns * 0.7))
    const front = fieldSpans(prompt.field, columns - 1 - widthOf(said))
    return rowOf([[sign, 'strong'], ...front, [said, fault === '' ? 'active' : 'bad']], columns)
  }
  if (prefix !== undefined && state.dialog === undefined)
    return rowOf([[` ${prefixText(state, prefix)}`, 'active']], columns)
  if (notice !== undefined && notice.untilMs > nowMs) {
    return rowOf([[` ${cut(safeText(notice.text), Math.max(0, columns - 1))}`, notice.style]], columns)
  }
  // A dialog has the keys and names them itself.
  return state.dialog === undefined || state.page !== undefined ? rowOf([[hintText(state), 'dim']], columns) : BLANK
}

/** The words that `tab` found, from the one that was put in. */
function completionText(prompt: Prompt, columns: number): string {
  if (prompt.kind !== 'line' || prompt.completion === undefined) return ''
  const { words, at } = prompt.completion
  if (words.length === 0) return '  nothing completes this'
  const shown = words.slice((at ?? -1) + 1, (at ?? -1) + 40).map(safeText)
  return cut(
    `  ${at === undefined ? '' : `${at + 1} of ${words.length}  `}${shown.join('  ')}`,
    Math.floor(columns / 2),
  )
}

/** The keys of the screen, as many as fit. The vital ones are always among them, at the end. */
function hintText(state: State): string {
  const hints = hintsOf(state)
  const room = Math.max(0, state.size.columns)
  const vital = hints.filter(({ isVital }) => isVital).map(textOf)
  const shown: string[] = []
  for (const text of hints.filter(({ isVital }) => !isVital).map(textOf)) {
    if (lineOf([...shown, text, ...vital]).length > room) break
    shown.push(text)
  }
  return cut(lineOf([...shown, ...vital]), room)
}

function textOf({ keys, does }: Hint): string {
  return `${keys} ${does}`
}

function lineOf(texts: readonly string[]): string {
  return ` ${texts.join('  ')}`
}
