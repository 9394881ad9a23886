import { spacedCounted } from '../../../formats/terminal/numbers.ts'
import { cutInside, widthOf, wrapped } from '../../../formats/terminal/width.ts'
import type { Preview } from '../../ports.ts'
import { fociOf, hasField } from '../../state/change.ts'
import type { Scene } from '../../state/context.ts'
import type { ChangeDialog, TextField } from '../../state/state.ts'
import type { Area, ScreenRow, StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { fieldSpans } from '../text-field.ts'
import { band, bandWidth, type DialogLine } from './band.ts'

/** The change dialog: the change and its targets, the reason, and the confirmation. */
export function changeRows(scene: Scene, dialog: ChangeDialog, area: Area): ScreenRow[] {
  const width = bandWidth(area)
  const before = [...questionLines(dialog, width), placeLine(scene)]
  const after = [
    ...fieldLines(dialog, width),
    { spans: [], rank: 9 },
    { spans: buttons(dialog, width), rank: 0 },
    ...commandLines(dialog),
    { spans: [[hints(dialog), 'dim'] as const], rank: 5 },
  ]
  const needed = [...before, ...after].filter(({ rank }) => rank < PREVIEW_RANK).length
  const room = area.rows - needed - RULES
  return band(TITLES[dialog.verb], [...before, ...previewLines(dialog.preview, room), ...after], area)
}

const RULES = 2
/** Targets are dropped after mere aids, before the hints. */
const PREVIEW_RANK = 6
const TITLES = {
  cancel: 'Cancel',
  abort: 'Abort',
  retry: 'Retry',
  suspend: 'Suspend',
  resume: 'Resume',
  break: 'Break the lease',
} as const
const QUESTION_ROWS = 3

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

function placeLine({ facts }: Scene): DialogLine {
  const isProtected: StyledText[] = facts.isProtected ? [['  protected', 'warn']] : []
  return { spans: [[`in ${safeText(facts.address)}`, 'dim'], ...isProtected], rank: 7 }
}

/** As many lines as fit; the rest is counted. */
function previewLines(preview: Preview | undefined, room: number): DialogLine[] {
  const lines = preview?.lines ?? []
  const shown = lines.length <= room ? lines : lines.slice(0, Math.max(0, room === 1 ? 1 : room - 1))
  const spans = shown.map((line): StyledText => [safeText(line), 'plain'])
  const more = lines.length - shown.length
  if (more > 0 && room > 1) spans.push([`… ${more} more`, 'dim'])
  return spans.map(span => ({ spans: [span], rank: PREVIEW_RANK }))
}

function fieldLines(dialog: ChangeDialog, width: number): DialogLine[] {
  const foci = fociOf(dialog)
  const confirm = dialog.preview?.confirm
  const typed = confirm?.kind === 'type' ? typeLabel(confirm.text, confirm.what, width) : ''
  return [
    ...(foci.includes('reason') ? [fieldLine('reason', dialog.reason, dialog.focus === 'reason', width)] : []),
    ...(foci.includes('typed') ? [fieldLine(typed, dialog.typed, dialog.focus === 'typed', width)] : []),
  ]
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

function commandLines({ preview, reason }: ChangeDialog): DialogLine[] {
  if (preview === undefined || preview.count === 0) return []
  const command = safeText(preview.command(reason.text.trim()))
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

function hints(dialog: ChangeDialog): string {
  if (dialog.fault !== undefined || dialog.preview?.count === 0) return 'esc closes; nothing was changed'
  if (hasField(dialog)) return 'enter, tab: next   esc: nothing happens'
  return 'tab ←→ choose   enter selects   C copies the command   esc: nothing happens'
}
