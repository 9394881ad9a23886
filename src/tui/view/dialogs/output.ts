import type { Dialog } from '../../state/state.ts'
import type { Area, Row } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { band, type DialogLine, windowFrom } from './band.ts'

/** What a line of the command line answered; how it ended where that is not well. */
export function outputRows({ line, output, top }: Extract<Dialog, { kind: 'output' }>, area: Area): Row[] {
  const title = `:${safeText(line)}`
  if (output === undefined) {
    return band(title, [{ spans: [['running…', 'active']], rank: 0 }, hint('esc stops it')], area)
  }
  const failed: DialogLine[] = output.exit === 0 ? [] : [{ spans: [[`✗ exit code ${output.exit}`, 'bad']], rank: 0 }]
  const { lines } = output
  const seen = windowFrom(lines.length, top, area.rows - AROUND - failed.length, at => safeText(lines[at] ?? ''))
  const shown = seen.items.map((text): DialogLine => ({ spans: [[text, 'plain']], rank: 1 }))
  const empty: DialogLine[] = lines.length === 0 ? [{ spans: [['nothing was printed', 'dim']], rank: 1 }] : []
  const keys = seen.place === '' ? 'esc closes' : `${seen.place}   j/k   esc closes`
  return band(title, [...shown, ...empty, ...failed, hint(keys)], area)
}

/** Rules and keys. */
const AROUND = 3

function hint(text: string): DialogLine {
  return { spans: [[text, 'dim']], rank: 2 }
}
