import type { Problem } from '../../cli/problem.ts'
import type { Cell, Column } from '../../formats/terminal/table.ts'
import { widthOf } from '../../formats/terminal/width.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import type { Done } from './action.ts'
import { OUTCOME_LOOKS } from './outcome-looks.ts'
import { isProblem, type Result, type Told, wordOf } from './result.ts'
import type { Target } from './targets.ts'

/** The table of what became of a batch, row by row as it goes. */
export interface OutcomeColumns {
  readonly columns: readonly Column[]
  /** Known beforehand, so that all rows stand below each other. */
  readonly widths: readonly number[]
  readonly row: (result: Result, told: Told) => Cell[]
}

/** Columns for these targets. */
export function outcomeColumns(targets: readonly Target[]): OutcomeColumns {
  const withEvents = targets.some(({ event }) => event !== undefined)
  const widest = (text: (target: Target) => string) =>
    targets.reduce((most, target) => Math.max(most, widthOf(visibleText(text(target)))), 0)
  const event = { title: 'EVENT' }
  return {
    columns: [
      { title: 'STREAM', give: 1, min: 12, cut: 'middle' },
      ...(withEvents ? [event] : []),
      { title: 'OUTCOME' },
      { title: 'VERSION', align: 'right' },
      { title: 'WHAT', runsOn: true, min: 8 },
    ],
    widths: [
      widest(({ stream }) => stream),
      ...(withEvents ? [widest(target => target.event ?? '')] : []),
      '? refused'.length,
      0,
      0,
    ],
    row: (result, told) => rowOf(result, withEvents, told),
  }
}

function rowOf(result: Result, withEvents: boolean, told: Told): Cell[] {
  const { target, outcome } = result
  const word = wordOf(result)
  const { glyph, style } = OUTCOME_LOOKS[word]
  const version = isProblem(outcome) ? '-' : `${outcome.result.version}`
  return [
    visibleName(target.stream),
    ...(withEvents ? [visibleText(target.event ?? '')] : []),
    { text: `${glyph} ${word}`, style },
    version,
    whatText(result, told),
  ]
}

/** What became of a target, in one line: `canceled, with 3 more events`, or why not. Safe to print. */
export function whatText({ target, outcome }: Result, told: Told): string {
  return isProblem(outcome) ? whyNot(outcome, target) : effectOf(outcome, told)
}

/** `canceled, with 3 more events`. */
function effectOf({ result }: Done, { verb, options }: Told): string {
  if (result.duplicate) return 'this command was done before'
  if (result.outcome === 'already') return 'already so'
  const others = result.changed.length - 1
  const refused = result.refused?.length ?? 0
  const note = verb.note?.(options) ?? ''
  return [
    `${verb.word}${note === '' ? '' : ` ${note}`}`,
    ...(others > 0 ? [`with ${others} more event${others === 1 ? '' : 's'}`] : []),
    ...(refused > 0 ? [`${refused} not retried`] : []),
  ].join(', ')
}

/** The problem in one line, without the name that stands in front of it. Safe to print. */
export function whyNot({ message, code, facts = [] }: Problem, { stream }: Target): string {
  const rest = message.startsWith(`${stream}: `) ? message.slice(stream.length + 2) : message
  const holder = facts.find(([label]) => label === 'held by')?.[1]
  return visibleText(`${rest}${holder === undefined ? '' : ` (held by ${holder})`}  [${code}]`)
}
