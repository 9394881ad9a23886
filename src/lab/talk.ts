import type { WorkerLine } from './samples.ts'

/** Another process of this program, which talks with this one in lines. */
export interface Talker {
  /** What it writes to stdout, line by line; ends when the process does. */
  readonly lines: AsyncIterable<string>
  /** Resolves when the process has ended, however. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
  /** A line to its standard input. */
  say(line: string): void
  /** Ends its standard input: it stops after what is under way. */
  hush(): void
  /** Ends it at once. */
  kill(): void
}

/** The worker's side. */
export interface TalkOptions {
  readonly heard: AsyncIterable<string>
  readonly write: (text: string) => Promise<void>
  /** Of the process: aborted by signals. */
  readonly signal: AbortSignal
}

/**
 * Tells that the worker is ready, waits for the word, works, and tells that it is done. When the one who started it goes
 * away, the work's signal aborts.
 */
export async function talk(
  { heard, write, signal }: TalkOptions,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const say = (line: WorkerLine) => write(`${JSON.stringify(line)}\n`)
  const lines = heard[Symbol.asyncIterator]()
  await say({ kind: 'ready' })
  if ((await lines.next()).done) return
  const gone = new AbortController()
  const listening = lines.next().then(
    () => gone.abort(),
    () => gone.abort(),
  )
  await work(AbortSignal.any([signal, gone.signal]))
  if (gone.signal.aborted) await listening
  await say({ kind: 'done' })
}

/** So long samples are kept back, ms: a line for each would cost more than what is measured. */
const GATHER_MS = 50

/** Writes samples in lines of several. `flush` writes what is left. */
export class SampleWriter<Sample> {
  readonly #write: (samples: readonly Sample[]) => Promise<void>
  #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(write: (samples: readonly Sample[]) => Promise<void>) {
    this.#write = write
  }

  add(sample: Sample): void {
    this.#samples.push(sample)
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS)
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const samples = this.#samples
    this.#samples = []
    if (samples.length > 0) await this.#write(samples)
  }
}
