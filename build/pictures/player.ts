import type { RuntimeStore } from '../../src/cli/runtime.ts'
import { programRuntime, runCommandLine } from '../../src/commands/main.ts'
import type { ProgramRuntime } from '../../src/commands/top/dashboard.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { openDashboard } from '../../src/tui/launch.ts'
import {
  type Cell,
  type EmulatedTerminal,
  openTerminal,
  type TerminalSize,
} from '../../test/unit/tui/support/terminal.ts'

const PATIENCE_MS = 10_000

/** The program with its store and its terminal in memory. */
export class Player {
  readonly #terminal: EmulatedTerminal
  readonly #quit = new AbortController()
  readonly #ended: Promise<number>

  /** @param argv arguments of the program, such as `top` */
  constructor(store: StreamStore, address: string, argv: readonly string[], size: TerminalSize) {
    this.#terminal = openTerminal(size)
    this.#ended = runCommandLine(runtimeOn(this.#terminal, store, address, argv, this.#quit.signal))
  }

  type(keys: string): void {
    this.#terminal.type(keys)
  }

  /** Waits until the screen shows the text. @throws if it does not, with the screen */
  async until(isShown: (rows: readonly string[]) => boolean): Promise<void> {
    const endMs = performance.now() + PATIENCE_MS
    for (;;) {
      const rows = await this.#terminal.screen()
      if (isShown(rows)) return
      if (performance.now() > endMs) throw new Error(`what was waited for did not come:\n${rows.join('\n')}`)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }

  cells(): Promise<Cell[][]> {
    return this.#terminal.cells()
  }

  async close(): Promise<void> {
    this.#quit.abort()
    await this.#ended
  }
}

/** The runtime of this process, except for the terminal, the store and the names of user and host. */
function runtimeOn(
  { stdin, stdout }: EmulatedTerminal,
  store: StreamStore,
  address: string,
  argv: readonly string[],
  signal: AbortSignal,
): ProgramRuntime {
  const opened: RuntimeStore = { store, address, source: 'flag', isProtected: false }
  const env = { TERM: 'xterm-256color', HOME: '/nonexistent' }
  let ids = 0
  return {
    ...programRuntime(signal),
    env,
    argv,
    startedAs: 'leasectl',
    host: 'ops-1',
    actor: 'eva@ops-1',
    kind: 'reads',
    opened,
    stdin: {
      isTty: true,
      canAsk: true,
      readAll: async () => '',
      readBytes: async () => new Uint8Array(),
      ask: async () => undefined,
    },
    stdout: { isTty: true, columns: stdout.columns, write: async () => {} },
    stderr: { isTty: true, columns: stdout.columns, write: async () => {} },
    nowMs: () => store.nowMs(),
    newId: () => `command-of-picture-${++ids}`,
    begin: () => {},
    openStore: async () => opened,
    openDashboard: options => openDashboard(options, { stdin, stdout, env, signal }),
    close: async () => {},
  }
}
