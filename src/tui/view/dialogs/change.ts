import { spacedCount, spacedCounted } from '../../../formats/terminal/numbers.ts'
import { cutInside, widthOf, wrapped } from '../../../formats/terminal/width.ts'
import type { Preview } from '../../ports.ts'
import { givenSignal, hasField } from '../../state/change.ts'
import {
  type ChangeLayout,
  changeLayout,
  dialogWidth,
  fieldsOf,
  fociOf,
  QUESTION_ROWS,
} from '../../state/change-layout.ts'
import type { Scene } from '../../state/context.ts'
import type { ChangeDialog, ChangeField, TextField } from '../../state/state.ts'
import type { Area, ScreenRow, StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { fieldSpans } from '../text-field.ts'
import { band, type DialogLine, windowFrom } from './band.ts'

/** The change dialog: the change and its targets, the reason, and the confirmation. */
export function changeRows(scene: Scene, dialog: ChangeDialog, area: Area): ScreenRow[] {
  const width = dialogWidth(area)
  const layout = changeLayout(dialog, area)
  const lines: DialogLine[] = [
    ...questionLines(dialog, width),
    placeLine(dialog.preview?.place ?? scene.facts, width),
    ...listLines(dialog, layout),
    ...layout.facts.map((fact): DialogLine => ({ spans: [[safeText(fact), 'strong']], rank: FACT_RANK })),
    ...fieldLines(dialog, width),
    { spans: [], rank: 9 },
    { spans: buttons(dialog, width), rank: 0 },
    ...commandLines(dialog),
    { spans: [[hints(dialog, layout, width), 'dim'] as const], rank: 7 },
  ]
  return band(TITLES[dialog.verb], lines, area)
}

/**
 * Store, protection, totals and what is left out are dropped after everything but the first line of the question, the
 * focused field and the answers: a screen of 40 columns and 12 rows has room for them.
 */
const FACT_RANK = 1.7
/** Targets are dropped after mere aids. */
const LIST_RANK = 6
const TITLES = {
  cancel: 'Cancel',
  abort: 'Abort',
  retry: 'Retry',
  suspend: 'Suspend',
  resume: 'Resume',
  break: 'Break the lease',
  signal: 'Signal',
  skip: 'Skip',
  'retry-delivery': 'Retry',
  'skip-delivery': 'Skip',
  reset: 'Reset the subscription',
} as const

/** The first row of the question is dropped last, the others earlier. */
function questionLines({ preview, fault, targets }: ChangeDialog, width: number): DialogLine[] {
  const lines = (text: string, style: StyledText[1]) =>
    wrapped(safeText(text), width, QUESTION_ROWS).map(
      (line, at): DialogLine => ({
        spans: [[line, style]],
        rank: at === 0 ? 1 : 3,
      }),
    )
  if (fault !== undefined) return lines(`✗ ${fault}`, 'bad')
  if (preview === undefined) return lines(`inspecting ${whatOf(targets)}…`, 'plain')
  return lines(preview.question, 'strong')
}

function whatOf(targets: ChangeDialog['targets']): string {
  const [only] = targets
  if (targets.length !== 1 || only === undefined) return spacedCounted(targets.length, 'target')
  return only.event === undefined ? only.stream : `${only.event} of ${only.stream}`
}

/** A long address is cut in favour of the protection. */
function placeLine({ address, isProtected }: NonNullable<Preview['place']>, width: number): DialogLine {
  const sign = isProtected ? '  protected' : ''
  const place = cutInside(`in ${safeText(address)}`, Math.max(0, width - widthOf(sign)))
  return {
    spans: [
      [place, 'dim'],
      [sign, 'warn'],
    ],
    rank: FACT_RANK,
  }
}

/** As many targets as fit, from the first visible one, and the position of these among all. */
function listLines({ preview, top }: ChangeDialog, { listed, hasPlaceLine }: ChangeLayout): DialogLine[] {
  if (preview === undefined) return []
  const { affected, more } = preview
  const { items } = windowFrom(affected.length, top, listed, at => safeText(affected[at] ?? ''))
  const from = Math.max(0, Math.min(top, affected.length - listed))
  const total = spacedCount(affected.length + more)
  const lines = items.map((text, row): DialogLine => {
    const isAlone = !hasPlaceLine && listed < affected.length + more
    const before: StyledText[] = isAlone ? [[`${from + row + 1}/${total} `, 'dim']] : []
    return { spans: [...before, [text, 'plain']], rank: LIST_RANK }
  })
  if (!hasPlaceLine) return lines
  const place = `${from + 1}–${from + items.length} of ${total}   PgUp PgDn`
  return [...lines, { spans: [[place, 'dim']], rank: LIST_RANK }]
}

function fieldLines(dialog: ChangeDialog, width: number): DialogLine[] {
  const confirm = dialog.preview?.confirm
  const typed = confirm?.kind === 'type' ? typeLabel(confirm.text, confirm.what, width) : 'name'
  return fieldsOf(dialog).map(field =>
    fieldLine(field === 'typed' ? typed : LABELS[field], dialog[field], dialog.focus === field, width),
  )
}

const LABELS: { readonly [Of in Exclude<ChangeField, 'typed'>]: string } = {
  signal: 'signal',
  data: 'data, or @FILE',
  reason: 'reason',
}

/** The text to type is shown whole if possible. */
function typeLabel(text: string, what: string, width: number): string {
  const long = `type ${safeText(text)}, ${safeText(what)}`
  return widthOf(long) + LEAST_FIELD <= width ? long : cutInside(`type ${safeText(text)}`, width - LEAST_FIELD)
}

const LEAST_FIELD = 8

/** The focused field is dropped after the other. */
function fieldLine(label: string, field: TextField, isFocused: boolean, width: number): DialogLine {
  const front = `${isFocused ? '›' : ' '}${label}: `
  return {
    spans: [[front, isFocused ? 'strong' : 'plain'], ...fieldSpans(field, width - widthOf(front), isFocused)],
    rank: isFocused ? 1.5 : 2,
  }
}

const YES = {
  cancel: 'Yes, cancel',
  abort: 'Yes, abort',
  retry: 'Yes, retry',
  suspend: 'Yes, suspend',
  resume: 'Yes, resume',
  break: 'Yes, break',
  signal: 'Yes, signal',
  skip: 'Yes, skip',
  'retry-delivery': 'Yes, retry',
  'skip-delivery': 'Yes, skip',
  reset: 'Yes, reset',
} as const

/** The focused button has a sign in front, visible without colours. */
function buttons(dialog: ChangeDialog, width: number): StyledText[] {
  const { verb, focus } = dialog
  const hasYes = fociOf(dialog).includes('yes')
  const no = dialog.fault === undefined && (hasYes || dialog.preview === undefined) ? 'No' : 'Close'
  const texts = (yes: string, blank: string) => [
    button(no, focus === 'no', blank),
    ...(hasYes ? [[blank, 'plain'] as const, button(yes, focus === 'yes', blank)] : []),
  ]
  const roomy = texts(YES[verb], ' ')
  if (roomy.reduce((sum, [text]) => sum + widthOf(text), 0) <= width) return roomy
  return texts('Yes', '')
}

function button(text: string, isFocused: boolean, blank: string): StyledText {
  return [`${isFocused ? '›' : ' '}[${blank}${text}${blank}]`, isFocused ? 'mark' : 'plain']
}

function commandLines(dialog: ChangeDialog): DialogLine[] {
  const { preview, reason } = dialog
  if (preview === undefined || preview.count === 0) return []
  const command = safeText(preview.command(reason.text.trim(), givenSignal(dialog)))
  return [
    {
      spans: [
        ['same as  ', 'dim'],
        [command, 'plain'],
      ],
      rank: 8,
    },
  ]
}

function hints(dialog: ChangeDialog, { listed }: ChangeLayout, width: number): string {
  if (dialog.fault !== undefined || dialog.preview?.count === 0) return 'esc closes; nothing was changed'
  if (hasField(dialog)) return fieldHints(dialog, width)
  const scroll = listed < (dialog.preview?.affected.length ?? 0) ? 'j/k list   ' : ''
  return `${scroll}tab ←→ choose   enter selects   C copies the command   esc: nothing happens`
}

/** From the only field it is one step back to the last answer. */
function fieldHints(dialog: ChangeDialog, width: number): string {
  const next = 'enter, tab: next   esc: nothing happens'
  const withYes = `${next}   ↑ ${YES[dialog.verb]}`
  const canSkip = fieldsOf(dialog).length === 1 && fociOf(dialog).includes('yes')
  return canSkip && widthOf(withYes) <= width ? withYes : next
}
