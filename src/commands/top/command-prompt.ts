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
  /** Called with what a line has told that was stopped while it changed something. */
  onStopped(lines: readonly string[]): void
}

/** Runs lines of the program's own language for the dashboard; stores that they name are opened once. */
export class LineRunner {
  readonly #opened: RuntimeStore
  readonly #options: LineOptions
  readonly #runtime: ProgramRuntime
  readonly #others = new Map<string, RuntimeStore>()

  constructor(opened: RuntimeStore, options: LineOptions, runtime: ProgramRuntime) {
    this.#opened = opened
    this.#options = options
    this.#runtime = runtime
  }

  /** @param mayWrite `false` refuses whatever changes something before it does anything */
  async run(line: string, mayWrite: boolean, signal: AbortSignal): Promise<LineOutput> {
    const words = wordsOf(line)
    if (typeof words === 'string') return { exit: 2, lines: [`error: ${words}`] }
    const { mayUnlock, writing, onStopped } = this.#options
    let isWriting = false
    const ending = new AbortController()
    const stop = () => ending.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const lines = new CapturedLines(() => {
      // who only reads need not go on; a change does
      if (captured.kind === 'reads') ending.abort('SIGINT')
    })
    const captured = capturedRuntime(words, lines, {
      runtime: this.#runtime,
      opened: this.#opened,
      others: this.#others,
      mayWrite,
      mayUnlock,
      signal: ending.signal,
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

/** The words of a line as a shell splits it, without the program's name; or what is wrong with it. */
function wordsOf(line: string): readonly string[] | string {
  // the name in front is what the splitter looks for; the blank behind ends the last word
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
  /** The dashboard's own. */
  readonly runtime: ProgramRuntime
  /** The store that is meant where the line names none. */
  readonly opened: RuntimeStore
  /** Others that were opened for lines, by address. */
  readonly others: Map<string, RuntimeStore>
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
function capturedRuntime(argv: readonly string[], lines: CapturedLines, around: PromptContext): ProgramRuntime {
  const { runtime, mayWrite, mayUnlock, signal } = around
  const stdout = lines.terminal(runtime.stdout.columns)
  const stderr = lines.terminal(undefined)
  let kind: Kind = 'reads'
  let opened: RuntimeStore | undefined
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
  if (!mayUnlock) return ['read-only: changes are disabled']
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

async function described(
  choice: StoreChoice,
  { runtime, opened }: PromptContext,
): Promise<Omit<RuntimeStore, 'store'>> {
  if (!isNamed(choice)) return opened
  return runtime.describeStore(choice)
}

async function openedFor(choice: StoreChoice, around: PromptContext): Promise<RuntimeStore> {
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

/** What is beyond nobody reads in a dialog. */
const MOST_LINES = 2_000
const MOST_COLUMNS = 2_000

/** What a command writes, as safe lines without colours, up to a bound. */
class CapturedLines {
  readonly #onFull: () => void
  readonly #lines: string[] = []
  #dropped = 0

  /** @param onFull called once, when more comes than is kept */
  constructor(onFull: () => void) {
    this.#onFull = onFull
  }

  get isFull(): boolean {
    return this.#dropped > 0
  }

  /** A stream to write to. What is written to it stands in lines of its own. */
  terminal(columns: number | undefined): Terminal & { end(): void } {
    const decoder = new StringDecoder('utf8')
    let open = ''
    const add = (text: string) => {
      const lines = (open + text).split('\n')
      open = (lines.pop() ?? '').slice(0, MOST_COLUMNS)
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

  /** All lines, with a last one that tells how many are missing. */
  end(): readonly string[] {
    if (this.#dropped === 0) return this.#lines
    return [...this.#lines, `… more than ${countText(MOST_LINES)} lines; the rest is left out`]
  }

  #add(line: string): void {
    if (this.#lines.length < MOST_LINES) {
      const plain = stripVTControlCharacters(line.slice(0, MOST_COLUMNS)).replace(/\r$/, '').replaceAll('\t', '  ')
      this.#lines.push(visibleText(plain))
      return
    }
    this.#dropped++
    if (this.#dropped === 1) this.#onFull()
  }
}

/**
 * Makes the program one that writes for as long as anything in the dashboard does: where the terminal goes away it does not
 * end then, and a store is not opened without knowing whether it is protected.
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
