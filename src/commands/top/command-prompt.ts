import type { OpenedStore, Runtime } from '../../cli/runtime.ts'
import { withoutSecrets } from '../../cli/without-secrets.ts'
import { visibleText } from '../../stream/text.ts'
import type { LineOutput } from '../../tui/ports.ts'
import { typedLine } from '../completion/line.ts'
import { CapturedLines } from './captured-lines.ts'
import { capturedRuntime } from './captured-runtime.ts'
import type { Writing } from './writing.ts'

export interface LineOptions {
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
  readonly writing: Writing
  /** Called with what a line has told that was stopped while it changed something. */
  onStopped(lines: readonly string[]): void
}

/** Runs lines of the program's own language for the dashboard; stores that they name are opened once. */
export class LineRunner {
  readonly #opened: OpenedStore
  readonly #options: LineOptions
  readonly #runtime: Runtime
  readonly #others = new Map<string, OpenedStore>()

  constructor(opened: OpenedStore, options: LineOptions, runtime: Runtime) {
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
