import { UsageError } from '../../cli/problem.ts'
import type { Kind, OpenedStore, Runtime, StoreChoice } from '../../cli/runtime.ts'
import type { CapturedLines } from './captured-lines.ts'

export interface Surroundings {
  /** The dashboard's own. */
  readonly runtime: Runtime
  /** The store that is meant where the line names none. */
  readonly opened: OpenedStore
  /** Others that were opened for lines, by address. */
  readonly others: Map<string, OpenedStore>
  readonly mayWrite: boolean
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
  readonly signal: AbortSignal
  /** Called when the command begins to change something, or does so no more. */
  onKind(kind: Kind): void
}

/** What holds the terminal, starts processes or never ends, and why it has no place here. */
const REFUSED: Readonly<Record<string, string>> = {
  top: 'it runs already',
  exec: 'it starts a program that needs the terminal',
  work: 'it runs for good',
  watchdog: 'it runs for good; 4 shows what it does, D what it would do',
  demo: 'it runs for itself, with demo --top',
  lab: 'it starts processes of its own',
  completion: 'it is for the shell',
  __complete: 'it is for the shell',
}

/**
 * The runtime of a command that runs inside the dashboard: what it writes is caught, nobody can be asked, and nothing is
 * drawn in place. The store of the dashboard is used and stays open.
 */
export function capturedRuntime(argv: readonly string[], lines: CapturedLines, around: Surroundings): Runtime {
  const { runtime, mayWrite, mayUnlock, signal } = around
  const stdout = lines.terminal(runtime.stdout.columns)
  const stderr = lines.terminal(undefined)
  let kind: Kind = 'reads'
  let opened: OpenedStore | undefined
  return {
    ...runtime,
    // lines as wide as the screen, but no colours and nothing in place
    env: { ...runtime.env, TERM: 'dumb', NO_COLOR: '1' },
    argv,
    stdout,
    stderr,
    stdin: { isTty: false, readAll: async () => '', ask: async () => undefined },
    signal,
    get kind() {
      return kind
    },
    get opened() {
      return opened
    },
    begin(what, command) {
      if (command !== undefined) checkCommand(command, argv)
      if (what === 'writes' && !mayWrite) throw new UsageError(...lockedWords(mayUnlock))
      kind = what
      around.onKind(what)
    },
    describeStore: choice => described(choice, around),
    async openStore(choice) {
      opened = await openedFor(choice, around)
      return opened
    },
    openOther: address => openedFor({ store: address }, around),
    startSelf: () => refuse('processes are not started from here'),
    openLiveView: () => refuse('nothing is drawn in place here'),
    openDashboard: () => refuse('it runs already'),
    runCommand: () => refuse('one command at a time'),
    close: async () => {
      stdout.end()
      stderr.end()
    },
  }
}

function lockedWords(mayUnlock: boolean): ConstructorParameters<typeof UsageError> {
  if (!mayUnlock) return ['read-only: it was started so that nothing can be changed']
  return ['changes are locked', { hint: '! unlocks them; nothing was changed' }]
}

/** @throws UsageError for what has no place in the dashboard */
function checkCommand(command: string, argv: readonly string[]): void {
  const [name = ''] = command.split(' ')
  const why = Object.hasOwn(REFUSED, name) && command !== 'watchdog status' ? REFUSED[name] : undefined
  if (why !== undefined) throw new UsageError(`${name} does not run inside the dashboard: ${why}`)
  if (name === 'tail' && argv.some(word => word === '--follow' || /^-[qv]*f/.test(word)))
    throw new UsageError('tail -f never ends: it does not run inside the dashboard', {
      hint: 'enter opens a stream with what happens to it; 5 shows what happens to all',
    })
}

async function described(choice: StoreChoice, { runtime, opened }: Surroundings): Promise<Omit<OpenedStore, 'store'>> {
  if (!isNamed(choice)) return opened
  return runtime.describeStore(choice)
}

async function openedFor(choice: StoreChoice, around: Surroundings): Promise<OpenedStore> {
  const { runtime, opened, others } = around
  if (!isNamed(choice)) return opened
  const where = await runtime.describeStore(choice)
  if (where.address === opened.address) return { ...opened, ...where }
  const other = others.get(where.address) ?? (await runtime.openOther(where.address))
  others.set(where.address, other)
  return { ...other, ...where, isProtected: other.isProtected || where.isProtected }
}

function isNamed({ store, container, context }: StoreChoice): boolean {
  return (store ?? container ?? context) !== undefined
}

function refuse(message: string): never {
  throw new UsageError(message)
}
