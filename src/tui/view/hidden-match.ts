import type { CellFormat } from '../../formats/field.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { StreamEntry } from '../data/types.ts'
import type { ParsedFilter } from '../state/lists/filter.ts'

type StreamCell = (entry: StreamEntry, format: CellFormat) => Cell

/**
 * The cell, which begins with the text of the root event that the filter has found where the row shows none: without it
 * nobody could tell why the stream is in the list, and a change of all matches would include it.
 */
export function withHiddenMatch(cell: StreamCell, { matchesIn }: Pick<ParsedFilter<never>, 'matchesIn'>): StreamCell {
  return (entry, format) => {
    const shown = cell(entry, format)
    const text = typeof shown === 'string' ? shown : shown.text
    const hidden = [entry.name, text].some(part => matchesIn(part).length > 0) ? undefined : hiddenTextOf(entry)
    if (hidden === undefined) return shown
    const why = format.text(`${hidden[0]} ${hidden[1]}`)
    const both = text === '' || text === '-' ? why : `${why}, ${text}`
    return typeof shown === 'string' ? both : { ...shown, text: both }
  }

  function hiddenTextOf({ item: { summary } }: StreamEntry): readonly [field: string, text: string] | undefined {
    if (summary === undefined) return undefined
    const { root, key, topic, tag, trackingId } = summary
    const texts = Object.entries({ root, key, topic, tag, tracking: trackingId })
    return texts.find(([, text]) => matchesIn(text).length > 0)
  }
}
