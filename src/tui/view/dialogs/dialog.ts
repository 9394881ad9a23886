import { spacedCount } from '../../../formats/terminal/numbers.ts'
import { widthOf, wrapped } from '../../../formats/terminal/width.ts'
import { dialogWidth } from '../../state/change-layout.ts'
import type { Scene } from '../../state/context.ts'
import { type Dialog, UNLOCKED_MS } from '../../state/state.ts'
import type { Area, ScreenRow } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { fieldSpans } from '../text-field.ts'
import { band, type DialogLine } from './band.ts'
import { changeRows } from './change.ts'
import { columnRows } from './columns.ts'
import { outcomeRows, outputRows } from './outcomes.ts'

/** The dialogs drawn as bands; the help fills the screen. */
export type BandDialog = Exclude<Dialog, { kind: 'help' }>

/**
 * A dialog in front of the screen: a band of full rows with a rule above and below, at most as high as the area. If
 * there is little room, explanations are dropped first, then rules; question and answers stay.
 */
export function dialogRows(scene: Scene, dialog: BandDialog, area: Area): ScreenRow[] {
  switch (dialog.kind) {
    case 'change':
      return changeRows(scene, dialog, area)
    case 'outcomes':
      return outcomeRows(scene, dialog, area)
    case 'output':
      return outputRows(dialog, area)
    case 'unlock':
      return unlockRows(scene, dialog, area)
    case 'columns':
      return columnRows(scene, dialog, area)
    case 'quit':
      return quitRows(scene, area)
    default:
      return dialog satisfies never
  }
}

function unlockRows({ facts }: Scene, dialog: Extract<Dialog, { kind: 'unlock' }>, area: Area): ScreenRow[] {
  const { name, field, isWrong } = dialog
  const front = '›name: '
  const lines: DialogLine[] = [
    ...wrapped(`Type ${safeText(name)} to unlock changes`, dialogWidth(area), 3).map(
      (line, at): DialogLine => ({ spans: [[line, 'strong']], rank: at === 0 ? 1 : 3 }),
    ),
    {
      spans: [
        [`in ${safeText(facts.address)}`, 'dim'],
        ['  protected', 'warn'],
      ],
      rank: 6,
    },
    { spans: [[`for ${UNLOCKED_MS / 60_000} minutes; each change still asks`, 'plain']], rank: 7 },
    { spans: [[front, 'strong'], ...fieldSpans(field, dialogWidth(area) - widthOf(front))], rank: 0 },
    ...(isWrong ? [{ spans: [['✗ wrong name', 'bad'] as const], rank: 2 }] : []),
    { spans: [['enter unlocks   esc: stay locked', 'dim']], rank: 5 },
  ]
  return band('Unlock changes', lines, area)
}

function quitRows({ state: { batch } }: Scene, area: Area): ScreenRow[] {
  const done =
    batch === undefined ? '' : `: ${spacedCount(batch.outcomes.length)} of ${spacedCount(batch.preview.count)} done`
  const lines: DialogLine[] = [
    {
      spans: [
        ['A change is under way', 'strong'],
        [done, 'plain'],
      ],
      rank: 1,
    },
    { spans: [['y  quit: finish the changes in flight, skip the rest', 'plain']], rank: 0 },
    { spans: [['n  stay', 'plain']], rank: 0 },
  ]
  return band('Quit?', lines, area)
}
