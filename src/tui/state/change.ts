import { spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { isGated } from '../../stream/event.ts'
import { checkText } from '../../stream/text.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { ChangeTarget, ChangeVerb, Preview, SignalText } from '../ports.ts'
import { changeLayout, fieldsOf, fociOf } from './change-layout.ts'
import type { ScreenContext } from './context.ts'
import { cursorKey, isRoot, openStreamOf, withoutMarks } from './cursor.ts'
import { dialogHeight } from './layout.ts'
import { targetOfRow } from './lists/row-target.ts'
import { subscriptionItem } from './lists/subscription-list.ts'
import type { Batch, ChangeDialog, ChangeField, KeyPress, State, TextField } from './state.ts'
import { eventOfLine, xmlText } from './text/xml.ts'
import { EMPTY_FIELD, editField, fieldWith, pasteText } from './text-field.ts'
import { copyText, listOf, only, type Transition, untilKey, withNotice } from './transition.ts'
import { lockReason } from './write-lock.ts'

/** A key in the change dialog. Only `enter` on `yes` starts the change. */
export function changeKey(state: State, context: ScreenContext, dialog: ChangeDialog, press: KeyPress): Transition {
  const by = STEPS.get(press.key)
  const pages = PAGES.get(press.key)
  if (press.key === 'escape' || press.key === 'ctrl-c') return closeDialog(state, dialog)
  if (by !== undefined) return only({ ...state, dialog: moveFocus(dialog, by) })
  if (pages !== undefined) return only(scrollBy(state, dialog, pages * listedTargets(state, dialog)))
  const focus = fieldOf(dialog)
  return focus === undefined ? buttonKey(state, context, dialog, press) : fieldKey(state, dialog, focus, press)
}

export function changePaste(state: State, dialog: ChangeDialog, text: string): State {
  const focus = fieldOf(dialog)
  return focus === undefined ? state : withField(state, dialog, focus, pasteText(dialog[focus], text))
}

const STEPS: ReadonlyMap<string, 1 | -1> = new Map([
  ['tab', 1],
  ['down', 1],
  ['shift-tab', -1],
  ['up', -1],
])

/** The list of targets is scrolled with them, whatever has the focus. */
const PAGES: ReadonlyMap<string, 1 | -1> = new Map([
  ['pagedown', 1],
  ['ctrl-f', 1],
  ['pageup', -1],
  ['ctrl-b', -1],
])

/** `update` keeps it within the list. */
function scrollBy(state: State, dialog: ChangeDialog, lines: number): State {
  return { ...state, dialog: { ...dialog, top: dialog.top + lines } }
}

/** Number of targets that are visible at once. */
export function listedTargets({ size }: State, dialog: ChangeDialog): number {
  return changeLayout(dialog, { columns: size.columns, rows: dialogHeight(size, dialog) }).listed
}

function fieldKey(state: State, dialog: ChangeDialog, focus: ChangeField, press: KeyPress): Transition {
  if (press.key === 'enter') return only({ ...state, dialog: focusNext(dialog) })
  const field = editField(dialog[focus], press)
  return only(field === undefined ? state : withField(state, dialog, focus, field))
}

function withField(state: State, dialog: ChangeDialog, focus: ChangeField, field: TextField): State {
  return { ...state, dialog: { ...dialog, [focus]: field } }
}

function buttonKey(state: State, context: ScreenContext, dialog: ChangeDialog, { key }: KeyPress): Transition {
  switch (key) {
    case 'enter':
      return dialog.focus === 'yes' && dialog.preview !== undefined
        ? confirmChange(state, context, dialog, dialog.preview)
        : closeDialog(state, dialog)
    case 'q':
    case 'n':
      return closeDialog(state, dialog)
    case 'y':
      return only(fociOf(dialog).includes('yes') ? { ...state, dialog: { ...dialog, focus: 'yes' } } : state)
    case 'left':
      return only({ ...state, dialog: moveFocus(dialog, -1) })
    case 'right':
      return only({ ...state, dialog: moveFocus(dialog, 1) })
    case 'j':
    case 'k':
      return only(scrollBy(state, dialog, key === 'j' ? 1 : -1))
    case 'C':
      return dialog.preview === undefined
        ? only(state)
        : copyText(state, context, dialog.preview.command(dialog.reason.text.trim(), givenSignal(dialog)))
    default:
      return only(state)
  }
}

/** Closes the dialog without a change. */
function closeDialog(state: State, { preview, fault }: ChangeDialog): Transition {
  const next = { ...state, dialog: undefined }
  return preview === undefined && fault === undefined ? only(next, { kind: 'forget-preview' }) : only(next)
}

function confirmChange(state: State, context: ScreenContext, dialog: ChangeDialog, preview: Preview): Transition {
  const why = (text: string, focus = dialog.focus) =>
    only(withNotice({ ...state, dialog: { ...dialog, focus } }, context, text, 'bad'))
  const { confirm, count } = preview
  if (count <= 0) return only(state)
  const refusal = refusalOf(state, context)
  if (refusal !== undefined) return why(`nothing was changed: ${refusal}`)
  if (confirm.kind === 'type' && dialog.typed.text !== confirm.text)
    return why(`nothing was changed: type ${confirm.what} exactly`, 'typed')
  const reason = dialog.reason.text.trim()
  const given = givenSignal(dialog)
  if (given?.name === '') return why('nothing was changed: type the name of the signal', 'signal')
  const signalFault = given && textFault('the signal', given.name)
  if (signalFault !== undefined) return why(`nothing was changed: ${signalFault}`, 'signal')
  if (dialog.verb === 'skip' && reason === '')
    return why('nothing was changed: say why the stream can go on without it', 'reason')
  const fault = textFault('reason', reason)
  if (fault !== undefined) return why(`nothing was changed: ${fault}`, 'reason')
  return startChange(state, preview, reason, given)
}

/** The signal that is typed; `undefined` if the change is none. */
export function givenSignal({ verb, signal, data }: ChangeDialog): SignalText | undefined {
  return verb === 'signal' ? { name: signal.text.trim(), data: data.text } : undefined
}

function textFault(what: string, text: string): string | undefined {
  try {
    checkText(what, text)
    return undefined
  } catch (error) {
    if (error instanceof InvalidValue) return error.message
    throw error
  }
}

/** Clears the marks: they were for this change. The outcome of a single target is a notice, which takes no keys. */
function startChange(state: State, preview: Preview, reason: string, given: SignalText | undefined): Transition {
  const next: State = {
    ...withoutMarks(state),
    dialog: preview.count === 1 ? undefined : { kind: 'outcomes', top: 0 },
    batch: { preview, outcomes: [], isStopping: false, end: undefined },
  }
  return only(next, { kind: 'carry-out', preview, reason, given })
}

/** A change is being carried out. */
export function isRunning(batch: Batch | undefined): batch is Batch & { readonly end: undefined } {
  return batch !== undefined && batch.end === undefined
}

/** Opens the change dialog and requests a preview. Nothing is changed by that. */
export function askChange(state: State, context: ScreenContext, verb: ChangeVerb): Transition {
  const refusal = refusalOf(state, context)
  if (refusal !== undefined) return only(withNotice(state, context, refusal, 'warn'))
  const { targets, note } = targetsOf(state, context, verb)
  const next = note === undefined ? state : withNotice(state, context, note, 'warn')
  if (targets.length === 0) return only(next)
  const request = state.requests + 1
  const dialog: ChangeDialog = {
    kind: 'change',
    request,
    verb,
    targets,
    preview: undefined,
    fault: undefined,
    reason: EMPTY_FIELD,
    typed: EMPTY_FIELD,
    signal: verb === 'signal' ? fieldWith(awaitedUnderCursor(state, context)) : EMPTY_FIELD,
    data: EMPTY_FIELD,
    focus: FIRST_FOCUS[verb] ?? 'reason',
    top: 0,
  }
  return only({ ...next, requests: request, dialog }, { kind: 'preview', request, verb, targets })
}

const FIRST_FOCUS: { readonly [Of in ChangeVerb]?: ChangeDialog['focus'] } = {
  break: 'typed',
  signal: 'signal',
  'retry-delivery': 'no',
  'skip-delivery': 'no',
  reset: 'typed',
}

/** The signal that the event under the cursor waits for; `''` without one. */
function awaitedUnderCursor(state: State, context: ScreenContext): string {
  const open = state.screen === 'stream' ? openStreamOf(state, context) : undefined
  const key = cursorKey(state, context)
  const id = open?.nodes.find(node => node.key === key)?.id
  const event = id === undefined ? undefined : open?.event(id)
  return event !== undefined && isGated(event) ? (event.lc.signal ?? '') : ''
}

/** Why no change can be started now; `undefined` if it can. */
function refusalOf(state: State, context: ScreenContext): string | undefined {
  return lockReason(state, context) ?? (isRunning(state.batch) ? 'a change is under way: O shows it' : undefined)
}

/** The preview for the latest request; answers to earlier ones are dropped. */
export function withPreview(state: State, request: number, preview: Preview): State {
  const { dialog } = state
  if (dialog?.kind !== 'change' || dialog.request !== request) return state
  // What is typed already stays.
  const signal = dialog.signal.text === '' ? fieldWith(preview.awaited?.[0] ?? '') : dialog.signal
  const next = { ...dialog, preview, signal }
  return { ...state, dialog: { ...next, focus: fociOf(next).includes(dialog.focus) ? dialog.focus : 'no' } }
}

export function withPreviewFault(state: State, request: number, fault: string): State {
  const { dialog } = state
  if (dialog?.kind !== 'change' || dialog.request !== request) return state
  return { ...state, dialog: { ...dialog, fault, focus: 'no' } }
}

/** Adds an outcome to the running change. */
export function withOutcome(state: State, outcome: Batch['outcomes'][number]): State {
  const { batch } = state
  return isRunning(batch) ? { ...state, batch: { ...batch, outcomes: [...batch.outcomes, outcome] } } : state
}

/** Ends a change: a notice if its dialog is closed, and quits if the user asked to meanwhile. */
export function endChange(state: State, context: ScreenContext, end: NonNullable<Batch['end']>): Transition {
  const { batch, dialog } = state
  if (!isRunning(batch)) return only(state)
  const after: Batch = { ...batch, end }
  const next: State = { ...state, batch: after, dialog: dialog?.kind === 'quit' ? undefined : dialog }
  if (batch.isLast) return only(next, { kind: 'quit' })
  if (dialog?.kind === 'outcomes') return only(next)
  const { text, isGood } = batch.preview.count === 1 ? outcomeText(after) : summaryOf(after)
  const told = withNotice(next, context, `${text}: O shows it`, isGood ? 'good' : 'warn')
  return only(isGood ? told : untilKey(told))
}

/** Targets of a change: all marks of this screen, else the row under the cursor. */
export interface Targets {
  readonly targets: readonly ChangeTarget[]
  /** Targets left out, or why there are none. */
  readonly note: string | undefined
}

/** They change whole streams only. */
const OF_STREAMS: ReadonlySet<ChangeVerb> = new Set(['suspend', 'resume', 'break', 'signal'])

function targetsOf(state: State, context: ScreenContext, verb: ChangeVerb): Targets {
  if (state.screen === 'subscriptions') return targetsInSubscription(state, context, verb)
  return state.screen === 'stream' ? targetsInStream(state, context, verb) : targetRows(state, context, verb)
}

/** A lease is that of the whole stream. */
function targetRows(state: State, context: ScreenContext, verb: ChangeVerb): Targets {
  const { screen } = state
  const { marks } = listOf(state)
  const keys = marks.size > 0 ? [...marks] : [cursorKey(state, context)].filter(key => key !== undefined)
  const there = keys
    .map(key => (screen === 'stream' ? undefined : targetOfRow(screen, key, context.data)))
    .filter(target => target !== undefined && context.data.streams.get(target.stream) !== undefined)
    .filter(target => target !== undefined)
  const targets = verb === 'break' || verb === 'signal' ? there.map(({ stream }) => ({ stream })) : there
  return targetsWithNote(targets, keys.length - there.length, screen === 'workers' ? 'event' : 'stream')
}

/** The halted stream under the cursor; for a retry on a subscription all that are parked in it. */
function targetsInSubscription(state: State, context: ScreenContext, verb: ChangeVerb): Targets {
  const none = (note: string): Targets => ({ targets: [], note })
  const item = subscriptionItem(context.data, cursorKey(state, context) ?? '')
  if (item === undefined) return none('no subscription under the cursor')
  const { row, halted } = item
  const { name: subscription } = row.view
  if (verb === 'reset') return { targets: [{ stream: row.key, subscription }], note: undefined }
  if (halted !== undefined) return { targets: [{ stream: halted.stream, subscription }], note: undefined }
  if (verb === 'skip-delivery') return none('skip takes one stream that is halted: enter goes to them')
  const parked = row.halted.filter(one => one.state === 'parked')
  if (parked.length === 0) return none('no stream of it is parked')
  return { targets: parked.map(({ stream }) => ({ stream, subscription })), note: undefined }
}

/** The root means the whole stream, as does a lease, and the XML where its cursor is on no event. */
function targetsInStream(state: State, context: ScreenContext, verb: ChangeVerb): Targets {
  const open = openStreamOf(state, context)
  const { stream, pane } = state
  if (open === undefined || !HAS_STREAM.has(open.presence)) return { targets: [], note: 'no stream to change' }
  const inXml = pane === 'xml' ? eventOfLine(xmlText(open), state.xml.at?.line ?? -1, open.nodes) : undefined
  const isWhole = OF_STREAMS.has(verb) || (pane === 'xml' && inXml === undefined) || open.nodes.length === 0
  if (isWhole || (inXml !== undefined && isRoot(inXml, open))) return { targets: [{ stream }], note: undefined }
  if (inXml !== undefined) return { targets: [{ stream, event: inXml.id }], note: undefined }
  const { marks } = listOf(state)
  const cursor = cursorKey(state, context)
  if (marks.size === 0 && context.listing.groups.has(cursor ?? '')) {
    return { targets: [], note: 'a group cannot be changed: enter opens it' }
  }
  const keys = marks.size > 0 ? marks : new Set(cursor === undefined ? [] : [cursor])
  const nodes = open.nodes.filter(node => keys.has(node.key))
  if (verb === 'skip' && (nodes.length !== 1 || nodes.some(node => isRoot(node, open)))) {
    return {
      targets: [],
      note: marks.size > 0 ? 'skip takes one event: u clears the marks' : 'skip takes a failed event',
    }
  }
  if (nodes.some(node => isRoot(node, open))) return targetsWithNote([{ stream }], keys.size - nodes.length, 'event')
  const events = new Set(nodes.map(node => node.id))
  return targetsWithNote(
    Array.from(events, event => ({ stream, event })),
    keys.size - nodes.length,
    'event',
  )
}

const HAS_STREAM: ReadonlySet<string> = new Set(['there', 'unreadable'])

function targetsWithNote(targets: readonly ChangeTarget[], gone: number, what: string): Targets {
  if (gone > 0) return { targets, note: `${spacedCounted(gone, what)} left out: no longer there` }
  return { targets, note: targets.length === 0 ? `no ${what} under the cursor` : undefined }
}

function moveFocus(dialog: ChangeDialog, by: 1 | -1): ChangeDialog {
  const foci = fociOf(dialog)
  const at = foci.indexOf(dialog.focus)
  return { ...dialog, focus: foci[(at + by + foci.length) % foci.length] ?? 'no' }
}

/** From a field to the next one, finally to `no`, never to `yes`. */
function focusNext(dialog: ChangeDialog): ChangeDialog {
  const fields = fieldsOf(dialog)
  const at = fields.indexOf(fieldOf(dialog) ?? 'reason')
  return { ...dialog, focus: fields[at + 1] ?? 'no' }
}

/** The focused text field; `undefined` on `no` and `yes`. */
function fieldOf({ focus }: Pick<ChangeDialog, 'focus'>): ChangeField | undefined {
  return focus === 'no' || focus === 'yes' ? undefined : focus
}

export function hasField(dialog: Pick<ChangeDialog, 'focus'>): boolean {
  return fieldOf(dialog) !== undefined
}

/** A change in one line: `cancel: 3 done, 1 refused`. Safe to print. */
export function summaryOf({ preview, outcomes, end }: Pick<Batch, 'preview' | 'outcomes' | 'end'>): {
  readonly text: string
  readonly isGood: boolean
} {
  const counts = new Map<string, number>()
  for (const { word } of outcomes) counts.set(word, (counts.get(word) ?? 0) + 1)
  const parts = Array.from(counts, ([word, count]) => `${spacedCount(count)} ${word}`)
  const fault = end !== undefined && 'fault' in end ? end.fault : undefined
  if (fault !== undefined) parts.push(visibleText(fault))
  const text = `${VERBS[preview.verb]}: ${parts.length === 0 ? 'nothing was done' : parts.join(', ')}`
  return { text, isGood: fault === undefined && outcomes.every(({ isGood }) => isGood) }
}

/** The outcome of a single target: `✓ orders/1: canceled, with 3 more events`. Safe to print. */
function outcomeText(batch: Batch): ReturnType<typeof summaryOf> {
  const [outcome] = batch.outcomes
  if (outcome === undefined || (batch.end !== undefined && 'fault' in batch.end)) return summaryOf(batch)
  const { target, isGood, text, word } = outcome
  const event = target.event === undefined ? '' : `${visibleText(target.event)} of `
  const glyph = isGood ? '✓' : '✗'
  return { text: `${glyph} ${event}${visibleName(target.stream)}: ${isGood ? '' : `${word}: `}${text}`, isGood }
}

const VERBS = {
  cancel: 'cancel',
  abort: 'abort',
  retry: 'retry',
  suspend: 'suspend',
  resume: 'resume',
  break: 'break lease',
  signal: 'signal',
  skip: 'skip',
  'retry-delivery': 'retry',
  'skip-delivery': 'skip',
  reset: 'reset',
} as const
