import { wrapped } from '../../formats/terminal/width.ts'
import type { ChangeVerb } from '../ports.ts'
import type { ChangeDialog, ChangeField, Size } from './state.ts'

/** Distribution of the change dialog's rows. */
export interface ChangeLayout {
  /** The facts, wrapped. They are always shown. */
  readonly facts: readonly string[]
  /** Number of targets listed at once. They are the first to give way. */
  readonly listed: number
  /** The position in the list has a line of its own; in the least room it stands before the target. */
  readonly hasPlaceLine: boolean
}

/** Rows of the rules above and below. */
const RULES = 2
/** As many targets are listed before the command line is shown too. */
const LEAST_LISTED = 3
/** A fact is a sentence: no store needs more lines for one. */
const FACT_ROWS = 4
export const QUESTION_ROWS = 3

/** @param area columns and rows available to the dialog */
export function changeLayout(dialog: ChangeDialog, area: Size): ChangeLayout {
  const { preview } = dialog
  const width = dialogWidth(area)
  const facts = (preview?.facts ?? []).flatMap(fact => wrapped(fact, width, FACT_ROWS))
  const total = preview?.affected.length ?? 0
  const question = preview === undefined ? 1 : wrapped(preview.question, width, QUESTION_ROWS).length
  const fields = fieldsOf(dialog).length
  // With the place, the answers and the keys.
  const needed = question + 1 + facts.length + fields + 2 + RULES
  const free = area.rows - needed
  const beside = free - (preview === undefined || preview.count === 0 ? 0 : 1)
  const isWhole = (preview?.more ?? 0) === 0
  if (isWhole && total <= Math.max(beside, Math.min(free, LEAST_LISTED))) {
    return { facts, listed: total, hasPlaceLine: false }
  }
  const room = Math.max(beside, Math.min(free, LEAST_LISTED + 1), 1)
  return { facts, listed: Math.min(total, Math.max(1, room - 1)), hasPlaceLine: room > 1 }
}

/** Columns for the text of a dialog: narrow screens have no margin. */
export function dialogWidth({ columns }: Pick<Size, 'columns'>): number {
  return columns < 40 ? columns : columns - 2
}

type Focus = ChangeDialog['focus']

/** What is asked for besides a yes; of the others the reason. A request to a subscription has none. */
const ASKED: { readonly [Of in ChangeVerb]?: readonly ChangeField[] } = {
  signal: ['signal', 'data', 'reason'],
  'retry-delivery': [],
  'skip-delivery': [],
  reset: [],
}
const TYPED_FIRST: ReadonlySet<ChangeVerb> = new Set(['break', 'reset'])

/** Parts of the dialog that can have the focus, in the order of `tab`. `yes` only if something would be done. */
export function fociOf({ preview, fault, verb }: ChangeDialog): readonly Focus[] {
  if (fault !== undefined) return ['no']
  const asked = ASKED[verb] ?? ['reason']
  // The name can be typed before its preview has arrived.
  if (preview === undefined) return TYPED_FIRST.has(verb) ? [...asked, 'typed', 'no'] : [...asked, 'no']
  if (preview.count <= 0) return ['no']
  return [...asked, ...(preview.confirm.kind === 'type' ? (['typed'] as const) : []), 'no', 'yes']
}

/** The text fields of the dialog, in the order of `tab`. */
export function fieldsOf(dialog: ChangeDialog): readonly ChangeField[] {
  return fociOf(dialog).filter(focus => focus !== 'no' && focus !== 'yes')
}
