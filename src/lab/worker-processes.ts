import type { LineChannel } from '../process/line-process.ts'
import { LeasectlError } from '../stream/errors.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import type { WorkerLine } from './samples.ts'

/** The output of a worker process, and how it ended. */
export interface Member {
  readonly name: string
  readonly output: readonly WorkerLine[]
  /** Killed by the lab during its work. */
  readonly killed: boolean
}

export interface TeamOptions {
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
export async function runTeam(options: TeamOptions): Promise<readonly Member[]> {
  const { signal, size } = options
  const team: Running[] = []
  const over = new AbortController()
  const hire = async () => {
    const name = `worker-${team.length + 1}`
    const member = new Running(name, await options.start(name, team.length), () => over.abort())
    team.push(member)
    return member
  }
  const stop = () => {
    for (const { talker } of team) talker.hush()
  }
  signal.addEventListener('abort', stop)
  try {
    for (let at = 0; at < size && !signal.aborted; at++) await hire()
    await Promise.all(team.map(({ ready }) => ready))
    for (const { talker } of team) talker.say('go')
    await Promise.all([killing(team, hire, options.kills, AbortSignal.any([signal, over.signal])), ...endsOf(team)])
    // Replacements started by `killing` are now in the list too.
    await Promise.all(endsOf(team))
    signal.throwIfAborted()
    return team
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    await disband(team)
  }
}

class Running implements Member {
  readonly name: string
  readonly talker: LineChannel
  readonly output: WorkerLine[] = []
  /** Rejects when the process fails, as `ended` does. */
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  killed = false
  isOver = false

  constructor(name: string, talker: LineChannel, onDone: () => void) {
    const ready = Promise.withResolvers<void>()
    this.name = name
    this.talker = talker
    this.ready = ready.promise
    this.ended = this.#listen(ready.resolve, onDone)
    this.ended.then(ready.resolve, ready.reject)
    for (const promise of [this.ready, this.ended]) promise.catch(() => undefined)
  }

  async #listen(onReady: () => void, onDone: () => void): Promise<void> {
    for await (const text of this.talker.lines) {
      const line = parsed(text)
      if (line?.kind === 'ready') onReady()
      else if (line !== undefined) this.output.push(line)
      if (line?.kind === 'done') onDone()
    }
    const ended = await this.talker.ended
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

function endsOf(team: readonly Running[]): Promise<void>[] {
  return team.map(({ ended }) => ended)
}

/** Kills and replaces workers until the signal aborts, which means that a worker found the stream done. */
async function killing(
  team: readonly Running[],
  hire: () => Promise<Running>,
  kills: KillOptions | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (kills !== undefined) {
    await sleepUntilAborted(kills.everyMs * (0.5 + kills.random()), signal)
    const alive = team.filter(({ isOver, killed }) => !isOver && !killed)
    const victim = alive[Math.floor(kills.random() * alive.length)]
    if (signal.aborted || victim === undefined) return
    victim.killed = true
    victim.talker.kill()
    const member = await hire()
    await member.ready
    member.talker.say('go')
  }
}

/** Asks running workers to stop, and kills them after the grace period. */
async function disband(team: readonly Running[]): Promise<void> {
  const left = team.filter(({ isOver }) => !isOver)
  for (const { talker } of left) talker.hush()
  const timer = setTimeout(() => {
    for (const { talker } of left) talker.kill()
  }, GRACE_MS)
  await Promise.allSettled(endsOf(team))
  clearTimeout(timer)
}

/** The worker's side. */
export interface TalkOptions {
  readonly heard: AsyncIterable<string>
  readonly write: (text: string) => Promise<void>
  /** Aborted by signals to the process. */
  readonly signal: AbortSignal
}

/**
 * Runs the worker's side: reports that it is ready, waits for the start, works, and reports that it is done. If the
 * parent goes away, the signal of the work aborts.
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
