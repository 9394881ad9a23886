import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import { withoutSecrets } from '../../cli/error-problem.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Kind, Runtime, RuntimeStore, StoreChoice, Terminal } from '../../cli/runtime.ts'
import { countText } from '../../formats/terminal/numbers.ts'
import type { LineOutput } from '../../tui/ports.ts'
import { visibleText } from '../../util/visible-text.ts'
import { typedLine } from '../completion/line.ts'
import type { ProgramRuntime } from './dashboard.ts'

export interface LineOptions {
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
  readonly writing: Writing
  /** Receives the output of a line that was stopped while it made changes. */
  onStopped(lines: readonly string[]): void
}

/**
 * Runs command lines inside the dashboard. Each store that they name is opened once. Of several stores, `ls` and `check`
 * read all; other lines must name one.
 */
export class LineRunner {
  readonly #stores: readonly RuntimeStore[]
  readonly #options: LineOptions
  readonly #runtime: ProgramRuntime
  readonly #others = new Map<string, RuntimeStore>()

  constructor(stores: readonly RuntimeStore[], options: LineOptions, runtime: ProgramRuntime) {
    this.#stores = stores
    for (const store of stores) this.#others.set(store.address, store)
    this.#options = options
    this.#runtime = runtime
  }

  /** The words that can end a line, quoted as they are typed: of several stores the names of all. */
  async complete(line: string, signal: AbortSignal): Promise<readonly string[]> {
    const found = await Promise.all(this.#stores.map(store => this.#completeIn(store, line, signal)))
    return found.length === 1 ? found.flat() : [...new Set(found.flat())].sort()
  }

  async #completeIn(store: RuntimeStore, line: string, signal: AbortSignal): Promise<readonly string[]> {
    const lines = new CapturedLines(() => {})
    const argv = ['__complete', 'bash', '--', `leasectl ${line}`, '']
    const captured = capturedRuntime(argv, lines, {
      runtime: this.#runtime,
      stores: [store],
      others: this.#others,
      mayWrite: false,
      mayUnlock: false,
      isOwn: true,
      signal,
      onKind() {},
    })
    await this.#runtime.runCommand(captured)
    return candidatesIn(lines.end())
  }

  /** @param mayWrite `false` refuses a writing command before it starts */
  async run(line: string, mayWrite: boolean, signal: AbortSignal): Promise<LineOutput> {
    const typed = wordsOf(line)
    if (typeof typed === 'string') return { exit: 2, lines: [`error: ${typed}`] }
    const words = [...typed, ...contextsFor(typed, this.#stores)]
    const { mayUnlock, writing, onStopped } = this.#options
    let isWriting = false
    const stopping = new AbortController()
    const stop = () => stopping.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const lines = new CapturedLines(() => {
      // a reading command can stop here, a change cannot
      if (captured.kind === 'reads') stopping.abort('SIGINT')
    })
    const captured = capturedRuntime(words, lines, {
      runtime: this.#runtime,
      stores: this.#stores,
      others: this.#others,
      mayWrite,
      mayUnlock,
      signal: stopping.signal,
      onKind: kind => {
        if (kind === 'writes' && !isWriting) writing.begin()
        if (kind === 'reads' && isWriting) writing.end()
        isWriting = kind === 'writes'
      },
    })
    try {
      const exit = await this.#runtime.runCommand(captured)
      if (signal.aborted && captured.kind === 'writes') onStopped([`:${safeLine(line)} was stopped`, ...lines.end()])
      return { exit: lines.isFull && !signal.aborted ? 0 : exit, lines: lines.end() }
    } finally {
      captured.begin('reads')
      signal.removeEventListener('abort', stop)
    }
  }
}

/** The flag with which a command reads all of several stores, unless it names its own. */
function contextsFor(words: readonly string[], stores: readonly RuntimeStore[]): readonly string[] {
  const isNamed = words.some(word => /^(-c|--context|--store|--container)/.test(word))
  if (stores.length < 2 || isNamed || !READ_ALL.has(words[0] ?? '')) return []
  return ['-c', stores.flatMap(({ context }) => context ?? []).join(',')]
}

const READ_ALL: ReadonlySet<string> = new Set(['ls', 'list', 'check'])

/** The candidates of `__complete bash`, one a line after their kind. */
function candidatesIn([kind, ...words]: readonly string[]): readonly string[] {
  // the shell knows the files
  return kind === 'words' || kind === 'open' ? words : []
}

/** The words of a line as a shell splits it, without the program name; or an error message. */
function wordsOf(line: string): readonly string[] | string {
  // the splitter needs the program name; the trailing space ends the last word
  const { before, current, quote } = typedLine(`leasectl ${line.replaceAll(/\s/g, ' ')} `, 'bash')
  if (quote !== '') return `the quote ${quote} is not closed`
  const words = current === '' ? before : [...before, current.trimEnd()]
  const own = words[0] === 'npx' && words[1] === 'leasectl' ? 2 : words[0] === 'leasectl' ? 1 : 0
  return words.slice(own)
}

function safeLine(line: string): string {
  return visibleText(withoutSecrets(line))
}

export interface PromptContext {
  /** The runtime of the dashboard. */
  readonly runtime: ProgramRuntime
  /** The store of lines that name none; of several stores a line has to name one. */
  readonly stores: readonly RuntimeStore[]
  /** Other stores opened for lines, by address. */
  readonly others: Map<string, RuntimeStore>
  readonly mayWrite: boolean
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
  /** A command of the dashboard itself, which may be one that users cannot run. */
  readonly isOwn?: true
  readonly signal: AbortSignal
  /** Called when the command starts or stops being a writing one. */
  onKind(kind: Kind): void
}

/** Commands refused in the dashboard, with the reason: they need the terminal, start processes or never end. */
const REFUSED: Readonly<Record<string, string>> = {
  top: 'it is already running',
  exec: 'it starts a program that needs the terminal',
  work: 'it never ends',
  watchdog: 'it never ends; press 4 for its work, D for a dry run',
  demo: 'use demo --top',
  lab: 'it starts other processes',
  completion: 'it is for the shell',
  __complete: 'it is for the shell',
  '__quick-check': 'it is for doctor --deep',
}

/**
 * The runtime of a command inside the dashboard: its output is captured, it cannot ask, and it cannot draw in place. It uses
 * the store of the dashboard and leaves it open.
 */
function capturedRuntime(argv: readonly string[], lines: CapturedLines, around: PromptContext): ProgramRuntime {
  const { runtime, mayWrite, mayUnlock, isOwn, signal } = around
  const stdout = lines.terminal(runtime.stdout.columns)
  const stderr = lines.terminal(undefined)
  let kind: Kind = 'reads'
  let opened: RuntimeStore | undefined
  return {
    ...runtime,
    // lines as wide as the screen, without colours and redrawing
    env: { ...runtime.env, TERM: 'dumb', NO_COLOR: '1' },
    argv,
    stdout,
    stderr,
    stdin: {
      isTty: false,
      canAsk: false,
      readAll: async () => '',
      readBytes: async () => new Uint8Array(),
      ask: async () => undefined,
    },
    signal,
    get kind() {
      return kind
    },
    get opened() {
      return opened
    },
    begin(what, command) {
      if (command !== undefined && !isOwn) checkCommand(command, argv)
      if (what === 'writes' && !mayWrite) throw new UsageError(...lockedWords(mayUnlock))
      kind = what
      around.onKind(what)
    },
    describeStore: choice => described(choice, around),
    async openStore(choice) {
      opened = await openedFor(choice, around)
      return opened
    },
    openOther: choice => openedFor(typeof choice === 'string' ? { store: choice } : choice, around),
    startSelf: () => refuse('no processes start inside the dashboard'),
    openLiveView: () => refuse('nothing is redrawn inside the dashboard'),
    openDashboard: () => refuse('it is already running'),
    runCommand: () => refuse('one command at a time'),
    close: async () => {
      stdout.end()
      stderr.end()
    },
  }
}

function lockedWords(mayUnlock: boolean): ConstructorParameters<typeof UsageError> {
  if (!mayUnlock) return ['read-only: the dashboard was started with --read-only']
  return ['changes are locked', { hint: 'Press ! to unlock them; nothing was changed.' }]
}

/** @throws UsageError for a command that cannot run inside the dashboard */
function checkCommand(command: string, argv: readonly string[]): void {
  const [name = ''] = command.split(' ')
  const why = Object.hasOwn(REFUSED, name) && command !== 'watchdog status' ? REFUSED[name] : undefined
  if (why !== undefined) throw new UsageError(`${name} does not run inside the dashboard: ${why}`)
  if (name === 'tail' && argv.some(word => word === '--follow' || /^-[qv]*f/.test(word)))
    throw new UsageError('tail -f never ends: it does not run inside the dashboard', {
      hint: 'Press enter to follow a stream, 5 for the activity of all.',
    })
}

async function described(
  choice: StoreChoice,
  { runtime, stores }: PromptContext,
): Promise<Omit<RuntimeStore, 'store'>> {
  if (!isNamed(choice)) return onlyStore(stores)
  return runtime.describeStore(choice)
}

async function openedFor(choice: StoreChoice, around: PromptContext): Promise<RuntimeStore> {
  const { runtime, stores, others } = around
  if (!isNamed(choice)) return onlyStore(stores)
  const where = await runtime.describeStore(choice)
  const other = others.get(where.address) ?? (await runtime.openOther(where.address))
  others.set(where.address, other)
  return { ...other, ...where, isProtected: other.isProtected || where.isProtected }
}

/** @throws UsageError if there are several */
function onlyStore(stores: readonly RuntimeStore[]): RuntimeStore {
  const [only, ...others] = stores
  if (only !== undefined && others.length === 0) return only
  throw new UsageError('which store? The dashboard shows several', {
    hint: `Add ${stores.map(({ context }) => `-c ${context}`).join(' or ')}.`,
  })
}

function isNamed({ store, container, context }: StoreChoice): boolean {
  return (store ?? container ?? context) !== undefined
}

function refuse(message: string): never {
  throw new UsageError(message)
}

/** Limits of the captured output; nobody reads more in a dialog. */
const MAX_LINES = 2_000
const MAX_COLUMNS = 2_000

/** The output of a command as safe lines without colours, up to a limit. */
class CapturedLines {
  readonly #onFull: () => void
  readonly #lines: string[] = []
  #dropped = 0

  /** @param onFull called once, when the limit is reached */
  constructor(onFull: () => void) {
    this.#onFull = onFull
  }

  get isFull(): boolean {
    return this.#dropped > 0
  }

  /** An output stream. Its text gets separate lines. */
  terminal(columns: number | undefined): Terminal & { end(): void } {
    const decoder = new StringDecoder('utf8')
    let open = ''
    const add = (text: string) => {
      const lines = (open + text).split('\n')
      open = (lines.pop() ?? '').slice(0, MAX_COLUMNS)
      for (const line of lines) this.#add(line)
    }
    return {
      isTty: columns !== undefined,
      columns,
      write: async chunk => add(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk))),
      end: () => {
        if (open !== '') this.#add(open)
        open = ''
      },
    }
  }

  /** All lines; if some are missing, a last line says so. */
  end(): readonly string[] {
    if (this.#dropped === 0) return this.#lines
    return [...this.#lines, `… more than ${countText(MAX_LINES)} lines; the rest is left out`]
  }

  #add(line: string): void {
    if (this.#lines.length < MAX_LINES) {
      const plain = stripVTControlCharacters(line.slice(0, MAX_COLUMNS)).replace(/\r$/, '').replaceAll('\t', '  ')
      this.#lines.push(visibleText(plain))
      return
    }
    this.#dropped++
    if (this.#dropped === 1) this.#onFull()
  }
}

/**
 * Makes the program a writing one while anything in the dashboard writes. It then survives the loss of its terminal, and
 * opens stores only with known protection.
 */
export class Writing {
  readonly #runtime: Runtime
  #count = 0
  #before: Kind = 'reads'

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.begin()
    try {
      return await work()
    } finally {
      this.end()
    }
  }

  begin(): void {
    if (this.#count === 0) {
      this.#before = this.#runtime.kind
      this.#runtime.begin('writes')
    }
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#runtime.begin(this.#before)
  }
}
