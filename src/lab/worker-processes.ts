import type { LineChannel } from '../process/line-process.ts'
import { LeasectlError } from '../stream/errors.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import type { WorkerLine } from './samples.ts'

/** What was told by a worker process, and how it ended. */
export interface Member {
  readonly name: string
  readonly told: readonly WorkerLine[]
  /** By the lab, in the middle of its work. */
  readonly killed: boolean
}

export interface TeamOptions {
  readonly size: number
  /** Starts a worker in a process of its own; `at` counts from 0, those that replace others included. */
  readonly start: (name: string, at: number) => Promise<LineChannel>
  readonly signal: AbortSignal
  /** Kills one of them now and then; without it nobody is killed. */
  readonly kills?: KillOptions
}

export interface KillOptions {
  /** From one to the next on average, ms. */
  readonly everyMs: number
  readonly random: () => number
}

/** How long a worker may take to stop when it is asked to, ms. */
const GRACE_MS = 3_000

/**
 * Starts worker processes, lets all of them begin at the same time once each is ready, and waits until all have ended.
 *
 * @throws what a worker failed with, or the signal's reason; all of them have ended then
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
    // Those that took the place of others.
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
  readonly told: WorkerLine[] = []
  /** Rejects, as `ended` does, when it fails. */
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
      else if (line !== undefined) this.told.push(line)
      if (line?.kind === 'done') onDone()
    }
    const ended = await this.talker.ended
    this.isOver = true
    if (ended.code !== 0 && !this.killed) throw WorkerFailed.of(this.name, ended)
  }
}

/** The last line of a process that was killed may be half a line. */
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

/** Until the signal aborts: somebody has found that everything is done. */
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

/** Those that still run are asked to stop, and killed if they do not. */
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

/** What a worker process of the lab told of why it failed: its code is that of the worker's own error. */
export class WorkerFailed extends LeasectlError {
  readonly code: string

  private constructor(code: string, message: string, hint: string | undefined) {
    super(message, hint === undefined ? {} : { hint })
    this.code = code
  }

  /**
   * The error of a worker that ended.
   *
   * @param ended its exit code, `null` for a signal, and what it wrote to stderr: an error as JSON in the last line
   */
  static of(name: string, { code, stderr }: { readonly code: number | null; readonly stderr: string }): Error {
    const told = toldIn(stderr.trimEnd().split('\n').at(-1) ?? '')
    if (told === undefined || told.code === 'unexpected')
      return new Error(`${name} ended with ${code ?? 'a signal'}: ${stderr.trim()}`)
    return new WorkerFailed(told.code, `${name}: ${told.message}`, told.hint ?? undefined)
  }
}

interface Told {
  readonly code: string
  readonly message: string
  readonly hint?: string | null
}

function toldIn(line: string): Told | undefined {
  try {
    const { error } = JSON.parse(line) as { readonly error?: Partial<Told> }
    const isWhole = typeof error?.code === 'string' && typeof error.message === 'string'
    return isWhole ? (error as Told) : undefined
  } catch {
    return undefined
  }
}
