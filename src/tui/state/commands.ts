import type { ChangeVerb } from '../ports.ts'
import { asked, isRunning } from './change.ts'
import type { World } from './context.ts'
import {
  heightOf,
  marked,
  markedAll,
  matched,
  movedBy,
  movedByPages,
  movedToEnd,
  reversed,
  sortedByNext,
  subjectOf,
  withoutMarks,
} from './cursor.ts'
import type { KeyCommand } from './keys.ts'
import { layoutOf, PANES_COLUMNS, PANES_ROWS } from './layout.ts'
import {
  back,
  foldedOrUp,
  foldToggled,
  isScrolled,
  matchedLine,
  opened,
  paneToggled,
  scrolledTo,
  shown,
  unfoldedOrDown,
} from './panes.ts'
import { filterPrompt, linePrompt } from './prompt.ts'
import type { Screen, State } from './state.ts'
import { copied, noted, only, type Transition } from './transition.ts'
import { toggleWrites } from './write-lock.ts'

/** Runs the command of a key. */
export function commanded(state: State, world: World, command: KeyCommand): Transition {
  return COMMANDS[command](state, world)
}

/** Quits, but asks first while a change is running; a second request does not wait for it. */
export function quitAsked(state: State): Transition {
  const { batch } = state
  if (!isRunning(batch) || batch.isLast) return only(state, { kind: 'quit' })
  return only({ ...state, dialog: { kind: 'quit' } })
}

export function openHelp(state: State): State {
  return { ...state, dialog: { kind: 'help', top: 0 } }
}

type Command = (state: State, world: World) => Transition

const COMMANDS: { readonly [Name in KeyCommand]: Command } = {
  down: moves(
    (state, world) => movedBy(state, world, 1),
    (top: number) => top + 1,
  ),
  up: moves(
    (state, world) => movedBy(state, world, -1),
    top => top - 1,
  ),
  first: moves(
    (state, world) => movedToEnd(state, world, 'first'),
    () => 0,
  ),
  last: moves(
    (state, world) => movedToEnd(state, world, 'last'),
    () => Number.MAX_SAFE_INTEGER,
  ),
  'page-down': moves(
    (state, world) => movedByPages(state, world, 1),
    (top, page) => top + page,
  ),
  'page-up': moves(
    (state, world) => movedByPages(state, world, -1),
    (top, page) => top - page,
  ),
  fold: inTree(foldedOrUp),
  unfold: inTree(unfoldedOrDown),
  enter: (state, world) =>
    state.screen === 'stream' ? inTree(foldToggled)(state, world) : only(opened(state, world, 'tree')),
  back,
  filter: state => only(filterPrompt(state)),
  'next-match': matches(1),
  'previous-match': matches(-1),
  mark: inList(marked),
  'mark-all': inList(markedAll),
  'clear-marks': state => only(withoutMarks(state)),
  sort: (state, world) => only(sortedByNext(state, world)),
  'reverse-sort': (state, world) => only(reversed(state, world)),
  freeze: (state, world) => only(freezeToggled(state, world)),
  time: state => only({ ...state, time: NEXT_TIME[state.time] }),
  cancel: changes('cancel'),
  abort: changes('abort'),
  retry: changes('retry'),
  break: changes('break'),
  detail: (state, world) => only(detailToggled(state, world)),
  wide: state => only({ ...state, isWide: !state.isWide }),
  xml: (state, world) => only(paneToggled(state, world, 'xml')),
  timeline: (state, world) => only(paneToggled(state, world, 'timeline')),
  copy: (state, world) => copied(state, world, world.commandFor(subjectOf(state, world))),
  outcomes: (state, world) => only(outcomesShown(state, world)),
  'dry-run': state => only(state, { kind: 'dry-run' }),
  streams: screen('streams'),
  stream: screen('stream'),
  leases: screen('leases'),
  watchdog: screen('watchdog'),
  activity: screen('activity'),
  'read-now': state => only(state, { kind: 'read-now' }),
  unlock: toggleWrites,
  line: state => only(linePrompt(state)),
  help: state => only(openHelp(state)),
  repaint: state => only(state, { kind: 'repaint' }),
  suspend: state => only(state, { kind: 'suspend' }),
  quit: quitAsked,
}

const NEXT_TIME = { relative: 'local', local: 'utc', utc: 'relative' } as const

type Change = (state: State, world: World) => State

/** Moves the cursor; a pane without a cursor is scrolled instead. */
function moves(move: Change, topAfter: (top: number, page: number) => number): Command {
  return (state, world) => {
    if (!isScrolled(state)) return only(move(state, world))
    return only(scrolledTo(state, world, topAfter(state.paneTop, Math.max(1, heightOf(state) - 1))))
  }
}

function matches(by: 1 | -1): Command {
  return (state, world) => only((isScrolled(state) ? matchedLine : matched)(state, world, by))
}

/** Needs a cursor: does nothing in panes without one. */
function inList(change: Change): Command {
  return (state, world) => only(isScrolled(state) ? state : change(state, world))
}

function inTree(change: Change): Command {
  return (state, world) => only(state.screen === 'stream' && !isScrolled(state) ? change(state, world) : state)
}

function changes(verb: ChangeVerb): Command {
  return (state, world) => asked(state, world, verb)
}

function screen(to: Screen): Command {
  return (state, world) => only(shown(state, world, to))
}

/** Explains where the details are not visible. */
function detailToggled(state: State, world: World): State {
  const next = { ...state, isDetailOpen: !state.isDetailOpen }
  if (!next.isDetailOpen || layoutOf(next).detail > layoutOf(state).detail) return next
  const isElsewhere = state.screen === 'stream' && state.pane !== 'tree'
  const needed = `${PANES_COLUMNS} columns and ${PANES_ROWS} rows are needed`
  return noted(state, world, isElsewhere ? 'details are shown below the tree: esc' : `no room for details: ${needed}`)
}

function freezeToggled(state: State, { liveRevision }: World): State {
  return { ...state, frozen: state.frozen === undefined ? { revision: liveRevision } : undefined }
}

function outcomesShown(state: State, world: World): State {
  if (state.batch === undefined) return noted(state, world, 'nothing has been changed yet')
  return { ...state, dialog: { kind: 'outcomes', top: 0 } }
}
