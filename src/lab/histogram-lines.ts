import { binsOf } from '../formats/stats/json.ts'
import { shortLength } from '../formats/stats/length.ts'
import { countText } from '../formats/terminal/count-text.ts'
import type { Paint } from '../formats/terminal/style.ts'
import type { LogHistogram } from '../ops/stats/histogram.ts'

/** Where stdout is no terminal, columns. */
const USUAL_WIDTH = 72
const LEAST_BAR = 8
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** How often it took how long: a bar for each of 1, 2, 5, 10, … ms up to which there is something, the longest the most frequent. */
export function histogramLines(histogram: LogHistogram, paint: Paint, width = USUAL_WIDTH): string[] {
  const bins = binsOf(histogram)
  const most = Math.max(0, ...bins.map(({ count }) => count))
  const labels = bins.map(({ toMs }) => `≤ ${shortLength(toMs)}`)
  const labelWidth = Math.max(0, ...labels.map(label => label.length))
  const countWidth = countText(most).length
  const room = Math.max(LEAST_BAR, Math.min(width, USUAL_WIDTH) - labelWidth - countWidth - 4)
  return bins.map(({ count }, at) => {
    const label = (labels[at] ?? '').padStart(labelWidth)
    return `${label}  ${countText(count).padStart(countWidth)}  ${paint('active', bar((count / most) * room))}`
  })
}

/** To an eighth of a column; never nothing. */
function bar(columns: number): string {
  const eighths = Math.max(1, Math.round(columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? '')
}
