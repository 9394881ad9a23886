import type { ChangeVerb } from '../ports.ts'
import { askChange, isRunning } from './change.ts'
import type { ScreenContext } from './context.ts'
import {
  goToMatch,
  heightOf,
  markAll,
  moveBy,
  moveByPages,
  moveToEnd,
  reverseSort,
  sortByNext,
  subjectOf,
  toggleMark,
  withoutMarks,
} from './cursor.ts'
import { foldAll, foldOrGoUp, foldOthers, toggleFold, unfoldAll, unfoldOrGoDown } from './folding.ts'
import type { KeyCommand } from './keys.ts'
import { detailSize, layoutOf, PANES_COLUMNS, PANES_ROWS } from './layout.ts'
import {
  back,
  goToMatchingLine,
  isScrolled,
  openStream,
  scrollTo,
  showScreen,
  togglePane,
  withOnlyBroken,
} from './panes.ts'
import { filterPrompt, linePrompt } from './prompt.ts'
import type { Screen, State } from './state.ts'
import { panBy, zoomBy } from './timeline.ts'
import { clamp, copyText, listOf, only, type Transition, withNotice } from './transition.ts'
import { toggleWrites } from './write-lock.ts'

/** Runs the command of a key. */
export function runCommand(state: State, context: ScreenContext, command: KeyCommand): Transition {
  return COMMANDS[command](state, context)
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

type Command = (state: State, context: ScreenContext) => Transition

const COMMANDS: { readonly [Name in KeyCommand]: Command } = {
  down: moveCommand(
    (state, context) => moveBy(state, context, 1),
    (top: number) => top + 1,
  ),
  up: moveCommand(
    (state, context) => moveBy(state, context, -1),
    top => top - 1,
  ),
  first: moveCommand(
    (state, context) => moveToEnd(state, context, 'first'),
    () => 0,
  ),
  last: moveCommand(
    (state, context) => moveToEnd(state, context, 'last'),
    () => Number.MAX_SAFE_INTEGER,
  ),
  'page-down': moveCommand(
    (state, context) => moveByPages(state, context, 1),
    (top, page) => top + page,
  ),
  'page-up': moveCommand(
    (state, context) => moveByPages(state, context, -1),
    (top, page) => top - page,
  ),
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
  enter: (state, context) =>
    state.screen === 'stream' ? treeCommand(toggleFold)(state, context) : only(openStream(state, context, 'tree')),
  back,
  filter: state => only(filterPrompt(state)),
  broken: state => only(withOnlyBroken(state, !listOf(state).onlyBroken)),
  'next-match': matchCommand(1),
  'previous-match': matchCommand(-1),
  mark: listCommand(toggleMark),
  'mark-all': listCommand(markAll),
  'clear-marks': state => only(withoutMarks(state)),
  sort: (state, context) => only(sortByNext(state, context)),
  'reverse-sort': (state, context) => only(reverseSort(state, context)),
  freeze: (state, context) => only(toggleFreeze(state, context)),
  time: state => only({ ...state, time: NEXT_TIME[state.time] }),
  cancel: changeCommand('cancel'),
  abort: changeCommand('abort'),
  retry: changeCommand('retry'),
  break: changeCommand('break'),
  detail: (state, context) => only(toggleDetail(state, context)),
  'detail-down': (state, context) => only(scrollDetail(state, context, 1)),
  'detail-up': (state, context) => only(scrollDetail(state, context, -1)),
  wide: state => only({ ...state, isWide: !state.isWide }),
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
  'read-now': state => only(state, { kind: 'read-now' }),
  unlock: toggleWrites,
  line: state => only(linePrompt(state)),
  help: state => only(openHelp(state)),
  repaint: state => only(state, { kind: 'repaint' }),
  suspend: state => only(state, { kind: 'suspend' }),
  quit: askQuit,
}

const NEXT_TIME = { relative: 'local', local: 'utc', utc: 'relative' } as const

type Change = (state: State, context: ScreenContext) => State

/** Moves the cursor; a pane without a cursor is scrolled instead. */
function moveCommand(move: Change, topAfter: (top: number, page: number) => number): Command {
  return (state, context) => {
    if (!isScrolled(state)) return only(move(state, context))
    return only(scrollTo(state, context, topAfter(state.paneTop, Math.max(1, heightOf(state) - 1))))
  }
}

function matchCommand(by: 1 | -1): Command {
  return (state, context) => only((isScrolled(state) ? goToMatchingLine : goToMatch)(state, context, by))
}

/** Needs a cursor: does nothing in panes without one. */
function listCommand(change: Change): Command {
  return (state, context) => only(isScrolled(state) ? state : change(state, context))
}

function treeCommand(change: Change): Command {
  return (state, context) => only(state.screen === 'stream' && !isScrolled(state) ? change(state, context) : state)
}

function changeCommand(verb: ChangeVerb): Command {
  return (state, context) => askChange(state, context, verb)
}

function screenCommand(to: Screen): Command {
  return (state, context) => only(showScreen(state, context, to))
}

/** Explains where the details are not visible. */
function toggleDetail(state: State, context: ScreenContext): State {
  const next = { ...state, isDetailOpen: !state.isDetailOpen }
  const before = layoutOf(state)
  const after = layoutOf(next)
  if (!next.isDetailOpen || after.detail > before.detail || after.side > before.side) return next
  const isElsewhere = state.screen === 'stream' && state.pane !== 'tree'
  const needed = `${PANES_COLUMNS} columns and ${PANES_ROWS} rows are needed`
  return withNotice(
    state,
    context,
    isElsewhere ? 'details are shown below the tree: esc' : `no room for details: ${needed}`,
  )
}

function scrollDetail(state: State, context: ScreenContext, by: 1 | -1): State {
  const rows = detailSize(state).rows - 1
  const isOpen = state.isDetailOpen || layoutOf(state).side > 0
  if (!isOpen || rows < 0) return withNotice(state, context, 'no details are open: d opens them')
  const last = Math.max(0, context.detailLength(state) - rows)
  return { ...state, detailTop: clamp(state.detailTop + by, 0, last) }
}

function toggleFreeze(state: State, { liveRevision }: ScreenContext): State {
  return { ...state, frozen: state.frozen === undefined ? { revision: liveRevision } : undefined }
}

function showOutcomes(state: State, context: ScreenContext): State {
  if (state.batch === undefined) return withNotice(state, context, 'nothing has been changed yet')
  return { ...state, dialog: { kind: 'outcomes', top: 0 } }
}
