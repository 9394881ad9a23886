import type { LineChannel } from '../process/line-process.ts'
import { LeasectlError } from '../stream/errors.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import type { WorkerLine } from './samples.ts'

/** The output of a worker process, and how it ended. */
export interface FinishedWorker {
  readonly name: string
  readonly output: readonly WorkerLine[]
  /** Killed by the lab during its work. */
  readonly killed: boolean
}

export interface WorkerProcessesOptions {
  readonly size: number
  /** Starts a worker in its own process; `at` counts from 0, replacements included. */
  readonly start: (name: string, at: number) => Promise<LineChannel>
  readonly signal: AbortSignal
  /** Kills a worker now and then; `undefined` kills none. */
  readonly kills?: KillOptions
}

export interface KillOptions {
  /** Average time between kills, ms. */
  readonly everyMs: number
  readonly random: () => number
}

/** Time for a worker to stop before it is killed, ms. */
const GRACE_MS = 3_000

/**
 * Starts worker processes, lets them begin at the same time once all are ready, and waits until all have ended.
 *
 * @throws the error of a worker, or the signal's reason; by then all workers have ended
 */
export async function runWorkerProcesses(options: WorkerProcessesOptions): Promise<readonly FinishedWorker[]> {
  const { signal, size } = options
  const workers: Running[] = []
  const over = new AbortController()
  const startWorker = async () => {
    const name = `worker-${workers.length + 1}`
    const worker = new Running(name, await options.start(name, workers.length), () => over.abort())
    workers.push(worker)
    return worker
  }
  const stop = () => {
    for (const { channel } of workers) channel.hush()
  }
  signal.addEventListener('abort', stop)
  try {
    for (let at = 0; at < size && !signal.aborted; at++) await startWorker()
    await Promise.all(workers.map(({ ready }) => ready))
    for (const { channel } of workers) channel.say('go')
    await Promise.all([
      killing(workers, startWorker, options.kills, AbortSignal.any([signal, over.signal])),
      ...endsOf(workers),
    ])
    // Replacements started by `killing` are now in the list too.
    await Promise.all(endsOf(workers))
    signal.throwIfAborted()
    return workers
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    await stopAll(workers)
  }
}

class Running implements FinishedWorker {
  readonly name: string
  readonly channel: LineChannel
  readonly output: WorkerLine[] = []
  /** Rejects when the process fails, as `ended` does. */
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  killed = false
  isOver = false

  constructor(name: string, channel: LineChannel, onDone: () => void) {
    const ready = Promise.withResolvers<void>()
    this.name = name
    this.channel = channel
    this.ready = ready.promise
    this.ended = this.#listen(ready.resolve, onDone)
    this.ended.then(ready.resolve, ready.reject)
    for (const promise of [this.ready, this.ended]) promise.catch(() => undefined)
  }

  async #listen(onReady: () => void, onDone: () => void): Promise<void> {
    for await (const text of this.channel.lines) {
      const line = parsed(text)
      if (line?.kind === 'ready') onReady()
      else if (line !== undefined) this.output.push(line)
      if (line?.kind === 'done') onDone()
    }
    const ended = await this.channel.ended
    this.isOver = true
    if (ended.code !== 0 && !this.killed) throw WorkerFailed.of(this.name, ended)
  }
}

/** The last line of a killed process may be incomplete. */
function parsed(text: string): WorkerLine | undefined {
  try {
    return JSON.parse(text) as WorkerLine
  } catch {
    return undefined
  }
}

function endsOf(workers: readonly Running[]): Promise<void>[] {
  return workers.map(({ ended }) => ended)
}

/** Kills and replaces workers until the signal aborts, which means that a worker found the stream done. */
async function killing(
  workers: readonly Running[],
  startWorker: () => Promise<Running>,
  kills: KillOptions | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (kills !== undefined) {
    await sleepUntilAborted(kills.everyMs * (0.5 + kills.random()), signal)
    const alive = workers.filter(({ isOver, killed }) => !isOver && !killed)
    const victim = alive[Math.floor(kills.random() * alive.length)]
    if (signal.aborted || victim === undefined) return
    victim.killed = true
    victim.channel.kill()
    const worker = await startWorker()
    await worker.ready
    worker.channel.say('go')
  }
}

/** Asks running workers to stop, and kills them after the grace period. */
async function stopAll(workers: readonly Running[]): Promise<void> {
  const left = workers.filter(({ isOver }) => !isOver)
  for (const { channel } of left) channel.hush()
  const timer = setTimeout(() => {
    for (const { channel } of left) channel.kill()
  }, GRACE_MS)
  await Promise.allSettled(endsOf(workers))
  clearTimeout(timer)
}

/** The worker's side. */
export interface ParentChannel {
  readonly heard: AsyncIterable<string>
  readonly write: (text: string) => Promise<void>
  /** Aborted by signals to the process. */
  readonly signal: AbortSignal
}

/**
 * Runs the worker's side: reports that it is ready, waits for the start, works, and reports that it is done. If the
 * parent goes away, the signal of the work aborts.
 */
export async function runAsWorker(
  { heard, write, signal }: ParentChannel,
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

/** Time to collect samples, ms: writing a line for each would cost more than the measured work. */
const GATHER_MS = 50

/** Writes samples in batches. `flush` writes the rest. */
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

/** The failure of a worker process, with the code of the worker's own error. */
export class WorkerFailed extends LeasectlError {
  readonly code: string

  private constructor(code: string, message: string, hint: string | undefined) {
    super(message, hint === undefined ? {} : { hint })
    this.code = code
  }

  /**
   * The error for a worker that ended with a failure.
   *
   * @param ended its exit code, `null` for a signal, and its stderr, with an error as JSON in the last line
   */
  static of(name: string, { code, stderr }: { readonly code: number | null; readonly stderr: string }): Error {
    const reported = errorIn(stderr.trimEnd().split('\n').at(-1) ?? '')
    if (reported === undefined || reported.code === 'unexpected')
      return new Error(`${name} ended with ${code ?? 'a signal'}: ${stderr.trim()}`)
    return new WorkerFailed(reported.code, `${name}: ${reported.message}`, reported.hint ?? undefined)
  }
}

interface ReportedError {
  readonly code: string
  readonly message: string
  readonly hint?: string | null
}

function errorIn(line: string): ReportedError | undefined {
  try {
    const { error } = JSON.parse(line) as { readonly error?: Partial<ReportedError> }
    const isWhole = typeof error?.code === 'string' && typeof error.message === 'string'
    return isWhole ? (error as ReportedError) : undefined
  } catch {
    return undefined
  }
}
