import type { Ended, Running, User } from '../program.ts'
import { eventually } from './poll.ts'

/** A line of the log, as JSON. */
export interface LogLine {
  readonly kind: string
  readonly level: string
  readonly time: string
  readonly msg: string
  readonly [field: string]: unknown
}

/** Shards were taken or released. */
export interface Move {
  /** Epoch ms. */
  readonly atMs: number
  /** From then on. */
  readonly held: readonly number[]
  readonly taken: readonly number[]
}

/** `leasectl watchdog` of the built program, and its output. */
export class WatchdogProcess {
  readonly running: Running
  readonly #lines: LogLine[] = []
  #rest = ''
  #ended: Ended | undefined

  constructor(running: Running) {
    this.running = running
    running.process.stderr?.on('data', (text: string) => this.#take(text))
    void running.ended.then(ended => {
      this.#ended = ended
    })
  }

  get pid(): number {
    return this.running.process.pid ?? 0
  }

  /** Its log lines of this kind. */
  lines(kind: string): readonly LogLine[] {
    return this.#lines.filter(line => line.kind === kind)
  }

  /** The first matching line of this kind. @throws when it ended, or logged no such line in time */
  until(kind: string, fits: (line: LogLine) => boolean = () => true, withinMs?: number): Promise<LogLine> {
    const look = () => {
      const found = this.lines(kind).find(fits)
      if (found === undefined && this.#ended) throw new Error(`it ended: ${JSON.stringify(this.#ended)}`)
      return found
    }
    return eventually(
      `a line "${kind}" of ${this.running.said.stderr}`,
      look,
      withinMs === undefined ? {} : { withinMs },
    )
  }

  /** Its log lines on shards it took or released. */
  get moves(): readonly Move[] {
    return this.lines('shards').flatMap(({ time, held, taken }) =>
      isNumbers(held) && isNumbers(taken) ? [{ atMs: Date.parse(time), held, taken }] : [],
    )
  }

  /** The shards it reports as held; `undefined` without a report so far. */
  get held(): readonly number[] | undefined {
    return this.moves.at(-1)?.held
  }

  /** Stops it, and returns its result. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended & { readonly tookMs: number }> {
    const askedAt = performance.now()
    this.running.process.kill(signal)
    const ended = await this.running.ended
    return { ...ended, tookMs: performance.now() - askedAt }
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{')) this.#lines.push(JSON.parse(line))
  }
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(each => typeof each === 'number')
}

export function startWatchdog(
  user: User,
  store: string,
  flags: readonly string[],
  env?: Record<string, string>,
): WatchdogProcess {
  return new WatchdogProcess(user.start(['watchdog', ...flags, '--store', store], env))
}
