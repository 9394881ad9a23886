import { appendFileSync, readFileSync } from 'node:fs'

/** The fields of a journal entry that the checker uses. */
export interface Entry {
  readonly version: number
  readonly id: string
}

/** The next request of a worker. */
export type Asked =
  /** `last`: repeated after everything has healed; its report is then final. */
  | { readonly what: 'change'; readonly id: string; readonly born: string; readonly last?: true }
  | { readonly what: 'read' }
  /** With the journal that was read, with the ETag that the removal names. `last` as for changes. */
  | {
      readonly what: 'remove'
      readonly born: string
      readonly journal: readonly Entry[]
      readonly etag: string
      readonly last?: true
    }

/** The report. */
export type Told =
  /** The change is applied, or the stream is removed (`version`: the one that was read). */
  | { readonly kind: 'done'; readonly version: number }
  /** Refused, held, missing or unreachable: nothing was applied. */
  | { readonly kind: 'not-made'; readonly why: string }
  | { readonly kind: 'unknown' }
  /** `id`: of the last change, by the stream's root. A missing stream has version 0. */
  | { readonly kind: 'seen'; readonly born: string; readonly version: number; readonly id: string }

/** A line of a history. `us`: microseconds of the monotonic clock, which all processes of a machine share. */
export type HistoryLine =
  | { readonly us: number; readonly call: string; readonly stream: string; readonly asked: Asked }
  | { readonly us: number; readonly call: string; readonly told: Told }

/** A call. Without `told` the process ended before the answer came. */
export interface Call {
  readonly stream: string
  readonly asked: Asked
  readonly fromUs: number
  readonly toUs?: number
  readonly told?: Told
}

/** Its outcome was never reported. */
export function isOpen({ told }: Call): boolean {
  return told === undefined || told.kind === 'unknown'
}

/** Writes a history, each line before the next step: the requests of a killed process are in it. */
export class HistoryWriter {
  readonly #write: (line: HistoryLine) => void
  readonly #who: string
  #calls = 0

  constructor(who: string, write: (line: HistoryLine) => void) {
    this.#who = who
    this.#write = write
  }

  static toFile(who: string, path: string): HistoryWriter {
    return new HistoryWriter(who, line => appendFileSync(path, `${JSON.stringify(line)}\n`))
  }

  /** Records a call before it is made; the function it returns records the answer. */
  ask(stream: string, asked: Asked): (told: Told) => void {
    const call = `${this.#who}:${++this.#calls}`
    this.#write({ us: nowUs(), call, stream, asked })
    return told => this.#write({ us: nowUs(), call, told })
  }
}

/** The lines of a file; the last one may be truncated if its process was killed. */
export function readHistory(path: string): HistoryLine[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  lines.pop()
  return lines.map(line => JSON.parse(line) as HistoryLine)
}

/** The calls of histories, in the order in which they were made within each of them. */
export function callsOf(lines: readonly HistoryLine[]): Call[] {
  const calls = new Map<string, Call>()
  for (const line of lines) {
    const { us, call } = line
    if ('asked' in line) calls.set(call, { stream: line.stream, asked: line.asked, fromUs: us })
    const asked = calls.get(call)
    if ('told' in line && asked !== undefined) calls.set(call, { ...asked, toUs: us, told: line.told })
  }
  return [...calls.values()]
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
