import type { ChangeVerb } from '../ports.ts'
import { toggleBell } from './bell.ts'
import { askChange, isRunning } from './change.ts'
import { columnListsOf } from './columns.ts'
import { openColumns } from './columns-dialog.ts'
import type { ScreenContext } from './context.ts'
import {
  goToFirstMatch,
  goToMatch,
  markAll,
  moveBy,
  moveByHalfPages,
  moveByPages,
  moveToEnd,
  reverseSort,
  sortBy,
  sortByNext,
  subjectOf,
  toggleMark,
  withoutMarks,
} from './cursor.ts'
import { foldAll, foldOrGoUp, foldOthers, toggleFold, unfoldAll, unfoldOrGoDown } from './folding.ts'
import type { KeyCommand } from './keys/table.ts'
import { layoutOf, PANES_COLUMNS, PANES_ROWS } from './layout.ts'
import { back, isScrolled, openStream, showScreen, togglePane, withOnlyBroken } from './panes.ts'
import { filterPrompt, linePrompt } from './prompt.ts'
import type { KeyPrefix, KeyPress, Screen, State } from './state.ts'
import { focusDetail, openRow, scrollDetail } from './text/keys.ts'
import { panBy, zoomBy } from './timeline.ts'
import { copyText, listOf, only, type Transition, withNotice } from './transition.ts'
import { enterParts, leaveParts } from './two-lists.ts'
import { openView } from './views.ts'
import { toggleWrites } from './write-lock.ts'

/** Runs the command of a key. */
export function runCommand(state: State, context: ScreenContext, command: KeyCommand, press: KeyPress): Transition {
  return COMMANDS[command](state, context, press)
}

/** Quits, but asks first while a change is running; a second request does not wait for it. */
export function askQuit(state: State): Transition {
  const { batch } = state
  if (!isRunning(batch) || batch.isLast) return only(state, { kind: 'quit' })
  return only({ ...state, dialog: { kind: 'quit' } })
}

export function openHelp(state: State): State {
  return { ...state, dialog: { kind: 'help', top: 0 } }
}

type Command = (state: State, context: ScreenContext, press: KeyPress) => Transition

const COMMANDS: { readonly [Name in KeyCommand]: Command } = {
  down: listCommand((state, context) => moveBy(state, context, 1)),
  up: listCommand((state, context) => moveBy(state, context, -1)),
  first: listCommand((state, context) => moveToEnd(state, context, 'first')),
  last: listCommand((state, context) => moveToEnd(state, context, 'last')),
  'page-down': listCommand((state, context) => moveByPages(state, context, 1)),
  'page-up': listCommand((state, context) => moveByPages(state, context, -1)),
  'half-down': listCommand((state, context) => moveByHalfPages(state, context, 1)),
  'half-up': listCommand((state, context) => moveByHalfPages(state, context, -1)),
  center: prefixCommand('center'),
  fold: treeCommand(foldOrGoUp),
  unfold: treeCommand(unfoldOrGoDown),
  'fold-all': treeCommand(foldAll),
  'fold-others': treeCommand(foldOthers),
  'unfold-all': treeCommand(unfoldAll),
  'zoom-in': (state, context) => only(zoomBy(state, context, 1 / 2)),
  'zoom-out': (state, context) => only(zoomBy(state, context, 2)),
  'zoom-reset': state => only({ ...state, zoom: undefined }),
  earlier: (state, context) => only(panBy(state, context, -1)),
  later: (state, context) => only(panBy(state, context, 1)),
  enter: (state, context, press) =>
    state.screen === 'stream'
      ? treeCommand(toggleFold)(state, context, press)
      : only(enterParts(state, context) ?? openStream(state, context, 'tree')),
  back: (state, context) => {
    const left = leaveParts(state, context)
    return left === undefined ? back(state) : only(left)
  },
  filter: state => only(filterPrompt(state)),
  broken: (state, context) => only(toggleBroken(state, context)),
  health: prefixCommand('health'),
  view: prefixCommand('view'),
  'digit-view': (state, context, { key }) => only(openView(state, context, key)),
  'next-match': listCommand((state, context) => goToMatch(state, context, 1)),
  'previous-match': listCommand((state, context) => goToMatch(state, context, -1)),
  mark: listCommand(toggleMark),
  'mark-all': listCommand(markAll),
  'clear-marks': state => only(withoutMarks(state)),
  sort: (state, context) => only(sortByNext(state, context)),
  'reverse-sort': (state, context) => only(reverseSort(state, context)),
  'sort-age': sortCommand({
    streams: 'age',
    leases: 'since',
    watchdog: 'due',
    activity: 'when',
    workers: 'since',
    subscriptions: 'created',
    inboxes: 'oldest',
  }),
  'sort-name': sortCommand({
    streams: 'name',
    leases: 'name',
    watchdog: 'stream',
    activity: 'stream',
    workers: 'stream',
    subscriptions: 'name',
    inboxes: 'name',
  }),
  'sort-worst': sortCommand({
    streams: 'failed',
    watchdog: 'will',
    workers: 'state',
    subscriptions: 'parked',
    inboxes: 'dead',
  }),
  'sort-end': sortCommand({ streams: 'due', watchdog: 'due', workers: 'claim' }),
  'sort-changed': sortCommand({ streams: 'changed', workers: 'seen', activity: 'when' }),
  'sort-who': sortCommand({
    streams: 'lease',
    leases: 'holder',
    activity: 'who',
    workers: 'worker',
    subscriptions: 'runner',
    inboxes: 'owner',
  }),
  freeze: (state, context) => only(toggleFreeze(state, context)),
  time: state => only({ ...state, time: NEXT_TIME[state.time] }),
  cancel: changeCommand('cancel'),
  abort: changeCommand('abort'),
  retry: (state, context) => askChange(state, context, state.screen === 'subscriptions' ? 'retry-delivery' : 'retry'),
  'suspend-stream': changeCommand('suspend'),
  'resume-stream': changeCommand('resume'),
  break: changeCommand('break'),
  signal: changeCommand('signal'),
  skip: (state, context) => askChange(state, context, state.screen === 'subscriptions' ? 'skip-delivery' : 'skip'),
  reset: changeCommand('reset'),
  detail: (state, context) => only(toggleDetail(state, context)),
  'focus-detail': (state, context) => only(focusDetail(state, context)),
  read: listCommand(openRow),
  'detail-down': (state, context) => only(scrollDetail(state, context, 1)),
  'detail-up': (state, context) => only(scrollDetail(state, context, -1)),
  columns: (state, context) => only(openColumns(state, context)),
  wide: (state, context) => only(toggleWide(state, context)),
  xml: (state, context) => only(togglePane(state, context, 'xml')),
  timeline: (state, context) => only(togglePane(state, context, 'timeline')),
  copy: (state, context) => copyText(state, context, context.commandFor(subjectOf(state, context))),
  outcomes: (state, context) => only(showOutcomes(state, context)),
  'dry-run': state => only(state, { kind: 'dry-run' }),
  streams: screenCommand('streams'),
  stream: screenCommand('stream'),
  leases: screenCommand('leases'),
  watchdog: screenCommand('watchdog'),
  activity: screenCommand('activity'),
  workers: screenCommand('workers'),
  subscriptions: screenCommand('subscriptions'),
  inboxes: screenCommand('inboxes'),
  'read-now': state => only(state, { kind: 'read-now' }),
  bell: toggleBell,
  unlock: toggleWrites,
  line: state => only(linePrompt(state)),
  help: state => only(openHelp(state)),
  repaint: state => only(state, { kind: 'repaint' }),
  suspend: state => only(state, { kind: 'suspend' }),
  quit: askQuit,
}

const NEXT_TIME = { relative: 'local', local: 'utc', utc: 'relative' } as const

type Change = (state: State, context: ScreenContext) => State

/** `F`: only what is broken, with the cursor on it; or all again. */
function toggleBroken(state: State, context: ScreenContext): State {
  if (isScrolled(state)) return state
  const next = withOnlyBroken(state, !listOf(state).onlyBroken)
  return goToFirstMatch(next, { ...context, listing: context.listingFor(next) })
}

/** Waits for another key. */
function prefixCommand(prefix: KeyPrefix): Command {
  return state => only({ ...state, prefix })
}

/** Needs a list: does nothing in the XML, which has keys of its own. */
function listCommand(change: Change): Command {
  return (state, context) => only(isScrolled(state) ? state : change(state, context))
}

function treeCommand(change: Change): Command {
  return (state, context) => only(state.screen === 'stream' && !isScrolled(state) ? change(state, context) : state)
}

function changeCommand(verb: ChangeVerb): Command {
  return (state, context) => askChange(state, context, verb)
}

/** The order that a key stands for on each screen. */
function sortCommand(by: { readonly [Of in Screen]?: string }): Command {
  return (state, context) => {
    const order = by[state.screen]
    return only(order === undefined ? state : sortBy(state, context, order))
  }
}

function screenCommand(to: Screen): Command {
  return (state, context) => only(showScreen(state, context, to))
}

/** Explains where the details are not visible. */
function toggleDetail(state: State, context: ScreenContext): State {
  const next = { ...state, isDetailOpen: !state.isDetailOpen, isDetailFocused: false }
  const before = layoutOf(state)
  const after = layoutOf(next)
  if (!next.isDetailOpen || after.detail > before.detail || after.side > before.side) return next
  const isElsewhere = state.screen === 'stream' && state.pane !== 'tree'
  const needed = `${PANES_COLUMNS} columns and ${PANES_ROWS} rows are needed`
  return withNotice(
    state,
    context,
    isElsewhere ? 'details are shown below the tree: esc' : `no room for details: ${needed}; o shows all of them`,
  )
}

function toggleWide(state: State, context: ScreenContext): State {
  const next = { ...state, isWide: !state.isWide }
  if (!next.isWide || columnListsOf(state).length === 0) return next
  return withNotice(next, context, 'more columns, as far as there is room; , chooses them')
}

function toggleFreeze(state: State, { liveRevision }: ScreenContext): State {
  return { ...state, frozen: state.frozen === undefined ? { revision: liveRevision } : undefined }
}

function showOutcomes(state: State, context: ScreenContext): State {
  if (state.batch === undefined) return withNotice(state, context, 'nothing has been changed yet')
  return { ...state, dialog: { kind: 'outcomes', top: 0 } }
}
