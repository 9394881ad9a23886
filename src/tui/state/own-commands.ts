import { visibleText } from '../../util/visible-text.ts'
import { placeOf, streamKey } from '../store-key.ts'
import { isRunning } from './change.ts'
import { chooseColumns } from './columns-dialog.ts'
import { askQuit, openHelp } from './commands.ts'
import type { ScreenContext } from './context.ts'
import { openNamed, showScreen } from './panes.ts'
import { SCREENS, type State } from './state.ts'
import { only, type Transition, withNotice } from './transition.ts'
import { openView, removeView, saveView, viewLines, viewNamed } from './views.ts'

/** Carries out a `:` line of the dashboard itself; `undefined` for a command line of the program. */
export function runOwnLine(state: State, context: ScreenContext, line: string): Transition | undefined {
  const [word = '', ...rest] = line.split(/\s+/)
  const run = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  return run?.(state, context, rest)
}

type OwnCommand = (state: State, context: ScreenContext, words: readonly string[]) => Transition | undefined

/** Without arguments; with some it is a command of the program. */
const alone =
  (run: (state: State, context: ScreenContext) => Transition): OwnCommand =>
  (state, context, words) =>
    words.length === 0 ? run(state, context) : undefined

const SCREEN_COMMANDS = Object.fromEntries(
  SCREENS.map(screen => [screen, alone((state, context) => only(showScreen(state, context, screen)))]),
)

const COMMANDS: Readonly<Record<string, OwnCommand>> = {
  ...SCREEN_COMMANDS,
  q: alone(askQuit),
  quit: alone(askQuit),
  '?': alone(state => only(openHelp(state))),
  help: alone(state => only(openHelp(state))),
  open: openCommand,
  view: viewCommand,
  'view!': (state, context, words) => oneName(state, context, words, ':view! NAME', saveView),
  columns: (state, context, words) => chooseColumns(state, context, words.join(' ')),
  ctx: contextCommand,
}

function oneName(
  state: State,
  context: ScreenContext,
  words: readonly string[],
  usage: string,
  run: (state: State, context: ScreenContext, name: string) => Transition,
): Transition {
  const [name, ...more] = words
  if (name === undefined || more.length > 0)
    return only(withNotice(state, context, `one name is needed: ${usage}`, 'warn'))
  return run(state, context, name)
}

function openCommand(state: State, context: ScreenContext, words: readonly string[]): Transition {
  return oneName(state, context, words, ':open STREAM', (before, now, name) => {
    const key = keyNamed(name, now)
    if (key !== undefined) return only(openNamed(before, now, key))
    const some = now.facts.contexts[0] ?? ''
    return only(withNotice(before, now, `which store? :open ${some}:${visibleText(name)}`, 'warn'))
  })
}

/** The key of a typed name; of several stores the context may be left out if one store has such a stream. */
function keyNamed(name: string, { data, facts: { contexts } }: ScreenContext): string | undefined {
  if (contexts.length === 0 || contexts.includes(placeOf(name)?.context ?? '')) return name
  const [key, ...others] = contexts
    .map(context => streamKey(context, name))
    .filter(each => data.streams.get(each) !== undefined)
  return others.length === 0 ? key : undefined
}

/** `:view` lists, `:view NAME` opens or, if there is none of this name, saves, `:view -d NAME` removes. */
function viewCommand(state: State, context: ScreenContext, words: readonly string[]): Transition {
  const [first, ...rest] = words
  if (first === undefined) return only(withLines(state, 'view', viewLines(state)))
  if (first === '-d') return oneName(state, context, rest, ':view -d NAME', removeView)
  return oneName(state, context, words, ':view NAME', (before, _context, name) =>
    viewNamed(before, name) === undefined ? saveView(before, context, name) : only(openView(before, context, name)),
  )
}

function withLines(state: State, line: string, lines: readonly string[]): State {
  return { ...state, dialog: { kind: 'output', line, output: { exit: 0, lines }, top: 0 } }
}

/** `:ctx NAME` shows the store of another context. */
function contextCommand(state: State, context: ScreenContext, words: readonly string[]): Transition {
  if (words.length === 0)
    return only(
      { ...state, dialog: { kind: 'output', line: 'context list', output: undefined, top: 0 } },
      {
        kind: 'run-line',
        line: 'context list',
        mayWrite: false,
      },
    )
  return oneName(state, context, words, ':ctx NAME', (before, _context, name) => {
    if (isRunning(before.batch)) return only(withNotice(before, context, 'a change is under way: O shows it', 'warn'))
    return only(withNotice(before, context, `opening the store of ${visibleText(name)} …`), {
      kind: 'switch-store',
      context: name,
    })
  })
}
