import type { LineChannel } from '../process/line-process.ts'
import type { StreamStore } from '../store/store.ts'

/** An output stream. */
export interface Terminal {
  readonly isTty: boolean
  /** Columns of the terminal; `undefined` if the stream is not a terminal. */
  readonly columns: number | undefined
  /** Resolves when more can be written, so that a slow reader slows the writer down. */
  write(chunk: string | Uint8Array): Promise<void>
}

export interface Input {
  readonly isTty: boolean
  /** The user can be asked: this input, or the terminal of the process, is there to answer. */
  readonly canAsk: boolean
  /** Reads everything up to the end of input, or a little more than 32 MiB. */
  readAll(): Promise<string>
  /** As `readAll`, undecoded. */
  readBytes(): Promise<Uint8Array>
  /** Asks on stderr and reads the terminal, even if this input is a pipe. `undefined` if the input ended or was interrupted. */
  ask(question: string): Promise<string | undefined>
}

/** This program in a child process. */
export interface OtherProcess {
  /** The whole stdout. Rejects with the stderr if the exit code is not 0. */
  readonly stdout: Promise<string>
  stop(): void
}

/**
 * Where the address of the opened store comes from. `context`: `-c` or `LEASECTL_CONTEXT`; `current`: the current
 * context.
 */
export type StoreSource = 'flag' | 'context' | 'environment' | 'current' | 'azure' | 'default'

export interface RuntimeStore {
  readonly store: StreamStore
  /** In the form of `--store`. */
  readonly address: string
  readonly source: StoreSource
  /** A protected context has this address: more changes need a confirmation. */
  readonly isProtected: boolean
  /** Its context is for reading only: `store` refuses every change. */
  readonly isReadOnly?: boolean
  /** Name of the context that named the store. */
  readonly context?: string
  /** File with the credentials, from the context. */
  readonly credentialFile?: string
}

export interface OpenOptions {
  /** `false`: throws `NotPermitted` instead of signing in with Entra ID, which can take seconds or need a user. */
  readonly signIn?: boolean
}

export interface StoreChoice {
  readonly store?: string
  readonly container?: string
  /** Name of a context, and the flag that names it: `-c` unless given. */
  readonly context?: string
  readonly contextFlag?: string
}

/** Whether a command can change streams. Decides, for example, how a closed stdout is handled. */
export type Kind = 'reads' | 'writes'

/** Some lines at the bottom of the terminal that are redrawn in place. */
export interface LiveView {
  /** Number of lines that fit on the screen now; it changes with the terminal. */
  readonly height: number
  /** Draws lines, already fitted to the width of the screen. Lines beyond its height are cut. */
  draw(lines: readonly string[]): void
  /** Removes the lines; later output starts in their place. */
  close(): Promise<void>
}

/** Input and output of a command. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Arguments after the program's name. */
  readonly argv: readonly string[]
  readonly stdout: Terminal
  readonly stderr: Terminal
  readonly stdin: Input
  /** How the program was started: `leasectl` or `npx leasectl`. Printed commands begin with it. */
  readonly startedAs: string
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  readFile(path: string): Promise<Uint8Array>
  /** The bytes of a file from a place on, or of standard input without a path. Throws once the signal aborts. */
  readBytes(path: string | undefined, fromByte?: number): AsyncIterable<Uint8Array>
  /** Lines of standard input as they arrive. */
  readLines(): AsyncIterable<string>
  /** Opens lines that are redrawn in place on stdout, which must be a terminal. */
  openLiveView(): Promise<LiveView>
}

/** Who makes a change, and when. */
export interface Identity {
  readonly host: string
  readonly pid: number
  /** `user@host`: the default of `--by`. */
  readonly actor: string
  nowMs(): number
  /** A new UUIDv7. */
  newId(): string
}

/** Opens the store of a command. */
export interface StoreOpener {
  /** The store of the command, once opened. */
  readonly opened: RuntimeStore | undefined
  openStore(choice: StoreChoice, options?: OpenOptions): Promise<RuntimeStore>
  /** Opens another store, to copy from or to, or to list it too. `opened` stays as it is. */
  openOther(choice: string | StoreChoice): Promise<RuntimeStore>
  /** The address of a store and its source, without opening it. */
  describeStore(choice: StoreChoice): Promise<Omit<RuntimeStore, 'store'>>
  /** Address of the embedded store, whatever store the environment names. */
  embeddedAddress(): Promise<string>
  /** Closes all stores. */
  close(): Promise<void>
}

/** Other processes on this machine. */
export interface Processes {
  /** Whether a process on this machine has this id. */
  isRunning(pid: number): boolean
  /** Starts this program with other arguments. */
  startSelf(argv: readonly string[]): OtherProcess
  /** Starts this program with other arguments, with a line channel to it. */
  startLineProcess(argv: readonly string[]): Promise<LineChannel>
}

/**
 * Everything of the process that a command may use. No other code reads the environment, arguments, standard input or
 * the clock, so tests pass their own. The dashboard needs more: see `commands/top/dashboard.ts`.
 */
export interface Runtime extends Io, Identity, StoreOpener, Processes {
  /** Set by `begin`. */
  readonly kind: Kind
  /** Every command calls this first, with the words that name it: `lease break`. */
  begin(kind: Kind, command?: string): void
}
