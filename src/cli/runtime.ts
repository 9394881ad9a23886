import type { LineChannel } from '../process/line-process.ts'
import type { StreamStore } from '../store/store.ts'

/** A stream to write to. */
export interface Terminal {
  readonly isTty: boolean
  /** Columns of the terminal, `undefined` if it is none. */
  readonly columns: number | undefined
  /** Resolves when more may be written: a slow reader slows the writer down. */
  write(chunk: string | Uint8Array): Promise<void>
}

export interface Input {
  readonly isTty: boolean
  /** Everything up to the end of input. */
  readAll(): Promise<string>
  /** Asks on stderr. `undefined` when the input ended or was interrupted. */
  ask(question: string): Promise<string | undefined>
}

/** This program once more, in a process of its own. */
export interface OtherProcess {
  /** What it wrote to stdout. Rejects when it ends with another code than 0, with what it wrote to stderr. */
  readonly stdout: Promise<string>
  stop(): void
}

/**
 * Where the address of the opened store came from. `context`: named with `-c`, or by `LEASECTL_CONTEXT`; `current`: the
 * current context.
 */
export type StoreSource = 'flag' | 'context' | 'environment' | 'current' | 'azure' | 'default'

export interface RuntimeStore {
  readonly store: StreamStore
  /** As `--store` takes it. */
  readonly address: string
  readonly source: StoreSource
  /** A protected context has this address: changes that need no confirmation elsewhere need one here. */
  readonly isProtected: boolean
  /** Name of the context that it came from. */
  readonly context?: string
  /** File with what signs the requests, as the context has it. */
  readonly credentialFile?: string
}

export interface OpenOptions {
  /** `false`: throws `NotPermitted` instead of asking Entra ID who is there, which may take seconds or a person. */
  readonly signIn?: boolean
}

export interface StoreChoice {
  readonly store?: string
  readonly container?: string
  /** Name of a context, `-c`. */
  readonly context?: string
}

/** Whether a command may change streams: decides what happens when the reader of stdout goes away. */
export type Kind = 'reads' | 'writes'

/** A few lines at the bottom of the terminal that are drawn again in place. */
export interface LiveView {
  /** How many lines fit on the screen now; it changes with the terminal. */
  readonly height: number
  /** Lines for the screen, already fitted to its width; those that exceed its height are cut from the top's end. */
  draw(lines: readonly string[]): void
  /** Removes the lines; what is printed next starts where they stood. */
  close(): Promise<void>
}

/** What a command reads and where it writes. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Arguments after the program's name. */
  readonly argv: readonly string[]
  readonly stdout: Terminal
  readonly stderr: Terminal
  readonly stdin: Input
  /** How the program was started: `leasectl`, or `npx leasectl`. Printed commands begin so. */
  readonly startedAs: string
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  readFile(path: string): Promise<Uint8Array>
  /** Lines of standard input as they come. */
  hearLines(): AsyncIterable<string>
  /** Lines drawn in place on the terminal that stdout is. */
  openLiveView(): Promise<LiveView>
}

/** Who and when: what a change is signed with. */
export interface Identity {
  readonly host: string
  readonly pid: number
  /** `user@host`: the default of `--by`. */
  readonly actor: string
  nowMs(): number
  /** A fresh UUIDv7. */
  newId(): string
}

/** Which store a command uses. */
export interface StoreOpener {
  /** The store the command uses, once it was opened. */
  readonly opened: RuntimeStore | undefined
  openStore(choice: StoreChoice, options?: OpenOptions): Promise<RuntimeStore>
  /** A second store, to copy from or to. `opened` stays the first one. */
  openOther(address: string): Promise<RuntimeStore>
  /** Where streams are without opening it. */
  describeStore(choice: StoreChoice): Promise<Omit<RuntimeStore, 'store'>>
  /** The embedded store, whatever store the environment names. */
  embeddedAddress(): Promise<string>
  /** Lets go of the store. */
  close(): Promise<void>
}

/** Other processes of this machine. */
export interface Processes {
  /** Whether a process of this machine has this id. */
  isRunning(pid: number): boolean
  /** Starts this program with other arguments. */
  startSelf(argv: readonly string[]): OtherProcess
  /** The same, to talk with it in lines. */
  startTalking(argv: readonly string[]): Promise<LineChannel>
}

/**
 * Everything of the surrounding process that a command may use. Nothing else reads the environment, arguments,
 * standard input or the clock, so tests hand in their own. What the dashboard needs beyond it is in `commands/top/dashboard.ts`.
 */
export interface Runtime extends Io, Identity, StoreOpener, Processes {
  /** Set by `begin`. */
  readonly kind: Kind
  /** Called first by every command, with the words that name it: `lease break`. */
  begin(kind: Kind, command?: string): void
}
