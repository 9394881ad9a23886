import { spacedCount } from '../../../formats/terminal/numbers.ts'
import type { Outcome } from '../../ports.ts'
import { summaryOf } from '../../state/change.ts'
import type { Scene } from '../../state/context.ts'
import type { Batch, Dialog } from '../../state/state.ts'
import { type Area, barOf, joined, type ScreenRow, type StyledText } from '../row.ts'
import { safeName, safeText } from '../safe-text.ts'
import { band, type DialogLine, windowFrom } from './band.ts'

/** The outcomes of a change so far: counts, one line per target, and how it ended. */
export function outcomeRows({ state }: Scene, dialog: Extract<Dialog, { kind: 'outcomes' }>, area: Area): ScreenRow[] {
  const { batch } = state
  if (batch === undefined)
    return band('Outcomes', [{ spans: [['nothing has been changed yet', 'plain']], rank: 0 }], area)
  const { outcomes, preview } = batch
  const end = endLines(batch)
  const visible = windowFrom(outcomes.length + end.length, dialog.top, area.rows - AROUND, at => {
    const outcome = outcomes[at]
    return outcome === undefined ? (end[at - outcomes.length] ?? []) : outcomeSpans(outcome)
  })
  const lines: DialogLine[] = [
    { spans: summarySpans(batch), rank: 0 },
    ...visible.items.map(spans => ({ spans, rank: 1 })),
    { spans: [[hints(batch, visible.place), 'dim']], rank: 2 },
  ]
  return band(`${preview.verb}: ${spacedCount(outcomes.length)} of ${spacedCount(preview.count)}`, lines, area)
}

/** The same as a text: the counts, each target, and how it ended. */
export function outcomeLines(batch: Batch): readonly (readonly StyledText[])[] {
  return [summarySpans(batch), ...batch.outcomes.map(outcomeSpans), ...endLines(batch)]
}

/** Rows of rules, summary and keys. */
const AROUND = 4

function summarySpans(batch: Batch): StyledText[] {
  const { text, isGood } = summaryOf(batch)
  const style = isGood ? 'good' : 'bad'
  if (batch.end !== undefined)
    return [
      [isGood ? '✓ ' : '✗ ', style],
      [safeText(text), style],
    ]
  const { outcomes, preview, isStopping } = batch
  const word = isStopping ? 'stopping: finishing the changes in flight' : 'under way'
  const failed = outcomes.filter(outcome => !outcome.isGood).length
  return joined(
    [
      [[barOf(outcomes.length, preview.count, BAR), 'active']],
      [[word, isStopping ? 'warn' : 'plain']],
      [[failed === 0 ? '' : `✗ ${spacedCount(failed)}`, 'bad']],
    ],
    '  ',
  )
}

const BAR = 12

const WORD = 7

function outcomeSpans({ target, word, isGood, text }: Outcome): StyledText[] {
  const style = isGood ? 'good' : word === 'unknown' ? 'warn' : 'bad'
  const glyph = isGood ? '✓' : word === 'unknown' ? '?' : '✗'
  const event = target.event === undefined ? '' : ` ${safeText(target.event)}`
  return [
    [`${glyph} ${safeText(word).padEnd(WORD)}`, style],
    [`  ${safeName(target.stream)}${event}  `, 'plain'],
    [safeText(text), 'plain'],
  ]
}

function endLines({ end }: Batch): StyledText[][] {
  if (end === undefined) return []
  if ('fault' in end) return [[[`✗ ${safeText(end.fault)}`, 'bad']]]
  return end.lines.map(line => [[safeText(line), 'plain']])
}

function hints({ end, isStopping }: Batch, place: string): string {
  const keys = `${end !== undefined ? 'esc closes' : isStopping ? 'esc hides it' : 's stops   esc hides it'}   o reads, / searches`
  return place === '' ? keys : `${place}   j/k   ${keys}`
}

/** The output of a `:` line, with its exit code unless 0. */
export function outputRows(
  { line, output, top, cursor }: Extract<Dialog, { kind: 'output' }>,
  area: Area,
): ScreenRow[] {
  const title = `:${safeText(line)}`
  if (output === undefined) {
    return band(title, [{ spans: [['running…', 'active']], rank: 0 }, hint('esc stops it')], area)
  }
  const failed: DialogLine[] = output.exit === 0 ? [] : [{ spans: [[`✗ exit code ${output.exit}`, 'bad']], rank: 0 }]
  const { lines } = output
  const visible = windowFrom(lines.length, top, area.rows - AROUND_OUTPUT - failed.length, (at): DialogLine => {
    const text = safeText(lines[at] ?? '')
    if (cursor === undefined) return { spans: [[text, 'plain']], rank: 1 }
    return { spans: [[`${at === cursor ? '›' : ' '}${text}`, at === cursor ? 'strong' : 'plain']], rank: 1 }
  })
  const empty: DialogLine[] = lines.length === 0 ? [{ spans: [['nothing was printed', 'dim']], rank: 1 }] : []
  const open = cursor === undefined ? '' : 'enter opens the stream   '
  const keys = `${visible.place === '' ? '' : `${visible.place}   j/k   `}${open}esc closes   o reads, / searches`
  return band(title, [...visible.items, ...empty, ...failed, hint(keys)], area)
}

/** Rows of rules and keys. */
const AROUND_OUTPUT = 3

function hint(text: string): DialogLine {
  return { spans: [[text, 'dim']], rank: 2 }
}
